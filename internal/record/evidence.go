package record

import (
	"slices"

	"protocolbench/internal/driver"
	"protocolbench/internal/measure"
)

// Times of evidence.
const (
	WhenOpen  = "open"
	WhenClose = "close"
)

// Evidence is every raw counter at one end of a block's bracket. Tier 0 blocks have the worker's part only.
type Evidence struct {
	Kind string `json:"kind"`
	Where
	When   string          `json:"when"`
	Worker driver.Snapshot `json:"worker"`
	// OutsideCPUNs: the worker's CPU clock read by the parent at the snapshot; -1 none.
	OutsideCPUNs int64 `json:"outsideCpuNs"`
	// Baseline is the same of the baseline's worker, in a run of two builds.
	Baseline *WorkerEvidence `json:"baseline,omitempty" since:"2"`
	Broker   *BrokerEvidence `json:"broker,omitempty"`
	// WaitedNs is how long the parent waited for wire and broker counts to agree.
	WaitedNs int64 `json:"waitedNs"`
	// Unsettled: they didn't, and the parent went on.
	Unsettled bool `json:"unsettled,omitempty" since:"3"`
}

// CellSnapshots are the wire counts of all clients of the block, of both builds where there are two.
func (e *Evidence) CellSnapshots() []driver.CellSnapshot {
	if e.Baseline == nil {
		return e.Worker.Cells
	}
	return slices.Concat(e.Worker.Cells, e.Baseline.Worker.Cells)
}

// WorkerEvidence is what a worker says, and the parent's view of its clock.
type WorkerEvidence struct {
	Worker       driver.Snapshot `json:"worker"`
	OutsideCPUNs int64           `json:"outsideCpuNs"` // -1: none
}

// BrokerEvidence is what the broker says: JMX, and offsets by Kafka's own protocol.
type BrokerEvidence struct {
	// RequestsByVersion: RequestsPerSec of the block's API by version ("FetchConsumer", "Produce"); empty where the broker has no version tag.
	RequestsByVersion map[int]measure.Counter `json:"requestsByVersion,omitempty"`
	// RequestsListed is false when the listing itself could not be read (then an absent version is not zero).
	RequestsListed          bool            `json:"requestsListed"`
	Requests                measure.Counter `json:"requests"`                // all versions together
	ProduceConversions      measure.Counter `json:"produceConversions"`      // all topics
	FetchConversions        measure.Counter `json:"fetchConversions"`        // all topics
	TopicProduceConversions measure.Counter `json:"topicProduceConversions"` // the block's topic
	TopicFetchConversions   measure.Counter `json:"topicFetchConversions"`
	// LogStartOffset and LogEndOffset of partition 0 of the block's topic, by ListOffsets; -1 with OffsetsWhy.
	LogStartOffset int64     `json:"logStartOffset"`
	LogEndOffset   int64     `json:"logEndOffset"`
	OffsetsWhy     string    `json:"offsetsWhy,omitempty"`
	ReadBack       *ReadBack `json:"readBack,omitempty"` // Produce, at close
	Release        string    `json:"release"`
	Commit         string    `json:"commit"`
	ClusterID      string    `json:"clusterId"`
	StartTimeMs    int64     `json:"startTimeMs"`
	IdentityWhy    string    `json:"identityWhy,omitempty"` // why identity could not be read
	// Leader is the broker whose counters and identity these are, in a cluster of several: the leader of the topic's partition.
	Leader *int `json:"leader,omitempty" since:"3"`
}

// ReadBack is one request's worth of stored records read from a Produce topic by the orchestrator.
type ReadBack struct {
	Records      int    `json:"records"`
	Hash         uint64 `json:"hash,string"`
	ExpectedHash uint64 `json:"expectedHash,string"`
	Why          string `json:"why,omitempty"` // why it could not be read
	// Batches, StoredBytes and Codecs are of the record batches as they lie in the log, before anything is decompressed: how many, how long with their
	// heads, and which compressions the heads name, in the order of their numbers.
	Batches     int      `json:"batches,omitempty" since:"4"`
	StoredBytes int64    `json:"storedBytes,omitempty" since:"4"`
	Codecs      []string `json:"codecs,omitempty" since:"4"`
}
