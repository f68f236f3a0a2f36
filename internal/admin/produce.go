package admin

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"protocolbench/internal/codec"
	"protocolbench/internal/shape"
)

const (
	// produceVersion is what 1.1.0 knows best (it ends at 5) and 4.x still takes (it begins at 3).
	produceVersion = 5
	// inFlight requests hide the round trip: 5,000 batches in about a second.
	inFlight = 64
)

// Fill appends batches record batches of recordsPerBatch records each to a topic, record i of content at offset i of what is appended.
// Every batch is a request of its own: a Produce request carries one batch per partition since version 3, and a client's producer would
// choose batches as it likes. The end offset is checked.
func (a *Admin) Fill(ctx context.Context, topic string, content *shape.Content, recordsPerBatch, batches int, baseTimestampMs int64) error {
	return a.FillFrom(ctx, topic, content, 0, recordsPerBatch, batches, baseTimestampMs)
}

// FillFrom is Fill that begins with another record of content than its first: what lies before it the topic lacks.
func (a *Admin) FillFrom(ctx context.Context, topic string, content *shape.Content, first, recordsPerBatch, batches int, baseTimestampMs int64) error {
	_, before, err := a.Offsets(ctx, topic)
	if err != nil {
		return err
	}
	c, err := a.dialLeader(ctx, topic)
	if err != nil {
		return err
	}
	defer c.close()
	if err := c.fill(topic, content, first, recordsPerBatch, batches, baseTimestampMs, before); err != nil {
		return fmt.Errorf("cannot fill topic %s: %w", topic, errors.Join(err, ctx.Err()))
	}
	_, after, err := a.Offsets(ctx, topic)
	if err != nil {
		return err
	}
	if want := before + int64(recordsPerBatch)*int64(batches); after != want {
		return fmt.Errorf("topic %s ends at offset %d after %d batches of %d records from %d on, not at %d", topic, after, batches, recordsPerBatch, before, want)
	}
	return nil
}

func (c *conn) fill(topic string, content *shape.Content, first, recordsPerBatch, batches int, baseTimestampMs, firstOffset int64) error {
	slots := make(chan struct{}, inFlight)
	sending := make(chan error, 1)
	stop := make(chan struct{})
	go func() {
		sending <- c.sendBatches(topic, content, first, recordsPerBatch, batches, baseTimestampMs, slots, stop)
	}()
	var failed error
	for i := 0; i < batches && failed == nil; i++ {
		failed = c.receiveProduced(firstOffset + int64(i)*int64(recordsPerBatch))
		<-slots
	}
	if failed != nil {
		close(stop)
		_ = c.net.Close() // a writer in a full socket
		return errors.Join(failed, <-sending)
	}
	return <-sending
}

func (c *conn) sendBatches(topic string, content *shape.Content, first, recordsPerBatch, batches int, baseTimestampMs int64, slots chan<- struct{}, stop <-chan struct{}) error {
	var frame, records []byte
	for i := range batches {
		select {
		case slots <- struct{}{}:
		case <-stop:
			return nil
		}
		records = codec.AppendBatch(records[:0], content, first+i*recordsPerBatch, recordsPerBatch, 0, baseTimestampMs)
		var err error
		if frame, err = c.send(frame, produceRequest(topic, records)); err != nil {
			_ = c.net.Close() // so that the receiver ends, too
			return err
		}
	}
	return nil
}

func produceRequest(topic string, records []byte) *kmsg.ProduceRequest {
	request := kmsg.NewPtrProduceRequest()
	request.Version, request.Acks, request.TimeoutMillis = produceVersion, 1, 15000
	request.Topics = []kmsg.ProduceRequestTopic{{
		Topic:      topic,
		Partitions: []kmsg.ProduceRequestTopicPartition{{Partition: partition, Records: records}},
	}}
	return request
}

func (c *conn) receiveProduced(wantOffset int64) error {
	response := kmsg.NewPtrProduceResponse()
	response.Version = produceVersion
	if err := c.receive(response); err != nil {
		return err
	}
	if len(response.Topics) != 1 || len(response.Topics[0].Partitions) != 1 {
		return errors.New("the broker's answer to Produce has not one partition")
	}
	p := response.Topics[0].Partitions[0]
	if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
		return err
	}
	if p.BaseOffset != wantOffset {
		return fmt.Errorf("the broker stored a batch at offset %d, not %d: somebody else writes to this topic", p.BaseOffset, wantOffset)
	}
	return c.throttled("Produce", response.ThrottleMillis)
}
