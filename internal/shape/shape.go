// Package shape says what is carried: how many records of which sizes in which batches, and their bytes.
//
// The bytes are a pure function of a content seed (one 64-bit number that the parent derives from the run's seed, the
// draw and the shape), so that parent and worker, in any language, make and check the same records.
//
// # Record contents, for authors of workers in other languages
//
// All arithmetic is on unsigned 64-bit numbers that wrap. next(state) is SplitMix64: state += 0x9e3779b97f4a7c15, then the
// usual two xor-shift-multiplies (package seed has the four lines). Record i (from 0) of a content seed is:
//
//	state = next(contentSeed XOR (i * 0xd1342543de82ef95))    the first output becomes the record's own state
//	key   = concatenated outputs of next(state), each as 16 lower-case hex digits, most significant first, cut to KeyBytes
//	value = concatenated further outputs, each as 8 bytes little endian, cut to ValueBytes
//	        where the shape names a compression (none, too): of each output o, not o itself but next(o mod 64), so that values are
//	        made of 64 words and can be compressed
//	header j (from 0): key "h" + decimal j, value one further output as 8 bytes little endian
//	timestamp delta = i mod 1000 (ms)
//
// Key and value each start with a new output: what is cut off is thrown away. The record's state is an output and not a
// sum, because sums of SplitMix64's own increment would make record i+1 a shifted copy of record i.
//
// Inside a request or response indexes run topic by topic, partition by partition, record batch by record batch. Whether
// the requests of a batch go on counting or repeat the same records is the driver protocol's business.
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
	// TopicNameBytes is the length of a topic's name in tier 0; 0: as usual (20).
	TopicNameBytes int `json:"topicNameBytes,omitempty" since:"3"`
	// Compression of the record batches: none, gzip, snappy, lz4, zstd. Where it is given, none too, values can be compressed (see above).
	Compression string `json:"compression,omitempty" since:"3"`
	// Aborted is how many aborted transactions a partition of a tier 0 response has beside its records, each of RecordsPerBatch records that a reader of
	// committed ones must not see.
	Aborted int `json:"aborted,omitempty" since:"3"`
	// Answer is what a tier 0 response says of its partitions where that isn't records: AnswerEmpty or AnswerError. Then the unit is the request.
	Answer string `json:"answer,omitempty" since:"3"`
	// ReadBytes is how many bytes of a tier 0 response each read of the client's connection gets at most; 0: it is decoded from memory, with no connection.
	ReadBytes int `json:"readBytes,omitempty" since:"3"`
	// Transactional: tier 0's Produce requests are of one transaction, which spans the whole cell: they carry its id, and their batches say so.
	Transactional bool `json:"transactional,omitempty" since:"4"`
	// Elements and Nested are the shape of a message that carries no records, where all of the above is 0: how many elements its outermost arrays
	// have, and the arrays in these; Nested is 0 where there are none. 0 elsewhere.
	Elements int `json:"elements,omitempty" since:"3"`
	Nested   int `json:"nested,omitempty" since:"3"`
}

// Compressions that a batch may have.
const (
	CompressionNone   = "none"
	CompressionGzip   = "gzip"
	CompressionSnappy = "snappy"
	CompressionLZ4    = "lz4"
	CompressionZstd   = "zstd"
)

// Answers without records.
const (
	AnswerEmpty = "empty" // no record since the last fetch: what most polls of an idle consumer get
	AnswerError = "error" // each partition answers that its leader has moved
)

// Compressed tells whether record batches are.
func (s Shape) Compressed() bool { return s.Compression != "" && s.Compression != CompressionNone }

// Polls tells whether what is measured is the cost of a request, since no records come.
func (s Shape) Polls() bool { return s.Answer != "" }

// ErrorsPerRequest is how many error codes one response of a Fetch has.
func (s Shape) ErrorsPerRequest() int {
	if s.Answer == AnswerError {
		return s.Topics * s.Partitions
	}
	return 0
}

// DefaultTopicNameBytes is the length of a topic's name where the shape gives none.
const DefaultTopicNameBytes = 20

// NameBytes is the length of a topic's name in tier 0.
func (s Shape) NameBytes() int {
	if s.TopicNameBytes == 0 {
		return DefaultTopicNameBytes
	}
	return s.TopicNameBytes
}

// RecordsPerRequest is the number of records of one request or one response. On a live fetch it is what a response of
// FetchBytes carries, which the parent learns from the first preflight; this function is for shapes that fix it.
// A message without records has elements in their place, the innermost of the two that the shape counts.
func (s Shape) RecordsPerRequest() int {
	switch {
	case s.Elements > 0:
		return s.Elements * max(1, s.Nested)
	case s.Polls():
		return 0
	}
	return s.RecordsPerBatch * s.BatchesPerPartition * s.Partitions * s.Topics
}

// Record is one record's content. Keys are printable ASCII.
type Record struct {
	Key     []byte
	Value   []byte
	Headers []Header
	// TimestampDelta is added to the run's base timestamp: index % 1000 in milliseconds. A batch counts them from its first record, so that batches of a shape have one length wherever they lie.
	TimestampDelta int64
}

// Header is one record header.
type Header struct {
	Key   string
	Value []byte
}
