package admin

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"protocolbench/internal/bank"
	"protocolbench/internal/codec"
	"protocolbench/internal/shape"
)

const (
	// fetchVersion is the first that carries format v2: every supported broker takes it, and it has no sessions to look after.
	fetchVersion  = 4
	fetchMaxBytes = 32 << 20
)

// Span is what is read back of a topic: so many records from an offset on, both summed over its partitions, which a Produce family fills evenly: each
// request has PerBatch records for every partition.
type Span struct {
	Offset     int64
	Records    int
	Partitions int
	PerBatch   int
}

// Stored is what lay there: the records, and the record batches that hold them as the log has them.
type Stored struct {
	Records int
	Hash    uint64
	Batches int
	Bytes   int64
	Codecs  []string
}

// ReadBack fetches a span's records and hashes them as shape.Hasher does: indexes counted from the span's first, request by request and in each
// partition by partition, time from baseTimestampMs. Fewer records than asked for are an error. It sends Fetch requests: call it after the closing evidence.
func (a *Admin) ReadBack(ctx context.Context, topic string, span Span, baseTimestampMs int64) (Stored, error) {
	partitions := int64(span.Partitions)
	if span.Offset%partitions != 0 || span.Partitions > 1 && span.Records%(span.Partitions*span.PerBatch) != 0 {
		return Stored{}, fmt.Errorf("cannot read back topic %s: %d records from offset %d on, summed over %d partitions, are not spread evenly: the client left some partitions out", topic, span.Records, span.Offset, span.Partitions)
	}
	c, err := a.dialLeader(ctx, topic)
	if err != nil {
		return Stored{}, err
	}
	defer c.close()
	first, each := span.Offset/partitions, span.Records/span.Partitions
	all := make([]*reading, span.Partitions)
	var stored Stored
	for p := range all {
		all[p] = &reading{first: first, next: first, end: first + int64(each)}
		err := c.readPartition(topic, int32(p), all[p], baseTimestampMs)
		stored.add(all[p])
		if err != nil {
			return stored, fmt.Errorf("cannot read back partition %d of topic %s at offset %d: %w", p, topic, all[p].next, errors.Join(err, ctx.Err()))
		}
	}
	hasher := shape.NewHasher()
	for i := range span.Records {
		request, within := i/(span.PerBatch*span.Partitions), i%(span.PerBatch*span.Partitions)
		hasher.Add(i, &all[within/span.PerBatch].records[request*span.PerBatch+within%span.PerBatch])
	}
	stored.Hash = hasher.Sum64()
	return stored, nil
}

func (s *Stored) add(d *reading) {
	s.Records += len(d.records)
	s.Batches += d.batches
	s.Bytes += d.bytes
	for number, seen := range d.codecs {
		if name := bank.CompressionName(number); seen && !slices.Contains(s.Codecs, name) {
			s.Codecs = append(s.Codecs, name)
		}
	}
}

// readPartition goes through one partition's log until the span's end.
func (c *conn) readPartition(topic string, of int32, d *reading, baseTimestampMs int64) error {
	version := int16(fetchVersion)
	for d.next < d.end {
		at := d.next
		d.fetched = at
		batches, err := c.fetchOf(topic, of, at, version, fetchMaxBytes)
		if errors.Is(err, kerr.UnsupportedCompressionType) && version < bank.ZstdFetch {
			version = bank.ZstdFetch // such a broker has this version, or it could not have taken the batch
			continue
		}
		if err == nil {
			err = codec.Scan(whole(batches), func(b *codec.Stored) error { return d.see(b, baseTimestampMs) })
		}
		if err == nil && d.next == at {
			err = fmt.Errorf("the log holds no record there; %d of %d were read", at-d.first, d.end-d.first)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// FetchAt sends one Fetch request of a given version from offset on and gives the bytes of records that came back. It is for the control
// that makes an old broker convert (versions 0 to 3).
func (a *Admin) FetchAt(ctx context.Context, topic string, offset int64, version int16) (int, error) {
	c, err := a.dialLeader(ctx, topic)
	if err != nil {
		return 0, err
	}
	defer c.close()
	batches, err := c.fetch(topic, offset, version)
	if err != nil {
		return 0, fmt.Errorf("cannot read topic %s with Fetch v%d: %w", topic, version, errors.Join(err, ctx.Err()))
	}
	return len(batches), nil
}

func (c *conn) fetch(topic string, offset int64, version int16) ([]byte, error) {
	return c.fetchOf(topic, partition, offset, version, fetchMaxBytes)
}

func (c *conn) fetchOf(topic string, of int32, offset int64, version int16, maxBytes int32) ([]byte, error) {
	request := kmsg.NewPtrFetchRequest()
	request.Version, request.ReplicaID = version, -1
	request.MaxWaitMillis, request.MinBytes, request.MaxBytes = 100, 1, maxBytes
	request.SessionID, request.SessionEpoch = 0, -1
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.FetchOffset, p.PartitionMaxBytes = of, offset, maxBytes
	request.Topics = []kmsg.FetchRequestTopic{{Topic: topic, Partitions: []kmsg.FetchRequestTopicPartition{p}}}
	response := kmsg.NewPtrFetchResponse()
	if err := c.ask(request, response); err != nil {
		return nil, err
	}
	if err := kerr.ErrorForCode(response.ErrorCode); err != nil {
		return nil, err
	}
	if err := c.throttled("Fetch", response.ThrottleMillis); err != nil { // first: a broker that throttles answers without any topic
		return nil, err
	}
	if len(response.Topics) != 1 || len(response.Topics[0].Partitions) != 1 {
		return nil, errors.New("the broker's answer to Fetch has not one partition")
	}
	answer := response.Topics[0].Partitions[0]
	return answer.RecordBatches, kerr.ErrorForCode(answer.ErrorCode)
}

// reading keeps records [first, end) of one partition as batches come in.
type reading struct {
	records          []shape.Record
	first, next, end int64
	fetched          int64 // offset that the current answer was asked for
	batches          int
	bytes            int64
	codecs           [codec.CompressionMask + 1]bool // by their numbers
}

// see takes a batch's records in. An answer begins with the batch that holds the offset, and ends with a whole one.
func (d *reading) see(b *codec.Stored, baseTimestampMs int64) error {
	if last := b.BaseOffset + int64(b.Count) - 1; last < d.fetched || b.BaseOffset >= d.end {
		return nil
	}
	if left := int(b.Attributes) &^ codec.CompressionMask; left != 0 {
		return fmt.Errorf("attributes %#x: transactional or control batches are not ours", b.Attributes)
	}
	d.batches++
	d.bytes += int64(b.Bytes)
	d.codecs[b.Compressed()] = true
	records, err := bank.Decompress(b.Compressed(), b.Records)
	if err != nil {
		return fmt.Errorf("the batch at offset %d: %w", b.BaseOffset, err)
	}
	var fault error
	err = b.Visit(records, baseTimestampMs, func(r *codec.Read) {
		if fault == nil {
			fault = d.add(r)
		}
	})
	return errors.Join(err, fault)
}

func (d *reading) add(r *codec.Read) error {
	switch {
	case r.Offset < d.fetched || r.Offset >= d.end:
		return nil
	case r.Offset != d.next:
		return fmt.Errorf("offset %d follows %d", r.Offset, d.next-1)
	}
	kept := shape.Record{Key: bytes.Clone(r.Key), Value: bytes.Clone(r.Value), TimestampDelta: r.TimestampDelta}
	for _, h := range r.Headers {
		kept.Headers = append(kept.Headers, shape.Header{Key: h.Key, Value: bytes.Clone(h.Value)})
	}
	d.records = append(d.records, kept)
	d.next++
	return nil
}

// whole cuts off a last batch that the size limit truncated. A batch begins with its offset (8 bytes) and the length of what follows (4).
func whole(batches []byte) []byte {
	const head = 12
	at := 0
	for len(batches)-at >= head {
		length := head + int64(binary.BigEndian.Uint32(batches[at+8:]))
		if length > int64(len(batches)-at) {
			break
		}
		at += int(length)
	}
	return batches[:at]
}
