package franz

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"protocolbench/internal/bank"
	"protocolbench/internal/driver"
	"protocolbench/internal/wire"
	"protocolbench/internal/worker"
)

// deliverCell is tier 0's Fetch through the client's own connection: the response comes in reads of a given length, and what the client makes of
// those pieces is in the measurement. One that keeps them, or moves what it has with each, shows here and in no decoding of a whole response.
//
// A direct request and not a poll: it goes through the connection's reading that every response goes through, brings exactly one response, and what follows is the
// decode path of the other families, so that their difference is the delivery. A poll would have buffering, sessions and a request that is sent ahead beside it; tier 1
// has those.
type deliverCell struct {
	decoder
	engine    *Engine
	client    *kgo.Client
	counter   *wire.Counter
	mark      wire.Mark
	responses *responses
	request   *kmsg.FetchRequest
	version   int
	answered  int
}

func (e *Engine) openDeliver(ctx context.Context, open driver.Open) (worker.Cell, driver.Opened, error) {
	c := &deliverCell{decoder: newDecoder(open), engine: e, counter: wire.NewCounter(), responses: e.responsesFor(open), request: fetchAll(open)}
	opened, err := c.start(ctx)
	if err != nil {
		c.Close()
		return nil, driver.Opened{}, err
	}
	return c, opened, nil
}

// fetchAll asks for everything that the shape's response has.
func fetchAll(open driver.Open) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.MinBytes, req.MaxBytes = 1, responseBytes
	req.SessionEpoch = -1
	if open.Shape.Aborted > 0 {
		req.IsolationLevel = 1
	}
	for t := range open.Shape.Topics {
		topic := kmsg.NewFetchRequestTopic()
		topic.Topic, topic.TopicID = bank.TopicName(open.Shape, t), bank.TopicID(t)
		for p := range open.Shape.Partitions {
			partition := kmsg.NewFetchRequestTopicPartition()
			partition.Partition, partition.PartitionMaxBytes = int32(p), responseBytes
			topic.Partitions = append(topic.Partitions, partition)
		}
		req.Topics = append(req.Topics, topic)
	}
	return req
}

// start connects, and decodes a first response. What comes out of it is for the guards to say (see decodeCell).
func (c *deliverCell) start(ctx context.Context) (driver.Opened, error) {
	body, err := c.responses.Body(c.open.Version)
	if err != nil {
		return driver.Opened{}, err
	}
	if len(body) > responseBytes {
		return driver.Opened{}, fmt.Errorf("shape %s: a response of %d bytes is more than a client takes (%d)", c.open.Shape.Name, len(body), responseBytes)
	}
	broker := newMemoryBroker(c.open.Shape)
	broker.fetched = c.responses.Body
	if c.client, err = newClient(c.counter, broker.dial, ordinary(c.open, memoryAddress)...); err != nil {
		return driver.Opened{}, fmt.Errorf("client for %s: %w", named(c.open), err)
	}
	// Topics are asked for, so that the client has met its broker; then two responses, since the first one brings the connection with it.
	at, err := locate(ctx, c.client, bank.TopicName(c.open.Shape, 0))
	if err != nil {
		return driver.Opened{}, err
	}
	for range 2 {
		answer, err := ask(ctx, c.client, at.leader, c.open, c.request)
		if err != nil {
			return driver.Opened{}, err
		}
		version, err := held(c.open, answer)
		if err != nil {
			return driver.Opened{}, err
		}
		if _, err := c.hash(answer.(*kmsg.FetchResponse)); err != nil {
			return driver.Opened{}, err
		}
		c.version = version
	}
	return driver.Opened{AnswerVersion: c.version, RecordsPerRequest: c.open.Shape.RecordsPerRequest(),
		PreflightRequests: int(c.counter.Count(keyFetch, int16(c.version)))}, nil
}

func (c *deliverCell) Prepare(context.Context, driver.Batch) error {
	c.tally, c.answered = tally{}, 0
	c.mark = c.counter.Mark(keyFetch, int16(c.version))
	return nil
}

func (c *deliverCell) Run(ctx context.Context, batch driver.Batch, done func()) error {
	ctx, cancel := context.WithTimeout(ctx, batchLimit)
	defer cancel()
	for i := range batch.Requests {
		resp, err := c.fetch(ctx)
		if err != nil {
			return fmt.Errorf("request %d of %d: %w", i+1, batch.Requests, err)
		}
		if err := c.records(resp, c.touch); err != nil {
			return err
		}
		c.answered++
		done()
	}
	return nil
}

func (c *deliverCell) fetch(ctx context.Context) (*kmsg.FetchResponse, error) {
	answer, err := c.client.Broker(memoryNode).Request(ctx, c.request)
	if err != nil {
		return nil, fmt.Errorf("%s over the connection in memory: %w", named(c.open), err)
	}
	return answer.(*kmsg.FetchResponse), nil
}

func (c *deliverCell) Finish(context.Context) (driver.Batched, error) {
	traffic := c.counter.Since(c.mark)
	b := driver.Batched{Requests: c.answered,
		WireRequests: traffic.Requests, WireBytesIn: traffic.BytesIn, WireBytesOut: traffic.BytesOut, MinFrame: traffic.MinFrame, MaxFrame: traffic.MaxFrame}
	c.tally.fill(&b)
	return b, nil
}

func (c *deliverCell) Hash(ctx context.Context, batch driver.Batch) (driver.Hashed, error) {
	if err := c.Prepare(ctx, batch); err != nil {
		return driver.Hashed{}, err
	}
	resp, err := c.fetch(ctx)
	if err != nil {
		return driver.Hashed{}, err
	}
	return c.hash(resp)
}

func (c *deliverCell) Snapshot() driver.CellSnapshot { return c.counter.Snapshot(c.open.Cell) }

func (c *deliverCell) Close() error {
	if c.client != nil {
		c.client.Close()
	}
	c.engine.banks.giveBack(c.responses.key)
	return nil
}
