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
	return errors.Join(faults...)
}
