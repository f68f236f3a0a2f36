package franz

import (
	"testing"

	"protocolbench/internal/shape"
)

func TestPayloadKeepsItsRecordsWhereverTheyLie(t *testing.T) {
	s := shape.Shape{Name: "headers", RecordsPerBatch: 5, BatchesPerPartition: 1, Partitions: 2, Topics: 1, KeyBytes: 9, ValueBytes: 33, Headers: 2}
	const records = 40
	want := shape.NewContent(s, testSeed).Expect(records)
	p := newPayload(payloadKey{shape: s, contentSeed: testSeed, baseTimestampMs: testBaseMs}, records, func(i int) destination {
		return destination{"t", int32(i / 20)}
	})
	places := map[*byte]bool{}
	for placement := range uint64(50) {
		p.lay(placement, records)
		hasher := shape.NewHasher()
		for i := range p.records {
			hasher.Add(i, shaped(&p.records[i], testBaseMs))
		}
		if hasher.Sum64() != want.Hash {
			t.Fatalf("placement %d changes the records", placement)
		}
		places[&p.records[0].Key[0]] = true
	}
	if len(places) < 45 {
		t.Errorf("50 placements came to %d places", len(places))
	}
	if p.records[19].Partition != 0 || p.records[20].Partition != 1 {
		t.Errorf("records lie in partitions %d and %d", p.records[19].Partition, p.records[20].Partition)
	}
}

func TestLayingLeavesTheRestAlone(t *testing.T) {
	s := fixed("records=1", 1, 1, 1, 1)
	p := newPayload(payloadKey{shape: s, contentSeed: testSeed}, 10, func(int) destination { return destination{} })
	ninth := &p.records[9].Key[0]
	p.lay(123, 3)
	if &p.records[9].Key[0] != ninth {
		t.Error("a record beyond the batch was moved")
	}
}
