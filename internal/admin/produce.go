package admin

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"protocolbench/internal/bank"
	"protocolbench/internal/codec"
	"protocolbench/internal/shape"
)

const (
	// produceVersion is what 1.1.0 knows best (it ends at 5) and 4.x still takes (it begins at 3).
	produceVersion = 5
	// zstdVersion is the first that may carry zstd: a broker which has such topics knows it.
	zstdVersion = bank.ZstdProduce
	// inFlight requests hide the round trip: 5,000 batches in about a second.
	inFlight = 64
)

// Fill appends batches record batches of recordsPerBatch records each to a topic, record i of content at offset i of what is appended.
// Every batch is a request of its own: a Produce request carries one batch per partition since version 3, and a client's producer would
// choose batches as it likes. The end offset is checked.
func (a *Admin) Fill(ctx context.Context, topic string, content *shape.Content, recordsPerBatch, batches int, baseTimestampMs int64) error {
	return a.FillFrom(ctx, topic, content, 0, recordsPerBatch, batches, baseTimestampMs)
}

// FillCompressed is Fill whose batches are compressed by this program's own compressor.
func (a *Admin) FillCompressed(ctx context.Context, topic string, content *shape.Content, recordsPerBatch, batches int, baseTimestampMs int64, compression string) error {
	return a.fillFrom(ctx, topic, content, 0, recordsPerBatch, batches, baseTimestampMs, compression)
}

// FillFrom is Fill that begins with another record of content than its first: what lies before it the topic lacks.
func (a *Admin) FillFrom(ctx context.Context, topic string, content *shape.Content, first, recordsPerBatch, batches int, baseTimestampMs int64) error {
	return a.fillFrom(ctx, topic, content, first, recordsPerBatch, batches, baseTimestampMs, "")
}

func (a *Admin) fillFrom(ctx context.Context, topic string, content *shape.Content, first, recordsPerBatch, batches int, baseTimestampMs int64, compression string) error {
	_, before, err := a.Offsets(ctx, topic)
	if err != nil {
		return err
	}
	c, err := a.dialLeader(ctx, topic)
	if err != nil {
		return err
	}
	defer c.close()
	if err := c.fill(topic, content, first, recordsPerBatch, batches, baseTimestampMs, before, compression); err != nil {
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

func (c *conn) fill(topic string, content *shape.Content, first, recordsPerBatch, batches int, baseTimestampMs, firstOffset int64, compression string) error {
	slots := make(chan struct{}, inFlight)
	sending := make(chan error, 1)
	stop := make(chan struct{})
	go func() {
		sending <- c.sendBatches(topic, content, first, recordsPerBatch, batches, baseTimestampMs, compression, slots, stop)
	}()
	var failed error
	for i := 0; i < batches && failed == nil; i++ {
		failed = c.receiveProduced(firstOffset+int64(i)*int64(recordsPerBatch), versionFor(compression))
		<-slots
	}
	if failed != nil {
		close(stop)
		_ = c.net.Close() // a writer in a full socket
		return errors.Join(failed, <-sending)
	}
	return <-sending
}

func (c *conn) sendBatches(topic string, content *shape.Content, first, recordsPerBatch, batches int, baseTimestampMs int64, compression string, slots chan<- struct{}, stop <-chan struct{}) error {
	var frame, records []byte
	number, compress := bank.CompressionNumber(compression), bank.Compressor(compression)
	for i := range batches {
		select {
		case slots <- struct{}{}:
		case <-stop:
			return nil
		}
		records = codec.Append(records[:0], content, codec.Batch{First: first + i*recordsPerBatch, Count: recordsPerBatch, BaseTimestampMs: baseTimestampMs,
			LeaderEpoch: -1, ProducerID: -1, Attributes: uint16(number), Compress: compress})
		var err error
		if frame, err = c.send(frame, produceRequest(topic, records, versionFor(compression))); err != nil {
			_ = c.net.Close() // so that the receiver ends, too
			return err
		}
	}
	return nil
}

func versionFor(compression string) int16 {
	if compression == shape.CompressionZstd {
		return zstdVersion
	}
	return produceVersion
}

func produceRequest(topic string, records []byte, version int16) *kmsg.ProduceRequest {
	request := kmsg.NewPtrProduceRequest()
	request.Version, request.Acks, request.TimeoutMillis = version, 1, 15000
	request.Topics = []kmsg.ProduceRequestTopic{{
		Topic:      topic,
		Partitions: []kmsg.ProduceRequestTopicPartition{{Partition: partition, Records: records}},
	}}
	return request
}

func (c *conn) receiveProduced(wantOffset int64, version int16) error {
	response := kmsg.NewPtrProduceResponse()
	response.Version = version
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
