package franz

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"protocolbench/internal/shape"
	"protocolbench/seed"
)

// slack is how far a payload's bytes move from batch to batch: cache sets and page borders pass by, so that one lucky or unlucky
// layout is noise and not a difference between versions.
const slack = 64 << 10

// payloadKey: cells with equal keys share a payload.
type payloadKey struct {
	shape           shape.Shape
	contentSeed     uint64
	baseTimestampMs int64
	topic           string
	requests        int
}

// payload is the records of one whole batch as the client takes them, their bytes in one arena.
type payload struct {
	key    payloadKey
	master []byte // every record's key, value and header values, one after the other
	// recordBytes is what one record has in master: all have the same sizes. A batch lays out its own records only, since laying
	// out is untimed work before every batch.
	recordBytes int
	arena       []byte
	records     []kgo.Record
}

// destination is where a record goes.
type destination struct {
	topic     string
	partition int32
}

// payloadFor gives the shared payload of so many records; to says where the i-th goes.
func (e *Engine) payloadFor(key payloadKey, records int, to func(i int) destination) *payload {
	return e.payloads.take(key, func() *payload { return newPayload(key, records, to) })
}

func newPayload(key payloadKey, records int, to func(i int) destination) *payload {
	p := &payload{key: key, records: make([]kgo.Record, records)}
	content := shape.NewContent(key.shape, key.contentSeed)
	headers := make([]kgo.RecordHeader, records*key.shape.Headers)
	var made shape.Record
	for i := range p.records {
		content.Record(i, &made)
		r := &p.records[i]
		at := to(i)
		r.Topic, r.Partition = at.topic, at.partition
		r.Timestamp = time.UnixMilli(key.baseTimestampMs + made.TimestampDelta)
		// Produce keeps its context in a record that has none; one that ended would fail the next batch.
		r.Context = context.Background()
		r.Key, r.Value = made.Key, made.Value // lay puts bytes under these lengths
		r.Headers, headers = headers[:len(made.Headers):len(made.Headers)], headers[len(made.Headers):]
		p.master = append(append(p.master, made.Key...), made.Value...)
		for j, h := range made.Headers {
			r.Headers[j] = kgo.RecordHeader{Key: h.Key, Value: h.Value}
			p.master = append(p.master, h.Value...)
		}
	}
	p.recordBytes = len(p.master) / max(1, records)
	p.arena = make([]byte, len(p.master)+slack)
	p.lay(0, records)
	return p
}

// lay puts the first records into the arena anew, at a place drawn for this batch.
func (p *payload) lay(placement uint64, records int) {
	draw := seed.SplitMix64(placement)
	at := p.arena[draw.Next()%slack:]
	copy(at, p.master[:records*p.recordBytes])
	cut := func(n int) []byte {
		piece := at[:n:n]
		at = at[n:]
		return piece
	}
	for i := range p.records[:records] {
		r := &p.records[i]
		r.Key = cut(len(r.Key))
		r.Value = cut(len(r.Value))
		for j := range r.Headers {
			r.Headers[j].Value = cut(len(r.Headers[j].Value))
		}
	}
}
