package record

import (
	"fmt"

	"protocolbench/internal/shape"
)

// Judging works some things out again: the responses of a shape are laid out for their lengths, and every version that a client implements is looked for. So a damaged
// number in one of these rows would take all memory, or all time, and is refused like any other that can't have been written.
const (
	mostBytes    = 1 << 30 // of the records of one request or response; brokers take a thousandth by themselves
	recordAround = 64      // bytes of a record beside key, value and headers, at most
	headerBytes  = 16
	mostVersion  = 1<<15 - 1 // Kafka's versions have 16 bits
)

// checkShape bounds what a family carries. What else has to hold of a shape says its package, to those who make one.
func checkShape(s shape.Shape) error {
	for _, size := range []struct {
		name  string
		value int
	}{
		{"recordsPerBatch", s.RecordsPerBatch}, {"batchesPerPartition", s.BatchesPerPartition}, {"partitions", s.Partitions}, {"topics", s.Topics},
		{"keyBytes", s.KeyBytes}, {"valueBytes", s.ValueBytes}, {"headers", s.Headers}, {"fetchBytes", s.FetchBytes},
		{"topicNameBytes", s.TopicNameBytes}, {"aborted", s.Aborted}, {"readBytes", s.ReadBytes}, {"elements", s.Elements}, {"nested", s.Nested},
	} {
		if size.value < 0 || size.value > mostBytes {
			return fmt.Errorf("field shape.%s: %d is not between 0 and %d", size.name, size.value, mostBytes)
		}
	}
	if elements := float64(max(1, s.Elements)) * float64(max(1, s.Nested)); elements > mostBytes {
		return fmt.Errorf("field shape: %.0f elements in one message are more than any run has measured (%d bytes)", elements, mostBytes)
	}
	each := float64(s.KeyBytes) + float64(s.ValueBytes) + headerBytes*float64(s.Headers) + recordAround
	records := float64(max(1, s.RecordsPerBatch)) * float64(max(1, s.BatchesPerPartition+s.Aborted)) * float64(max(1, s.Partitions)) * float64(max(1, s.Topics))
	if records*each > mostBytes {
		return fmt.Errorf("field shape: its %.0f records of up to %.0f bytes in one request are more than any run has measured (%d bytes)", records, each, mostBytes)
	}
	return nil
}

// checkVersions bounds the versions that a plan is about.
func (p *Plan) checkVersions() error {
	for _, versions := range []struct {
		name  string
		value [2]int
	}{{"implemented", p.Implemented}, {"advertised", p.Advertised}} {
		for _, v := range versions.value {
			if v < -1 || v > mostVersion {
				return fmt.Errorf("field %s: %d is no version", versions.name, v)
			}
		}
	}
	return nil
}
