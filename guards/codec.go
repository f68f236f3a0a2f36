package guards

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/shape"
)

// asksCodec tells whether a family says what a client has to make of its records: one as shipped compresses as it likes, and records before schema 4 don't
// say what was stored.
func asksCodec(run *record.Run, f record.Family) bool {
	return run.Header.Schema >= 4 && f.Mode != driver.ModeShipped
}

// storedCodec judges the record batches of a cell's hashed batch as they lie in the log, which is nobody's word but the broker's: a version that forgets to
// compress is slow or fast for the wrong reason, and its records are right all the same. All cells hash the same records, so all batches are equally long.
func storedCodec(t *tally, version int, b record.BlockRun, f record.Family, c record.Cell) {
	r := c.Stored
	if r.Why != "" || c.HashRecords <= 0 || f.Shape.RecordsPerBatch <= 0 {
		return // said already: storedBatch is blind, or the known truth is
	}
	asked := cmp.Or(f.Shape.Compression, shape.CompressionNone)
	usual := usualStoredBytes(b)
	numbers := map[string]any{"cell": c.Cell, "asked": asked, "codecs": strings.Join(r.Codecs, ","), "batches": r.Batches, "storedBytes": r.StoredBytes, "usualStoredBytes": usual}
	batches := c.HashRecords / f.Shape.RecordsPerBatch
	switch {
	case r.Batches <= 0 || r.StoredBytes <= 0 || len(r.Codecs) == 0:
		t.see(version, b.Where, Blind, "how the broker stored this version's record batches was not read", numbers)
	case !slices.Equal(r.Codecs, []string{asked}):
		t.see(version, b.Where, Fail, fmt.Sprintf("this version was to send %s and stored batches of %s: %d bytes where most clients of the block store %d; look at how it chooses a codec for this version",
			asked, strings.Join(r.Codecs, " and "), r.StoredBytes, usual), numbers)
	case r.Batches != batches:
		t.see(version, b.Where, Fail, fmt.Sprintf("%d record batches are stored of %d records, which fill %d: the client cuts batches otherwise at this version", r.Batches, c.HashRecords, batches), numbers)
	case r.StoredBytes != usual:
		t.see(version, b.Where, Fail, fmt.Sprintf("%d bytes are stored of the records that take %d of most clients of the block, by the same codec (%s): this version compresses otherwise", r.StoredBytes, usual, asked), numbers)
	default:
		t.pass(version, b.Where, map[string]any{"batchesInspected": int64(r.Batches), "bytesStored": r.StoredBytes})
	}
}

// usualStoredBytes is the length that most of a block's cells stored; of several equally frequent ones the least.
func usualStoredBytes(b record.BlockRun) int64 {
	times := map[int64]int{}
	for _, c := range b.CellRows {
		if c.Stored != nil && c.Stored.Why == "" && c.Stored.StoredBytes > 0 {
			times[c.Stored.StoredBytes]++
		}
	}
	var usual int64
	for bytes, n := range times {
		if n > times[usual] || n == times[usual] && bytes < usual {
			usual = bytes
		}
	}
	return usual
}
