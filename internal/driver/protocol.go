// Package driver has the messages of the driver protocol: JSON lines between the orchestrator and a process that runs one build of one client.
//
// One request, one answer, in order. stdin carries requests, stdout answers, stderr the log. 64-bit numbers that may
// pass 2^53 travel as decimal strings. DRIVER.md is the same thing for authors of workers in other languages.
package driver

import (
	"protocolbench/internal/shape"
)

// ProtocolVersion is the driver protocol's number; hello has to answer with it.
const ProtocolVersion = 1

// Operations of the protocol.
const (
	OpHello    = "hello"
	OpOpen     = "open"
	OpPlant    = "plant"
	OpWarm     = "warm"
	OpBatch    = "batch"
	OpSteady   = "steady"
	OpHash     = "hash"
	OpSnapshot = "snapshot"
	OpProfile  = "profile"
	OpClose    = "close"
)

// Request is one line to the worker. Exactly the field of its operation is set.
type Request struct {
	ID    int    `json:"id"`
	Op    string `json:"op"`
	Open  *Open  `json:"open,omitempty"`
	Plant *Plant `json:"plant,omitempty"`
	Batch *Batch `json:"batch,omitempty"` // warm, batch, steady, hash
	Cell  *int   `json:"cell,omitempty"`  // close; without it the worker closes everything and ends
	// Profile goes with the ability of that name.
	Profile *Profile `json:"profile,omitempty"`
}

// Response is one line from the worker: an error, or the field of the operation.
type Response struct {
	ID    int    `json:"id"`
	Error string `json:"error,omitempty"`
	// Sent goes with the error of an open: the request frames of all APIs that had left by then. A client that sends another version than it was asked for fails there more
	// often than not, and what it sent is what it was wrong in. Absent: this worker can't say.
	Sent     []Frames  `json:"sent,omitempty"`
	Hello    *Hello    `json:"hello,omitempty"`
	Opened   *Opened   `json:"opened,omitempty"`
	Batched  *Batched  `json:"batched,omitempty"` // warm, batch
	Steadied *Steadied `json:"steadied,omitempty"`
	Hashed   *Hashed   `json:"hashed,omitempty"`
	Snapshot *Snapshot `json:"snapshot,omitempty"`
	Profiled *Profiled `json:"profiled,omitempty"`
}

// Range is what a client implements of one API.
type Range struct {
	API string `json:"api"` // "Produce", "Fetch"
	Key int16  `json:"key"`
	Min int16  `json:"min"`
	Max int16  `json:"max"`
}

// Hello is the worker's answer about itself.
type Hello struct {
	Protocol    int               `json:"protocol"`
	Client      string            `json:"client"`  // "franz-go"
	Version     string            `json:"version"` // of the client library
	Build       map[string]string `json:"build"`   // toolchain, flags, module sums: whatever identifies the build
	Clock       string            `json:"clock"`   // "process-cputime" or what stands in for it
	PID         int               `json:"pid"`
	Implemented []Range           `json:"implemented"`
	// Messages is what it can encode requests and decode responses of, with the ability "messages"; both directions have one range.
	Messages []Range `json:"messages,omitempty"`
	// Abilities: "codec" (tier 0), "live", "plant", "steady", "hash", "tcp" (TCP_INFO), "frames" (wire counts), "own-version"
	// (the client itself says which version an answer had), "framing" (the mode of that name),
	// "messages" (tier 0's messages without records), "profile" (a CPU profile of batches), "heap" (the live heap before each batch).
	Abilities []string `json:"abilities"`
}

// Unpinned as a version leaves the client alone.
const Unpinned = -1

// Modes.
const (
	ModeBare    = "bare"    // everything that varies by itself switched off, collector off inside a batch
	ModeGC      = "gc"      // as bare, collector on
	ModeFraming = "framing" // as bare, tier 0's Fetch alone: the response is read, its records are left as the bytes that they are
	ModeShipped = "shipped" // the client's defaults
)

// AbilityMessages is that of a worker that can be asked for messages without records.
const AbilityMessages = "messages"

// AbilityProfile is that of a worker that can profile its batches.
const AbilityProfile = "profile"

// AbilityHeap is that of a worker that collects before each batch, and says what that found alive.
const AbilityHeap = "heap"

// Profile asks for a CPU profile of batches that are run as ever, until they have taken ForNs of CPU time. None of them is counted.
type Profile struct {
	Cell     int   `json:"cell"`
	Requests int   `json:"requests"` // per batch
	ForNs    int64 `json:"forNs"`
}

// Profiled is the profile, and what was done meanwhile.
type Profiled struct {
	Requests int   `json:"requests"`
	Records  int   `json:"records"`
	CPUNs    int64 `json:"cpuNs"` // of the timed parts
	// Pprof is a CPU profile in the format of pprof: protocol buffers, gzipped (base64 in JSON). Its last value per sample is nanoseconds.
	Pprof []byte `json:"pprof"`
}

// Directions of a message.
const (
	DirectionRequest  = "request"  // the worker encodes it
	DirectionResponse = "response" // the worker decodes it
)

// Message is what a cell of a message without records encodes or decodes.
type Message struct {
	Key       int16  `json:"key"` // of the API
	Direction string `json:"direction"`
	// Bytes is the message's body at the version of the open, without a header, in base64.
	Bytes []byte `json:"bytes"`
}

// Open makes a cell: one client, pinned, connected, preflighted. Cells stay open until closed.
type Open struct {
	Cell    int         `json:"cell"` // the parent's number, >= 0
	Tier    int         `json:"tier"`
	API     string      `json:"api"`
	Version int         `json:"version"` // or Unpinned
	Shape   shape.Shape `json:"shape"`
	Mode    string      `json:"mode"`
	Brokers []string    `json:"brokers,omitempty"` // live tiers
	Topic   string      `json:"topic,omitempty"`   // live tiers; partition 0
	// ContentSeed makes the records (package shape).
	ContentSeed     uint64 `json:"contentSeed,string"`
	BaseTimestampMs int64  `json:"baseTimestampMs"`
	// MaxRequests is the largest batch that will be asked for; a worker can allocate for it. Fetch topics hold at least
	// this many responses.
	MaxRequests int `json:"maxRequests"`
	// Message is set where the cell is of a message without records: API is its name then ("MetadataResponse"), Tier 0.
	Message *Message `json:"message,omitempty"`
}

// Opened is what a cell says after its preflight: one direct request of the pinned API over the cell's own connection.
type Opened struct {
	// AnswerVersion is the version of the preflight's answer by the client's own word, Unpinned where it has none.
	AnswerVersion int `json:"answerVersion"`
	// RecordsPerRequest is the number of records that one request or response of this cell carries, found by the
	// preflight of a live fetch, by the shape elsewhere.
	RecordsPerRequest int `json:"recordsPerRequest"`
	// PreflightRequests is how many requests of the pinned API the preflight sent (counted in the snapshot too).
	PreflightRequests int `json:"preflightRequests"`
}

// Plant makes the cell burn CPU after each request: a canary, or a selftest's fault.
type Plant struct {
	Cell            int   `json:"cell"`
	CPUNsPerRequest int64 `json:"cpuNsPerRequest"`
}

// Batch asks for a fixed number of requests.
type Batch struct {
	Cell     int `json:"cell"`
	Requests int `json:"requests"`
	// Placement decides where payload buffers lie in memory; drawn per batch by the parent.
	Placement uint64 `json:"placement,string"`
}

// Batched is what one batch measured and what came of it. Times are between request boundaries.
type Batched struct {
	CPUNs  int64 `json:"cpuNs"`
	WallNs int64 `json:"wallNs"`
	// Wall time of single requests, and the longest time between two ends of requests.
	RequestP50Ns int64 `json:"requestP50Ns"`
	RequestP99Ns int64 `json:"requestP99Ns"`
	LongestGapNs int64 `json:"longestGapNs"`

	Requests int `json:"requests"` // completed polls or promises, by the client's own word
	Records  int `json:"records"`
	// Bytes is the sum of value lengths; ByteSum the sum of the first byte of each value, so that content is touched.
	Bytes    int64  `json:"bytes"`
	ByteSum  uint64 `json:"byteSum"`
	FirstKey string `json:"firstKey"`
	LastKey  string `json:"lastKey"`
	// Partitions and Errors are how many partitions the responses had that came without records, and how many error codes: there a client can be seen to
	// have looked at nothing else.
	Partitions int `json:"partitions,omitempty" since:"3"`
	Errors     int `json:"errors,omitempty" since:"3"`

	// WireRequests, WireBytesOut, WireBytesIn: frames of the pinned API at the pinned version and all bytes on this cell's
	// connections during the batch. MinFrame and MaxFrame are the pinned API's request frame lengths.
	WireRequests int   `json:"wireRequests"`
	WireBytesOut int64 `json:"wireBytesOut"`
	WireBytesIn  int64 `json:"wireBytesIn"`
	MinFrame     int   `json:"minFrame"`
	MaxFrame     int   `json:"maxFrame"`
	// StartOffset and EndOffset: Produce: the log end offset before and after (read after the clock stopped; with acks 0
	// the reading is the barrier). Fetch: first offset and last offset + 1 delivered. Tier 0: 0.
	StartOffset int64 `json:"startOffset"`
	EndOffset   int64 `json:"endOffset"`

	GCCycles            int   `json:"gcCycles"`
	VoluntarySwitches   int64 `json:"voluntarySwitches"`
	InvoluntarySwitches int64 `json:"involuntarySwitches"`
	// HeapLiveBytes is what the collection that this batch began with found alive: the next batch's less this one's is what this one kept. 0: this worker can't say.
	HeapLiveBytes uint64 `json:"heapLiveBytes,omitempty" since:"4"`
}

// Steadied has the allocation counters of a batch without a forced collection before it.
type Steadied struct {
	Requests   int    `json:"requests"`
	Records    int    `json:"records"`
	Allocs     uint64 `json:"allocs"`
	AllocBytes uint64 `json:"allocBytes"`
	// Of one more pass, in tier 0's Produce, where the client's encoder can't be called by itself: CPU time of all of it, of handing records over until the flush, and from
	// there until the request is on the connection. 0: this worker can't say.
	StagedNs int64 `json:"stagedNs,omitempty" since:"3"`
	BufferNs int64 `json:"bufferNs,omitempty" since:"3"`
	EncodeNs int64 `json:"encodeNs,omitempty" since:"3"`
}

// Hashed is the full hash (shape.Hasher, FNV-1a 64 over keys, values, headers and deltas) of one untimed batch. On Produce it is the hash of
// what was handed to the client. Of a response without records it is what its partitions say, and Records is how many there are.
type Hashed struct {
	Records  int    `json:"records"`
	Hash     uint64 `json:"hash,string"`
	Requests int    `json:"requests"` // of the pinned API, so that wire and broker counts stay explained
}

// Frames counts request frames of one API and version as they left through the counted connections.
type Frames struct {
	Key     int16 `json:"key"`
	Version int16 `json:"version"`
	Count   int64 `json:"count"`
	Bytes   int64 `json:"bytes"`
}

// CellSnapshot is what one cell's connections have counted since open.
type CellSnapshot struct {
	Cell     int      `json:"cell"` // -1: the worker's own checking connections
	Frames   []Frames `json:"frames"`
	BytesIn  int64    `json:"bytesIn"`
	BytesOut int64    `json:"bytesOut"`
	Reads    int64    `json:"reads"`
	// TCP data segments (TCP_INFO) over the cell's open connections; -1 where there is no such counter.
	DataSegsIn  int64 `json:"dataSegsIn"`
	DataSegsOut int64 `json:"dataSegsOut"`
	// ConnectionsOpened since the cell was opened; ConnectionsOpen are those not closed yet.
	ConnectionsOpened int64 `json:"connectionsOpened,omitempty" since:"4"`
	ConnectionsOpen   int64 `json:"connectionsOpen,omitempty" since:"4"`
}

// Snapshot is the state of the worker's counters.
type Snapshot struct {
	Cells         []CellSnapshot `json:"cells"`
	CPUNs         int64          `json:"cpuNs"`         // process CPU since start
	HeapLiveBytes uint64         `json:"heapLiveBytes"` // alive at the last full collection, which each batch begins with
	PeakRSSBytes  uint64         `json:"peakRSSBytes"`
	// Goroutines are what stands for threads of work in the worker's language; OpenFiles are its descriptors. 0: this worker, or platform, can't say.
	Goroutines int `json:"goroutines,omitempty" since:"4"`
	OpenFiles  int `json:"openFiles,omitempty" since:"4"`
}
