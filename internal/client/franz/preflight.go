package franz

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"protocolbench/internal/driver"
	"protocolbench/internal/wire"
	"protocolbench/internal/worker"
)

// place is where a topic lives: all its partitions with one leader, since a client sends each leader a request of its own.
type place struct {
	topic      string
	id         [16]byte
	leader     int32
	partitions int
}

// locate asks for a topic's id and leader, over the client's own connection.
func locate(ctx context.Context, client *kgo.Client, topic string) (place, error) {
	ctx, cancel := context.WithTimeout(ctx, preflightLimit)
	defer cancel()
	req := kmsg.NewPtrMetadataRequest()
	asked := kmsg.NewMetadataRequestTopic()
	asked.Topic = &topic
	req.Topics = append(req.Topics, asked)
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return place{}, fmt.Errorf("asking for topic %s: %w", topic, err)
	}
	for i := range resp.Topics {
		t := &resp.Topics[i]
		if t.Topic == nil || *t.Topic != topic {
			continue
		}
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return place{}, fmt.Errorf("topic %s: %w", topic, err)
		}
		at := place{topic: topic, id: t.TopicID, leader: -1, partitions: len(t.Partitions)}
		for j := range t.Partitions {
			p := &t.Partitions[j]
			if p.Leader < 0 {
				return place{}, fmt.Errorf("topic %s: partition %d has no leader", topic, p.Partition)
			}
			if at.leader >= 0 && p.Leader != at.leader {
				return place{}, fmt.Errorf("topic %s: broker %d leads partition %d and broker %d another one: requests of one batch would go to several brokers", topic, p.Leader, p.Partition, at.leader)
			}
			at.leader = p.Leader
		}
		if at.partitions == 0 {
			return place{}, fmt.Errorf("topic %s has no partitions", topic)
		}
		return at, nil
	}
	return place{}, fmt.Errorf("topic %s: the broker's metadata leaves it out", topic)
}

// ask sends one direct request. That is the only way to learn at once whether a pin holds: the client's own loops try again for ever,
// in silence.
func ask(ctx context.Context, client *kgo.Client, leader int32, open driver.Open, req kmsg.Request) (kmsg.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, preflightLimit)
	defer cancel()
	resp, err := client.Broker(int(leader)).Request(ctx, req)
	if err == nil {
		return resp, nil
	}
	label := named(open)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("the broker advertises %s but did not answer it within %v", label, preflightLimit)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		// Without the client's own error: its guess that SASL is missing can't be right, since this connection has got its ApiVersions.
		return nil, fmt.Errorf("the broker advertises %s but closes the connection on it", label)
	default:
		return nil, fmt.Errorf("%s can't be spoken with this broker: %w", label, err)
	}
}

// notOpened says what had left when a cell could not be opened: whether its pin held is seen there, and not in the client's words.
func notOpened(counter *wire.Counter, err error) error {
	return &worker.NotOpened{Sent: counter.Snapshot(0).Frames, Cause: err}
}

// named is the pin in words.
func named(open driver.Open) string {
	if open.Version == driver.Unpinned {
		return open.API
	}
	return fmt.Sprintf("%s v%d", open.API, open.Version)
}

// askProduce sends a Produce request without topics: the broker parses and answers it, and stores nothing.
func askProduce(ctx context.Context, client *kgo.Client, leader int32, open driver.Open) (version int, err error) {
	req := kmsg.NewPtrProduceRequest()
	req.Acks = -1
	req.TimeoutMillis = int32(preflightLimit.Milliseconds())
	resp, err := ask(ctx, client, leader, open, req)
	if err != nil {
		return 0, err
	}
	return held(open, resp)
}

// askFetch fetches once from offset 0 with the shape's limits and counts what came.
func askFetch(ctx context.Context, client *kgo.Client, at place, open driver.Open) (version, records int, err error) {
	limit := int32(open.Shape.FetchBytes)
	if limit == 0 {
		limit = 1 << 20
	}
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis = 10 // the topic may be empty
	req.MinBytes = 1
	req.MaxBytes = limit
	req.SessionEpoch = -1
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic, topic.TopicID = at.topic, at.id
	partition := kmsg.NewFetchRequestTopicPartition()
	partition.PartitionMaxBytes = limit
	topic.Partitions = append(topic.Partitions, partition)
	req.Topics = append(req.Topics, topic)

	answer, err := ask(ctx, client, at.leader, open, req)
	if err != nil {
		return 0, 0, err
	}
	if version, err = held(open, answer); err != nil {
		return 0, 0, err
	}
	resp := answer.(*kmsg.FetchResponse)
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return 0, 0, fmt.Errorf("%s of topic %s: %w", named(open), at.topic, err)
	}
	for i := range resp.Topics {
		for j := range resp.Topics[i].Partitions {
			opts := kgo.ProcessFetchPartitionOpts{Topic: at.topic}
			p, _ := kgo.ProcessFetchPartition(opts, &resp.Topics[i].Partitions[j], kgo.DefaultDecompressor(), nil)
			if p.Err != nil {
				return 0, 0, fmt.Errorf("%s of topic %s: %w", named(open), at.topic, p.Err)
			}
			records += len(p.Records)
		}
	}
	return version, records, nil
}

// held checks the client's own word about the version of an answer.
func held(open driver.Open, resp kmsg.Response) (int, error) {
	version := int(resp.GetVersion())
	if open.Version != driver.Unpinned && version != open.Version {
		return 0, fmt.Errorf("%s was pinned, the client says that it spoke v%d", named(open), version)
	}
	return version, nil
}
