package record

import "protocolbench/internal/measure"

// Names of controls.
const (
	ControlRecompression = "recompression" // Produce into a topic that recompresses: conversions must rise by Expected
	ControlOldFetch      = "old fetch"     // Fetch v0-v3 of format v2: conversions must rise by Expected (below 4.0)
	ControlUnpinned      = "unpinned"      // a client left alone under a pinned label: wire and broker must both object
	// ControlDeletedRecords: DeleteRecords in a scratch block; the log guard's own rule has to object to Open and Close.
	ControlDeletedRecords = "deleted records"
	// ControlMissingRecord: a topic that lacks a record of the seed's; the data guard's own rules have to object to Batch and Cell.
	ControlMissingRecord = "missing record"
)

// NegativeControls are those whose rows keep the evidence as it was read: whether the guard would have objected is for the guard to say, whenever it is asked.
func NegativeControls() []string { return []string{ControlDeletedRecords, ControlMissingRecord} }

// Control is a planted fault on a live broker: evidence that a guard could have failed.
type Control struct {
	Kind     string `json:"kind"`
	Tier     int    `json:"tier"`
	Control  string `json:"control"`
	Applies  bool   `json:"applies"` // false: impossible on this broker, Why says so
	Expected int64  `json:"expected"`
	// Observed is how far the counter moved; TopicObserved the control topic's own bean after the control.
	Observed      measure.Counter `json:"observed"`
	TopicObserved measure.Counter `json:"topicObserved"`
	// WireObjected and BrokerObjected: for ControlUnpinned.
	WireObjected   bool   `json:"wireObjected,omitempty"`
	BrokerObjected bool   `json:"brokerObjected,omitempty"`
	Why            string `json:"why,omitempty"`
	// Open and Close are what was read around a DeleteRecords, by the same call as a block's.
	Open  *BrokerEvidence `json:"open,omitempty" since:"3"`
	Close *BrokerEvidence `json:"close,omitempty" since:"3"`
	// Batch and Cell are what the worker under test made of the topic that lacks a record, beside what is expected by the seed.
	Batch *Batch `json:"batch,omitempty" since:"3"`
	Cell  *Cell  `json:"cell,omitempty" since:"3"`
}
