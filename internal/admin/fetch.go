package admin

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"protocolbench/internal/codec"
	"protocolbench/internal/shape"
)

const (
	// fetchVersion is the first that carries format v2: every supported broker takes it, and it has no sessions to look after.
	fetchVersion  = 4
	fetchMaxBytes = 32 << 20
)

// ReadBack fetches records records from offset on and hashes them as shape.Hasher does: indexes counted from offset, time from
// baseTimestampMs. Fewer records than asked for are an error. It sends Fetch requests: call it after the closing evidence.
func (a *Admin) ReadBack(ctx context.Context, topic string, offset int64, records int, baseTimestampMs int64) (read int, hash uint64, err error) {
	c, err := a.dialLeader(ctx, topic)
	if err != nil {
		return 0, 0, err
	}
	defer c.close()
	d := &reading{hasher: shape.NewHasher(), first: offset, next: offset, end: offset + int64(records)}
	for d.next < d.end {
		at := d.next
		d.fetched = at
		batches, err := c.fetch(topic, at, fetchVersion)
		if err == nil {
			err = codec.ReadBatches(whole(batches), baseTimestampMs, d.add)
		}
		if err == nil {
			err = d.fault
		}
		if err == nil && d.next == at {
			err = fmt.Errorf("the log holds no record there; %d of %d were read", at-offset, records)
		}
		if err != nil {
			return int(d.next - d.first), d.hasher.Sum64(), fmt.Errorf("cannot read back topic %s at offset %d: %w", topic, at, errors.Join(err, ctx.Err()))
		}
	}
	return records, d.hasher.Sum64(), nil
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
	return c.fetchBytes(topic, offset, version, fetchMaxBytes)
}

func (c *conn) fetchBytes(topic string, offset int64, version int16, maxBytes int32) ([]byte, error) {
	request := kmsg.NewPtrFetchRequest()
	request.Version, request.ReplicaID = version, -1
	request.MaxWaitMillis, request.MinBytes, request.MaxBytes = 100, 1, maxBytes
	request.SessionID, request.SessionEpoch = 0, -1
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.FetchOffset, p.PartitionMaxBytes = partition, offset, maxBytes
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

// reading hashes records [first, end) as batches come in.
type reading struct {
	hasher           *shape.Hasher
	first, next, end int64
	fetched          int64 // offset that the current answer was asked for
	fault            error
}

func (d *reading) add(r *codec.Read) {
	switch {
	case r.Offset < d.fetched || r.Offset >= d.end || d.fault != nil:
		// An answer begins with the batch that holds the offset, and ends with a whole one.
	case r.Offset != d.next:
		d.fault = fmt.Errorf("offset %d follows %d", r.Offset, d.next-1)
	default:
		d.hasher.Add(int(r.Offset-d.first), &r.Record)
		d.next++
	}
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
