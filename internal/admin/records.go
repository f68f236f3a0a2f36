package admin

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"protocolbench/internal/codec"
	"protocolbench/internal/shape"
)

// Fill seeds partition 0 of an empty topic: batches of recordsPerBatch records, content record i at offset i. The bytes are ours, so that
// batch boundaries are what the shape says and not what a client makes of it. A Produce request carries one batch per
// partition, so every batch is a round trip; several in flight would be faster, and could arrive in another order.
func (a *Admin) Fill(ctx context.Context, topic string, content *shape.Content, recordsPerBatch, batches int, baseTimestampMs int64) error {
	leader, err := a.leader(ctx, topic)
	if err != nil {
		return err
	}
	var batch []byte
	for i := range batches {
		batch = codec.AppendBatch(batch[:0], content, i*recordsPerBatch, recordsPerBatch, 0, baseTimestampMs)
		response, err := leader.Request(ctx, produceOne(topic, batch))
		if err == nil {
			err = produceError(response.(*kmsg.ProduceResponse))
		}
		if err != nil {
			return fmt.Errorf("seeding topic %s, batch %d of %d: %w", topic, i+1, batches, err)
		}
	}
	return a.filled(ctx, topic, int64(batches*recordsPerBatch))
}

func (a *Admin) filled(ctx context.Context, topic string, want int64) error {
	start, end, err := a.Offsets(ctx, topic)
	if err != nil {
		return err
	}
	if start != 0 || end != want {
		return fmt.Errorf("topic %s was seeded with offsets 0 to %d and holds %d to %d: the topic was not empty, or the broker dropped batches", topic, want, start, end)
	}
	return nil
}

func produceOne(topic string, batch []byte) *kmsg.ProduceRequest {
	partition := kmsg.NewProduceRequestTopicPartition()
	partition.Records = batch
	named := kmsg.NewProduceRequestTopic()
	named.Topic = topic
	named.Partitions = append(named.Partitions, partition)
	request := kmsg.NewPtrProduceRequest()
	request.Acks = -1
	request.TimeoutMillis = int32(requestTimeout.Milliseconds())
	request.Topics = append(request.Topics, named)
	return request
}

func produceError(response *kmsg.ProduceResponse) error {
	if len(response.Topics) != 1 || len(response.Topics[0].Partitions) != 1 {
		return errors.New("the broker's Produce answer is not about the one partition that was sent")
	}
	return kerr.ErrorForCode(response.Topics[0].Partitions[0].ErrorCode)
}

// leader is the broker that leads partition 0.
func (a *Admin) leader(ctx context.Context, topic string) (*kgo.Broker, error) {
	metadata, err := a.admin.Metadata(ctx, topic)
	if err != nil {
		return nil, fmt.Errorf("asking for the leader of %s: %w", topic, err)
	}
	detail, ok := metadata.Topics[topic]
	if !ok || detail.Err != nil {
		return nil, fmt.Errorf("asking for the leader of %s: %w", topic, errors.Join(detail.Err, kerr.UnknownTopicOrPartition))
	}
	return a.client.Broker(int(detail.Partitions[0].Leader)), nil
}

// fetchBytes bounds one answer while records are read back.
const fetchBytes = 4 << 20

// ReadBack reads so many records from an offset on and hashes them as a shape.Hasher does: index counted from that offset, timestamps
// from the base. It sends Fetch requests, so it comes after a block's closing evidence. Fewer records than asked for are an error.
func (a *Admin) ReadBack(ctx context.Context, topic string, offset int64, records int, baseTimestampMs int64) (read int, hash uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	leader, err := a.leader(ctx, topic)
	if err != nil {
		return 0, 0, err
	}
	hasher := shape.NewHasher()
	for read < records {
		stored, err := fetchFrom(ctx, leader, topic, offset+int64(read), fetchBytes)
		if err != nil {
			return read, hasher.Sum64(), fmt.Errorf("reading %s back from offset %d: %w", topic, offset+int64(read), err)
		}
		before := read
		err = codec.ReadBatches(whole(stored), baseTimestampMs, func(r *codec.Read) {
			if r.Offset == offset+int64(read) && read < records {
				hasher.Add(read, &r.Record)
				read++
			}
		})
		if err != nil {
			return read, hasher.Sum64(), fmt.Errorf("reading %s back from offset %d: %w", topic, offset, err)
		}
		if read == before {
			return read, hasher.Sum64(), fmt.Errorf("reading %s back: offset %d holds no record, %d of %d were read", topic, offset+int64(read), read, records)
		}
	}
	return read, hasher.Sum64(), nil
}

// whole cuts off a last batch that the size limit truncated.
func whole(stored []byte) []byte {
	at := 0
	for len(stored)-at >= 12 {
		length := 12 + int(uint32(stored[at+8])<<24|uint32(stored[at+9])<<16|uint32(stored[at+10])<<8|uint32(stored[at+11]))
		if length > len(stored)-at {
			break
		}
		at += length
	}
	return stored[:at]
}

func fetchFrom(ctx context.Context, leader *kgo.Broker, topic string, offset int64, maxBytes int32) ([]byte, error) {
	partition := kmsg.NewFetchRequestTopicPartition()
	partition.FetchOffset = offset
	partition.PartitionMaxBytes = maxBytes
	named := kmsg.NewFetchRequestTopic()
	named.Topic = topic
	named.Partitions = append(named.Partitions, partition)
	request := kmsg.NewPtrFetchRequest()
	request.MaxWaitMillis = 500
	request.MinBytes = 1
	request.MaxBytes = maxBytes
	request.Topics = append(request.Topics, named)
	answer, err := leader.Request(ctx, request)
	if err != nil {
		return nil, err
	}
	response := answer.(*kmsg.FetchResponse)
	if err := kerr.ErrorForCode(response.ErrorCode); err != nil {
		return nil, err
	}
	if len(response.Topics) != 1 || len(response.Topics[0].Partitions) != 1 {
		return nil, errors.New("the broker's Fetch answer is not about the one partition that was asked for")
	}
	found := response.Topics[0].Partitions[0]
	return found.RecordBatches, kerr.ErrorForCode(found.ErrorCode)
}

func isUnknownTopic(err error) bool { return errors.Is(err, kerr.UnknownTopicOrPartition) }
