// Package record is the result file: JSON lines, one row a line, each with a "kind". It is written as things are measured, and
// everything that is judged or shown is made from it alone. FORMAT.md describes the rows.
package record

import (
	"time"

	"protocolbench/internal/driver"
	"protocolbench/internal/shape"
)

// Schema is the number of the current row layout. A number is never reused. Schema 2 has the build of the client, and the rows of a run
// of two builds, schema 3 second looks and planted slowdowns, schema 4 the reasons of what is left out, and what a client keeps; what they added is tagged `since`.
const (
	Schema       = 4
	oldestSchema = 1
)

// Kinds of rows.
const (
	KindHeader   = "header"
	KindBroker   = "broker"
	KindPlan     = "plan"
	KindScope    = "scope"
	KindControl  = "control"
	KindFamily   = "family"
	KindBlock    = "block"
	KindCell     = "cell"
	KindBatch    = "batch"
	KindSteady   = "steady"
	KindEvidence = "evidence"
	KindFault    = "fault"
	KindHost     = "host"
	KindLook     = "look"
	KindRound    = "round"
	KindProfile  = "profile"
	KindTrailer  = "trailer"
)

// Header is the first row.
type Header struct {
	Kind    string    `json:"kind"`
	Schema  int       `json:"schema"`
	Tool    string    `json:"tool"` // revision of protocolbench, or "unknown"
	Command []string  `json:"command"`
	Replay  string    `json:"replay"` // the command that repeats the run
	Seed    uint64    `json:"seed,string"`
	Profile string    `json:"profile"`
	Tiers   []int     `json:"tiers"`
	Started time.Time `json:"started"`
	// BaseTimestampMs is "now", taken once: what all record timestamps of the run are counted from.
	BaseTimestampMs int64        `json:"baseTimestampMs"`
	Client          driver.Hello `json:"client"`
	Machine         Machine      `json:"machine"`
	Budget          Budget       `json:"budget"`
	// Margin is the user's --margin, 0 where each family declares its own.
	Margin float64 `json:"margin,omitempty"`
	// ClientBuild is what was built of the client, or built in. A run of two builds has the baseline's hello and build, too: Client is the candidate then.
	ClientBuild   *Build        `json:"clientBuild,omitempty" since:"2"`
	Baseline      *driver.Hello `json:"baseline,omitempty" since:"2"`
	BaselineBuild *Build        `json:"baselineBuild,omitempty" since:"2"`
	// SharedHost: the run had a lock file of its own, so others may have run beside it, and nobody looked at what else the host did.
	SharedHost bool `json:"sharedHost,omitempty" since:"3"`
	// Plants are the slowdowns that were asked for with --plant: a run with one proves something about this program, and nothing about the client.
	Plants []string `json:"plants,omitempty" since:"3"`
	// Controls are the negative controls that this build takes on every live broker. A guard asks for those that are listed here, so that records of
	// earlier builds, which had none, keep their verdicts.
	Controls []string `json:"controls,omitempty" since:"3"`
	// AnyBroker: the user's --any-broker. A broker of another kind than its tier is for was not refused.
	AnyBroker bool `json:"anyBroker,omitempty" since:"3"`
	// NotCovered is what the program has families for and the run was not asked to measure.
	NotCovered []Unmeasured `json:"notCovered,omitempty" since:"4"`
}

// Unmeasured are families of one axis that a run leaves out, by the smallest profile that measures them.
type Unmeasured struct {
	Name     string   `json:"name"` // that --only takes: tier1/fetch/size
	Profile  string   `json:"profile"`
	Sizes    []string `json:"sizes,omitempty"` // of them, where they have any
	Families int      `json:"families"`
}

// Build is one build of a client: its identity, whatever it is called and wherever it lies.
type Build struct {
	Spec    string `json:"spec"`    // as it was asked for: franz-go, franz-go@v1.20.0, franz-go=DIR
	Version string `json:"version"` // of the client module; a checkout has "checkout-" and the begin of its source's hash
	// Revision is what git says of a checkout, "" where it says nothing.
	Revision string `json:"revision,omitempty"`
	// ContentHash is the SHA-256 of everything that went into the worker but the layout number: sources, modules, toolchain, flags. For the
	// built-in client it is that of this program's executable.
	ContentHash string   `json:"contentHash"`
	GoVersion   string   `json:"goVersion"`
	Flags       string   `json:"flags"`   // of `go build`, with the environment that matters
	Modules     []Module `json:"modules"` // the client's module, its kmsg and what they need
}

// Module is one module of a build.
type Module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	// Sum is Go's h1 sum of the module; of a checkout that of the files that were taken from it.
	Sum string `json:"sum"`
}

// Machine is what the run ran on.
type Machine struct {
	OS          string   `json:"os"`
	Arch        string   `json:"arch"`
	Kernel      string   `json:"kernel"`
	CPUModel    string   `json:"cpuModel"`
	CPUs        int      `json:"cpus"`
	MemoryBytes uint64   `json:"memoryBytes"`
	GoVersion   string   `json:"goVersion"`
	WorkerCPUs  []int    `json:"workerCpus"` // empty: not pinned
	BrokerCPUs  []int    `json:"brokerCpus"`
	Missing     []string `json:"missing,omitempty"` // facilities this platform lacks, in words
	// Siblings share a core with the worker's CPUs, which are among them. Absent: the platform doesn't say.
	Siblings []int `json:"siblings,omitempty" since:"3"`
}

// Budget is the schedule that was asked for.
type Budget struct {
	Draws         int     `json:"draws"`
	Forks         int     `json:"forks"`   // per draw
	Squares       float64 `json:"squares"` // Williams squares per fork: 0.5 quick, 1 standard
	BatchTargetNs int64   `json:"batchTargetNs"`
	// Looks is how many looks a family may get: 2 where a second one is taken at what the first leaves undecided. Absent: 1.
	Looks int `json:"looks,omitempty" since:"3"`
	// LimitNs is the time that the profile may take with its second looks.
	LimitNs int64 `json:"limitNs,omitempty" since:"3"`
}

// Broker is a running broker, as it was when it became ready.
type Broker struct {
	Kind        string   `json:"kind"`
	Tier        int      `json:"tier"`
	Provider    string   `json:"provider"` // jvm, attached, embedded
	Release     string   `json:"release"`
	Commit      string   `json:"commit"`
	ClusterID   string   `json:"clusterId"`
	Addresses   []string `json:"addresses"`
	JolokiaURL  string   `json:"jolokiaUrl"`
	PID         int      `json:"pid"`
	StartTimeMs int64    `json:"startTimeMs"` // the JVM's own start time, by JMX
	ReadyNs     int64    `json:"readyNs"`     // from start to ready
	Java        string   `json:"java,omitempty"`
	// VersionTags: the broker's request counters carry the version (2.0 and later).
	VersionTags bool `json:"versionTags"`
	// FetchConverts: this release can down-convert on fetch (below 4.0).
	FetchConverts bool `json:"fetchConverts"`
	// Nodes are the brokers of an attached cluster of several, each with its own agent; the fields above are those of the first then. Which one's counters a block's
	// evidence has says its leader.
	Nodes []Node `json:"nodes,omitempty" since:"3"`
	// Asked is the release that tier 2 was to run on: it is for no other.
	Asked string `json:"asked,omitempty" since:"3"`
	// TopicSettings are those that this run's topics depend on, as the broker gave them back from one of them.
	TopicSettings map[string]string `json:"topicSettings,omitempty" since:"4"`
	// Quotas are the limits that the cluster sets to clients, whomever they are for.
	Quotas []string `json:"quotas,omitempty" since:"4"`
	// Untold is what the broker would not say of its settings and quotas, and why.
	Untold []string `json:"untold,omitempty" since:"4"`
}

// Node is one broker of a cluster of several.
type Node struct {
	ID          int    `json:"id"` // by Kafka's metadata
	Release     string `json:"release"`
	Commit      string `json:"commit"`
	StartTimeMs int64  `json:"startTimeMs"`
	JolokiaURL  string `json:"jolokiaUrl"`
}

// Roles of cells.
const (
	RoleVersion = "version" // one version under test; the reference version is one of these
	RoleTwin    = "twin"    // one more client of the reference version
	RoleCanary  = "canary"  // reference version plus planted CPU
	RoleAlone   = "alone"   // tier 2: the client left alone
)

// BuildBaseline marks what belongs to the baseline of a run of two builds; what belongs to the candidate has no mark.
const BuildBaseline = "baseline"

// FamilyCell is one cell of a family, the same in every block.
type FamilyCell struct {
	Cell    int    `json:"cell"`
	Version int    `json:"version"`
	Role    string `json:"role"`
	Build   string `json:"build,omitempty" since:"2"` // "" or BuildBaseline
	// PlantNsPerRequest is what was planted with --plant in this cell; the canary's stands with the family.
	PlantNsPerRequest int64 `json:"plantNsPerRequest,omitempty" since:"3"`
}

// Family is declared before its first block.
type Family struct {
	Kind  string      `json:"kind"`
	Tier  int         `json:"tier"`
	Name  string      `json:"name"`
	API   string      `json:"api"`
	Key   int16       `json:"key"`
	Shape shape.Shape `json:"shape"`
	Mode  string      `json:"mode"`
	// Message is "request" or "response" where a message alone is coded, which carries no records; Group is what its API belongs to ("group", "transaction", "metadata", "other"). Absent
	// elsewhere.
	Message string  `json:"message,omitempty" since:"3"`
	Group   string  `json:"group,omitempty" since:"3"`
	Margin  float64 `json:"margin"`
	// BuildMargin is the margin of candidate against baseline, which layout touches; 0: one build alone. Margin is that of their curves then.
	BuildMargin float64      `json:"buildMargin,omitempty" since:"2"`
	Deciding    bool         `json:"deciding"`
	Reference   int          `json:"reference"` // version; -1 in tier 2
	Cells       []FamilyCell `json:"cells"`
	Rounds      int          `json:"rounds"` // planned per block
	Blocks      int          `json:"blocks"` // planned: draws x forks
	// Found once on the reference in the first block, the same for all cells, forks and draws.
	RequestsPerBatch  int   `json:"requestsPerBatch"`
	RecordsPerRequest int   `json:"recordsPerRequest"`
	PlantNsPerRequest int64 `json:"plantNsPerRequest"` // the canary's
	// FewestRequests is the least number of requests that can carry one batch (known truth).
	FewestRequests int `json:"fewestRequests"`
	// LeftOut is why the family doesn't have all versions that are pinned; "" where it has.
	LeftOut string `json:"leftOut,omitempty" since:"3"`
	// Left are these versions, by reason; empty where none is left out.
	Left []LeftVersions `json:"left,omitempty" since:"4"`
}

// Units is how many of what the family's cost is counted in a batch had: records, or requests where no records come.
func (f *Family) Units(b *Batch) int {
	if f.Shape.Polls() {
		return b.Requests
	}
	return b.Records
}

// Where names a block in the rows that belong to one.
type Where struct {
	Family string `json:"family"`
	Draw   int    `json:"draw"`
	Fork   int    `json:"fork"`
}

// Block opens one family in one driver.
type Block struct {
	Kind string `json:"kind"`
	Where
	WorkerPID   int `json:"workerPid"`
	BaselinePID int `json:"baselinePid,omitempty" since:"2"`
	// Layout and BaselineLayout are the numbers that the linker shuffled the code by (-randlayout); 0: as it lays it out by itself.
	Layout         int     `json:"layout,omitempty" since:"2"`
	BaselineLayout int     `json:"baselineLayout,omitempty" since:"2"`
	OpeningOrder   []int   `json:"openingOrder"` // cells
	Orders         [][]int `json:"orders"`       // cells, one row per round
	ContentSeed    uint64  `json:"contentSeed,string"`
	Topic          string  `json:"topic,omitempty"`
	WarmRounds     int     `json:"warmRounds"`
	Warm           bool    `json:"warm"` // false: flagged `not warm`
	// OpenCost: seconds from the worker's start to the first counted batch, for the time estimate.
	OpenNs int64 `json:"openNs"`
	// Look is 2 in blocks of a second look. Absent: 1.
	Look int `json:"look,omitempty" since:"3"`
}

// Look says what came of a family that the first look left undecided: what the second one measures, or why it was not taken. It comes after the
// last block of the first look, and before the first of the second.
type Look struct {
	Kind   string `json:"kind"`
	Tier   int    `json:"tier"`
	Family string `json:"family"`
	// Versions are those that were undecided. Where time is left only for the others, the newest one is not among them.
	Versions []int `json:"versions"`
	// Cells are measured: those of the undecided versions, the reference's clients, its left plateau where the reference is undecided, and the canary.
	Cells      []int  `json:"cells"`
	Blocks     int    `json:"blocks"`
	Rounds     int    `json:"rounds"` // per block
	ExpectedNs int64  `json:"expectedNs"`
	Taken      bool   `json:"taken"`
	Why        string `json:"why,omitempty"` // why it was not taken, or not at all that was undecided
}

// Cell is a cell as opened in one block, and one full hash of what it carried. A cell that was hashed more than once has as many rows.
type Cell struct {
	Kind string `json:"kind"`
	Where
	Cell              int    `json:"cell"`
	AnswerVersion     int    `json:"answerVersion"` // client's own word; -1 none
	RecordsPerRequest int    `json:"recordsPerRequest"`
	Hash              uint64 `json:"hash,string"`
	HashRecords       int    `json:"hashRecords"`
	ExpectedHash      uint64 `json:"expectedHash,string"` // by the parent, from the content seed alone
	// Stored: on a live Produce the orchestrator reads this cell's hashed batch back from the broker with a client of its own. Elsewhere nil.
	Stored *ReadBack `json:"stored,omitempty"`
}

// Batch is one counted batch.
type Batch struct {
	Kind string `json:"kind"`
	Where
	Round    int `json:"round"`
	Position int `json:"position"`
	Cell     int `json:"cell"`
	driver.Batched
	// OutsideCPUNs is the parent's view of the worker's clock over the same batch; -1 where the platform has none.
	OutsideCPUNs int64 `json:"outsideCpuNs"`
	BrokerCPUNs  int64 `json:"brokerCpuNs"` // -1: not a local process
	ParentCPUNs  int64 `json:"parentCpuNs"` // the orchestrator's own, over the batch
	// Primes: taken when the worker's turn began, right after the other build's, to fill the caches again. It counts for the guards, as everything that
	// was sent does, and for no figure. Its position is -1.
	Primes bool `json:"primes,omitempty" since:"2"`
	// IdleCPUNs is what the other build's worker used meanwhile; nil where there is none, or its clock can't be read.
	IdleCPUNs *int64 `json:"idleCpuNs,omitempty" since:"2"`
	// ExpectedRecords, ExpectedBytes, ExpectedFirstKey, ExpectedLastKey: by the parent, from the content seed alone.
	ExpectedRecords  int    `json:"expectedRecords"`
	ExpectedBytes    int64  `json:"expectedBytes"`
	ExpectedByteSum  uint64 `json:"expectedByteSum"`
	ExpectedFirstKey string `json:"expectedFirstKey"`
	ExpectedLastKey  string `json:"expectedLastKey"`
	// ExpectedPartitions and ExpectedErrors, of responses without records.
	ExpectedPartitions int `json:"expectedPartitions,omitempty" since:"3"`
	ExpectedErrors     int `json:"expectedErrors,omitempty" since:"3"`
}

// Steady is one cell's allocation counters in one block.
type Steady struct {
	Kind string `json:"kind"`
	Where
	Cell int `json:"cell"`
	driver.Steadied
}

// What a fault happened to.
const (
	FaultWorker = "worker"
	FaultBroker = "broker"
	FaultUser   = "interrupted"
	FaultTool   = "harness"
)

// Fault is something that stopped a block, a tier or the run.
type Fault struct {
	Kind string `json:"kind"`
	Where
	Tier int      `json:"tier"`
	What string   `json:"what"` // FaultWorker, ...
	Text string   `json:"text"`
	Log  []string `json:"log,omitempty"` // last lines of the process
	// Build is BuildBaseline where the worker was the baseline's: no fault of the client under test.
	Build string `json:"build,omitempty" since:"2"`
}

// Host is the machine's state over one block.
type Host struct {
	Kind string `json:"kind"`
	Where
	WallNs      int64   `json:"wallNs"`
	StealNs     int64   `json:"stealNs"`
	Load1       float64 `json:"load1"`
	ParentCPUNs int64   `json:"parentCpuNs"`
	// BatchWallNs is the sum of batches' wall time: what the orchestrator's share is taken of.
	BatchWallNs int64 `json:"batchWallNs"`
	// MemoryStallNs is how long some task of the host waited for memory meanwhile. Absent: the kernel doesn't say.
	MemoryStallNs *int64 `json:"memoryStallNs,omitempty" since:"3"`
	// FrequencyKHz of the worker's CPU when the block began and when it ended. Absent: the kernel doesn't say.
	FrequencyKHz []int64 `json:"frequencyKHz,omitempty" since:"3"`
}

// HostRound is what the machine did besides in one round, by the parent's readings alone. It comes after the round's batches.
type HostRound struct {
	Kind string `json:"kind"`
	Where
	Round  int   `json:"round"`
	WallNs int64 `json:"wallNs"`
	// OthersCPUNs is what programs other than the workers used on the workers' CPUs, to 10 ms either way; -1 unknown.
	OthersCPUNs int64 `json:"othersCpuNs"`
	// StealNs is what the hypervisor took of these CPUs; -1 unknown.
	StealNs int64 `json:"stealNs"`
}

// Trailer is the last row.
type Trailer struct {
	Kind     string `json:"kind"`
	Complete bool   `json:"complete"` // every planned block was tried
	Reason   string `json:"reason,omitempty"`
	WallNs   int64  `json:"wallNs"`
	// Changed names the checkouts that are no longer what was built of them when the run began.
	Changed []string `json:"changed,omitempty" since:"2"`
}
