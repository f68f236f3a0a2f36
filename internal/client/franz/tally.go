package franz

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"protocolbench/internal/driver"
)

// tally is what the clock may see of the records: their number, value bytes, first value bytes, first and last key. A hash
// inside the clock would cost as much as the client does.
type tally struct {
	records     int
	bytes       int64
	byteSum     uint64
	first, last []byte
	begun       bool // of records that come partition by partition: the first one of partition 0 was seen
	// of responses without records
	partitions, errors int
}

func (t *tally) touch(r *kgo.Record) {
	if t.records == 0 {
		t.first = r.Key
	}
	t.last = r.Key
	t.records++
	t.bytes += int64(len(r.Value))
	if len(r.Value) > 0 {
		t.byteSum += uint64(r.Value[0])
	}
}

// answered counts a partition that came without records.
func (t *tally) answered(err error) {
	t.partitions++
	if err != nil {
		t.errors++
	}
}

func (t *tally) fill(into *driver.Batched) {
	into.Records = t.records
	into.Bytes = t.bytes
	into.ByteSum = t.byteSum
	into.FirstKey = string(t.first)
	into.LastKey = string(t.last)
	into.Partitions, into.Errors = t.partitions, t.errors
}

// repeat is what the same records come to, seen so many times.
func (t *tally) repeat(times int) {
	t.records *= times
	t.bytes *= int64(times)
	t.byteSum *= uint64(times)
	t.partitions *= times
	t.errors *= times
}
