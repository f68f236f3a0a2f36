// Package shape says what is carried: how many records of which sizes in which batches, and their bytes.
//
// The bytes are a pure function of a content seed (one 64-bit number that the parent derives from the run's seed, the
// draw and the shape), so that parent and worker, in any language, make and check the same records.
package shape

// Shape is one point on the axes. It travels in the driver protocol and in the record.
type Shape struct {
	// Name is what stands in a family's name, e.g. "records=100" or "size=64KiB".
	Name string `json:"name"`
	// RecordsPerBatch is the number of records in one record batch.
	RecordsPerBatch int `json:"recordsPerBatch"`
	// BatchesPerPartition is the number of record batches of a partition in one request or response.
	BatchesPerPartition int `json:"batchesPerPartition"`
	Partitions          int `json:"partitions"` // per topic
	Topics              int `json:"topics"`
	KeyBytes            int `json:"keyBytes"`
	ValueBytes          int `json:"valueBytes"`
	Headers             int `json:"headers"` // headers per record
	// FetchBytes is the partition and response limit of a live fetch; 0 elsewhere.
	FetchBytes int `json:"fetchBytes,omitempty"`
	// RequiredAcks is -1 (all) or 0 on Produce shapes.
	RequiredAcks int `json:"requiredAcks"`
}

// RecordsPerRequest is the number of records of one request or one response. On a live fetch it is what a response of
// FetchBytes carries, which the parent learns from the first preflight; this function is for shapes that fix it.
func (s Shape) RecordsPerRequest() int {
	return s.RecordsPerBatch * s.BatchesPerPartition * s.Partitions * s.Topics
}

// Record is one record's content. Keys are printable ASCII.
type Record struct {
	Key     []byte
	Value   []byte
	Headers []Header
	// TimestampDelta is added to the run's base timestamp: index % 64 in milliseconds (so that its varint delta always takes one byte, and every batch of a shape has the same length).
	TimestampDelta int64
}

// Header is one record header.
type Header struct {
	Key   string
	Value []byte
}
