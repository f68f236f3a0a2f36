package codec

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"protocolbench/internal/shape"
)

const baseMs = 1_790_000_000_123

// shapes are tier 0's, and one with headers and uneven counts.
var shapes = []shape.Shape{
	{Name: "records=1", RecordsPerBatch: 1, BatchesPerPartition: 1, Partitions: 1, Topics: 1, KeyBytes: 16, ValueBytes: 100},
	{Name: "records=100", RecordsPerBatch: 100, BatchesPerPartition: 1, Partitions: 1, Topics: 1, KeyBytes: 16, ValueBytes: 100},
	{Name: "records=10000", RecordsPerBatch: 10_000, BatchesPerPartition: 1, Partitions: 1, Topics: 1, KeyBytes: 16, ValueBytes: 100},
	{Name: "batches=1000", RecordsPerBatch: 10, BatchesPerPartition: 1000, Partitions: 1, Topics: 1, KeyBytes: 16, ValueBytes: 100},
	{Name: "topics=100", RecordsPerBatch: 10, BatchesPerPartition: 1, Partitions: 1, Topics: 100, KeyBytes: 16, ValueBytes: 100},
	{Name: "mixed", RecordsPerBatch: 3, BatchesPerPartition: 2, Partitions: 5, Topics: 7, KeyBytes: 9, ValueBytes: 1, Headers: 3},
}

func TestBatchFieldsByKmsg(t *testing.T) {
	s := shapes[5]
	content := shape.NewContent(s, 5)
	raw := AppendBatch([]byte("before"), content, 990, 40, 1_000_000, baseMs)
	if !bytes.HasPrefix(raw, []byte("before")) {
		t.Fatal("what was there before is gone")
	}
	var batch kmsg.RecordBatch
	if err := batch.ReadFrom(raw[len("before"):]); err != nil {
		t.Fatal(err)
	}
	var first, r shape.Record
	content.Record(990, &first)
	latest := first.TimestampDelta
	for i := range 40 {
		content.Record(990+i, &r)
		latest = max(latest, r.TimestampDelta)
	}
	if batch.FirstOffset != 1_000_000 || batch.LastOffsetDelta != 39 || batch.NumRecords != 40 || batch.Magic != 2 ||
		batch.Attributes != 0 || batch.ProducerID != -1 || batch.ProducerEpoch != -1 || batch.FirstSequence != -1 ||
		batch.PartitionLeaderEpoch != -1 || batch.FirstTimestamp != baseMs+first.TimestampDelta || batch.MaxTimestamp != baseMs+latest {
		t.Errorf("%+v", batch)
	}
}

// A fetch limit has to cut every response at the same record count, so batches must not differ in length.
func TestBatchesOfAShapeHaveOneLength(t *testing.T) {
	for _, s := range shapes[:5] {
		if s.RecordsPerBatch > 1000 {
			continue
		}
		content := shape.NewContent(s, 9)
		want := len(AppendBatch(nil, content, 0, s.RecordsPerBatch, 0, baseMs))
		for b := range 200 {
			if got := len(AppendBatch(nil, content, b*s.RecordsPerBatch, s.RecordsPerBatch, 1<<40, baseMs)); got != want {
				t.Fatalf("%s: batch %d has %d bytes, the first one %d", s.Name, b, got, want)
			}
		}
	}
}

func TestReadBatchesGivesBackWhatWasWritten(t *testing.T) {
	for _, s := range shapes {
		content := shape.NewContent(s, 3)
		raw := AppendBatch(nil, content, 0, 4, 70, baseMs)
		raw = AppendBatch(raw, content, 4, 3, 74, baseMs)
		hasher := shape.NewHasher()
		n := 0
		err := ReadBatches(raw, baseMs, func(r *Read) {
			if r.Offset != 70+int64(n) {
				t.Errorf("%s: record %d at offset %d", s.Name, n, r.Offset)
			}
			hasher.Add(n, &r.Record)
			n++
		})
		if want := content.Expect(7); err != nil || n != 7 || hasher.Sum64() != want.Hash {
			t.Errorf("%s: %d records, hash %d, want %d: %v", s.Name, n, hasher.Sum64(), want.Hash, err)
		}
	}
}

func TestReadBatchesNoticesEveryFlippedBit(t *testing.T) {
	s := shapes[5]
	raw := AppendBatch(nil, shape.NewContent(s, 3), 0, 3, 0, baseMs)
	for at := lengthAt; at < len(raw); at++ {
		if at >= epochAt && at < magicAt {
			continue // outside the checksum, rewritten by brokers
		}
		for bit := range 8 {
			broken := bytes.Clone(raw)
			broken[at] ^= 1 << bit
			if err := ReadBatches(broken, baseMs, func(*Read) {}); err == nil {
				t.Fatalf("bit %d of byte %d flipped, nothing noticed", bit, at)
			}
		}
	}
	for cut := 1; cut < len(raw); cut++ {
		if err := ReadBatches(raw[:cut], baseMs, func(*Read) {}); err == nil {
			t.Fatalf("cut after %d of %d bytes, nothing noticed", cut, len(raw))
		}
	}
}

// FuzzReadBatches mends length and checksum of the first batch, so that the fuzzer gets past them to the records.
func FuzzReadBatches(f *testing.F) {
	for _, s := range []shape.Shape{shapes[0], shapes[5]} {
		f.Add(AppendBatch(nil, shape.NewContent(s, 1), 0, 3, 0, baseMs))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) >= recordsAt {
			binary.BigEndian.PutUint32(src[lengthAt:], uint32(len(src)-lengthCounted))
			binary.BigEndian.PutUint32(src[crcAt:], crc32.Checksum(src[checkedAt:], castagnoli))
		}
		records := 0
		err := ReadBatches(src, baseMs, func(*Read) { records++ })
		if err == nil && len(src) > 0 && records != int(binary.BigEndian.Uint32(src[countAt:])) {
			t.Fatalf("%d bytes: %d records, the batch says %d", len(src), records, binary.BigEndian.Uint32(src[countAt:]))
		}
	})
}
