package franz

import (
	"context"
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"protocolbench/internal/bank"
	"protocolbench/internal/codec"
	"protocolbench/internal/driver"
	"protocolbench/internal/shape"
	"protocolbench/internal/wire"
	"protocolbench/internal/worker"
)

// memoryAddress is the broker that lives inside this process.
const memoryAddress = "memory:9092"

// encodeCell is tier 0's Produce: the real client, whose encode path is not exported, over a connection that answers in
// the same call. Every request carries the same records.
type encodeCell struct {
	producer
	broker *memoryBroker
}

func (e *Engine) openEncode(ctx context.Context, open driver.Open) (worker.Cell, driver.Opened, error) {
	fail := func(err error) (worker.Cell, driver.Opened, error) { return nil, driver.Opened{}, err }
	c := &encodeCell{broker: newMemoryBroker(open.Shape)}
	c.producer = producer{open: open, engine: e, counter: wire.NewCounter(), perRequest: open.Shape.RecordsPerRequest()}
	if open.Shape.Topics*open.Shape.Partitions > 1 {
		c.yields = 4
	}
	c.init()
	c.broker.written = c.stages.written
	var err error
	if c.client, err = newClient(c.counter, c.broker.dial, producing(open, memoryAddress)...); err != nil {
		return fail(fmt.Errorf("client for %s: %w", named(open), err))
	}
	key := payloadKey{open.Shape, open.ContentSeed, open.BaseTimestampMs, "", 1}
	c.payload = e.payloadFor(key, c.perRequest, func(i int) destination {
		partition := i / open.Shape.RecordsPerBatch
		return destination{bank.TopicName(open.Shape, partition/open.Shape.Partitions), int32(partition % open.Shape.Partitions)}
	})
	if open.Shape.Transactional {
		if err := c.client.BeginTransaction(); err != nil {
			c.Close()
			return fail(fmt.Errorf("beginning the transaction of %s: %w", named(open), err))
		}
	}
	if err := c.preflight(ctx); err != nil {
		c.Close()
		return fail(err)
	}
	// What it puts on the wire is read back once. Whether that are all the records is for the guards to say, of each version (see decodeCell.start).
	if _, err := c.Hash(ctx, driver.Batch{Cell: open.Cell, Requests: 1}); err != nil {
		c.Close()
		return fail(err)
	}
	return c, driver.Opened{
		AnswerVersion:     c.version,
		RecordsPerRequest: c.perRequest,
		PreflightRequests: int(c.counter.Count(keyProduce, int16(c.version))),
	}, nil
}

// preflight asks once directly, for the client's own word, and then sends until everything goes out in one frame: topics
// that the client doesn't know yet are learnt one by one and leave in pieces.
func (c *encodeCell) preflight(ctx context.Context) (err error) {
	at, err := locate(ctx, c.client, bank.TopicName(c.open.Shape, 0))
	if err != nil {
		return err
	}
	if c.version, err = askProduce(ctx, c.client, at.leader, c.open); err != nil {
		return err
	}
	const tries = 3
	frames := 0
	for try := range tries {
		one := driver.Batch{Cell: c.open.Cell, Requests: 1, Placement: uint64(try)}
		c.prepare(one)
		if err := c.Run(ctx, one, func() {}); err != nil {
			return err
		}
		if frames = c.batched().WireRequests; frames == 1 && try > 0 {
			return nil
		}
	}
	return fmt.Errorf("the client puts one flush of shape %s into %d requests, %d times over: tier 0 needs exactly one", c.open.Shape.Name, frames, tries)
}

func (c *encodeCell) Prepare(_ context.Context, batch driver.Batch) error {
	c.prepare(batch)
	return nil
}

func (c *encodeCell) Finish(context.Context) (driver.Batched, error) { return c.batched(), nil }

// Hash is of what was really written: the last request's bytes, read from the connection and decoded again.
func (c *encodeCell) Hash(ctx context.Context, batch driver.Batch) (driver.Hashed, error) {
	one := driver.Batch{Cell: batch.Cell, Requests: 1, Placement: batch.Placement}
	c.prepare(one)
	frame, err := c.broker.captured(func() error { return c.Run(ctx, one, func() {}) })
	if err != nil {
		return driver.Hashed{}, err
	}
	hasher, n, err := c.hashFrame(frame)
	if err != nil {
		return driver.Hashed{}, fmt.Errorf("the request that %s put on the wire: %w", named(c.open), err)
	}
	return driver.Hashed{Records: n, Hash: hasher.Sum64(), Requests: 1}, nil
}

func quoted(id *string) string {
	if id == nil {
		return "null"
	}
	return strconv.Quote(*id)
}

// readBack reads a partition's record batch. As shipped, how it is compressed is the client's choice; in all other modes the shape's.
func (c *encodeCell) readBack(batches []byte, visit func(*codec.Read)) error {
	return codec.Scan(batches, func(b *codec.Stored) error {
		asked := bank.CompressionNumber(c.open.Shape.Compression)
		if c.open.Shape.Transactional {
			asked |= codec.Transactional
		}
		if c.open.Mode != driver.ModeShipped && int(b.Attributes) != asked {
			return fmt.Errorf("attributes %#x where the compression %d was asked for, and transactional is %t", b.Attributes, asked&codec.CompressionMask, c.open.Shape.Transactional)
		}
		records, err := bank.Decompress(b.Compressed(), b.Records)
		if err != nil {
			return err
		}
		return b.Visit(records, c.open.BaseTimestampMs, visit)
	})
}

func (c *encodeCell) hashFrame(frame []byte) (*shape.Hasher, int, error) {
	request, err := readRequest(frame)
	if err != nil {
		return nil, 0, err
	}
	req, ok := request.message.(*kmsg.ProduceRequest)
	if !ok || int(req.Version) != c.open.Version {
		return nil, 0, fmt.Errorf("it is %s v%d", kmsg.NameForKey(request.key), request.version)
	}
	if id := req.TransactionID; c.open.Shape.Transactional != (id != nil && *id == transactionalID) {
		return nil, 0, fmt.Errorf("transactional is %t, and its transactional id is %s", c.open.Shape.Transactional, quoted(id))
	}
	// The client orders topics and partitions as it likes; the hash goes by the content's order.
	batches := map[destination][]byte{}
	for i := range req.Topics {
		topic := &req.Topics[i]
		name := topic.Topic
		if req.Version >= 13 {
			name = c.broker.names[producedTo(topic)]
		}
		for j := range topic.Partitions {
			batches[destination{name, topic.Partitions[j].Partition}] = topic.Partitions[j].Records
		}
	}
	hasher := shape.NewHasher()
	n := 0
	for t := range c.open.Shape.Topics {
		for p := range c.open.Shape.Partitions {
			at := destination{bank.TopicName(c.open.Shape, t), int32(p)}
			err := c.readBack(batches[at], func(r *codec.Read) {
				hasher.Add(n, &r.Record)
				n++
			})
			if err != nil {
				return nil, 0, fmt.Errorf("topic %s, partition %d: %w", at.topic, at.partition, err)
			}
			delete(batches, at)
		}
	}
	if len(batches) > 0 {
		return nil, 0, fmt.Errorf("it has %d partitions that nothing was sent to", len(batches))
	}
	return hasher, n, nil
}
