package shape

import (
	"errors"
	"fmt"
	"strings"
)

const (
	// minKeyBytes: 8 hex digits are 32 bits, so that two neighbours of a batch with equal keys (a swap nobody sees) are a
	// one-in-four-billion event.
	minKeyBytes = 8
	// maxRecords of one request: beyond this a request is larger than any broker takes, and an int product may wrap.
	maxRecords = 10_000_000
	// maxElements of an array of a message: it travels to a worker in one line.
	maxElements = 10_000
)

// Validate reports every fault of a shape at once, so that its author needs one run to mend it.
func (s Shape) Validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("shape %q: %s", s.Name, fmt.Sprintf(format, args...)))
	}
	if s.Name == "" || strings.ContainsAny(s.Name, "/ \t\n*?[]") {
		fault("the name becomes part of a family's name and of its glob: give one without slash, space or wildcard")
	}
	if s.Elements != 0 || s.Nested != 0 {
		if s.Elements < 1 || s.Elements > maxElements || s.Nested < 0 || s.Nested > maxElements {
			fault("%d elements with %d nested: has to be 1 to %d, with 0 to %d", s.Elements, s.Nested, maxElements, maxElements)
		}
		if s != (Shape{Name: s.Name, Elements: s.Elements, Nested: s.Nested}) {
			fault("a message with elements carries no records, so it has nothing else")
		}
		return errors.Join(faults...)
	}
	product := 1
	if s.Polls() {
		s.RecordsPerBatch, s.BatchesPerPartition = max(1, s.RecordsPerBatch), max(1, s.BatchesPerPartition) // there are none
	}
	for _, n := range []struct {
		field string
		value int
	}{
		{"recordsPerBatch", s.RecordsPerBatch}, {"batchesPerPartition", s.BatchesPerPartition},
		{"partitions", s.Partitions}, {"topics", s.Topics},
	} {
		if n.value < 1 || n.value > maxRecords {
			fault("%s is %d, has to be 1 to %d", n.field, n.value, maxRecords)
			continue
		}
		if product <= maxRecords {
			product *= n.value
		}
	}
	if product > maxRecords {
		fault("more than %d records in one request: make a factor smaller", maxRecords)
	}
	if s.KeyBytes < minKeyBytes {
		fault("keyBytes is %d, has to be at least %d so that a dropped or swapped record shows", s.KeyBytes, minKeyBytes)
	}
	if s.ValueBytes < 1 {
		fault("valueBytes is %d, has to be at least 1: the byte sum takes each value's first byte", s.ValueBytes)
	}
	if s.Headers < 0 {
		fault("headers is %d, can't be negative", s.Headers)
	}
	if s.FetchBytes < 0 {
		fault("fetchBytes is %d, can't be negative (0: no live fetch)", s.FetchBytes)
	}
	if s.RequiredAcks != -1 && s.RequiredAcks != 0 {
		fault("requiredAcks is %d, has to be -1 (all) or 0", s.RequiredAcks)
	}
	if !s.alike() {
		fault("batches of %d records have several lengths: timestamps go round after %d records, and where that falls inside a batch its deltas are longer; take a divisor of %d, or a multiple", s.RecordsPerBatch, timestamps, timestamps)
	}
	s.validateCodec(fault)
	return errors.Join(faults...)
}

// timestamps is after how many records their timestamps begin again.
const timestamps = 1000

// alike tells whether all batches of a request have one length. Guards know by it how long a version's message is.
func (s Shape) alike() bool {
	n := s.RecordsPerBatch
	return n < 1 || s.RecordsPerRequest() <= timestamps || timestamps%n == 0 || n%timestamps == 0
}

// longestTopicName is Kafka's limit.
const longestTopicName = 249

// validateCodec judges what only tier 0 has.
func (s Shape) validateCodec(fault func(format string, args ...any)) {
	if s.TopicNameBytes < 0 || s.TopicNameBytes > longestTopicName {
		fault("topicNameBytes is %d, has to be 1 to %d (0: %d)", s.TopicNameBytes, longestTopicName, DefaultTopicNameBytes)
	} else if names := namesOf(s.NameBytes()); s.Topics > names {
		fault("%d topics can't have different names of %d bytes: there are %d", s.Topics, s.NameBytes(), names)
	}
	switch s.Compression {
	case "", CompressionNone:
	case CompressionGzip, CompressionSnappy, CompressionLZ4, CompressionZstd:
		if s.Topics*s.Partitions*s.BatchesPerPartition != 1 {
			fault("compressed with more than one record batch: their lengths would differ, and with them what is compared")
		}
	default:
		fault("compression is %q, has to be none, gzip, snappy, lz4 or zstd", s.Compression)
	}
	if s.Aborted < 0 || s.Aborted > maxRecords {
		fault("aborted is %d, has to be 0 to %d", s.Aborted, maxRecords)
	}
	if s.Answer != "" && s.Answer != AnswerEmpty && s.Answer != AnswerError {
		fault("answer is %q, has to be %s or %s, or nothing", s.Answer, AnswerEmpty, AnswerError)
	}
	if s.Polls() && (s.Aborted != 0 || s.Compression != "" || s.ReadBytes != 0) {
		fault("an answer without records has no compression, no aborted transactions and no reads")
	}
	if s.ReadBytes < 0 {
		fault("readBytes is %d, can't be negative (0: no connection)", s.ReadBytes)
	}
}

// namesOf is how many names of so many bytes there are: they differ in their last digits, six at most.
func namesOf(bytes int) int {
	names := 1
	for range min(bytes, 6) {
		names *= 10
	}
	return names
}
