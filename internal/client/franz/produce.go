package franz

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/twmb/franz-go/pkg/kgo"

	"protocolbench/internal/driver"
	"protocolbench/internal/shape"
	"protocolbench/internal/wire"
	"protocolbench/internal/worker"
)

// producer is what live Produce and tier 0's encoding have in common: k times n records handed over and one flush, one
// request in flight.
type producer struct {
	open       driver.Open
	engine     *Engine
	client     *kgo.Client
	counter    *wire.Counter
	version    int
	perRequest int
	payload    *payload
	stride     int // from one request's first record to the next one's; 0 where all carry the same
	// yields is how often Run steps aside after a request (comesToRest).
	yields int
	stages stages // of tier 0

	mark   wire.Mark
	tally  tally
	sent   int
	failed error
	// promise is made once: a closure per record would be one allocation more than the client's own.
	promise func(*kgo.Record, error)
}

func (p *producer) init() {
	p.promise = func(r *kgo.Record, err error) {
		if err != nil {
			if p.failed == nil {
				p.failed = err
			}
			return
		}
		p.tally.touch(r)
	}
}

// byPartition makes the first key that of partition 0 and the last that of the last partition: the broker answers partitions in an order of its own, and
// promises are kept in that order.
func (p *producer) byPartition(last int32) {
	whole := p.promise
	p.promise = func(r *kgo.Record, err error) {
		first, newest, begun := p.tally.first, p.tally.last, p.tally.begun
		whole(r, err)
		if err != nil {
			return
		}
		switch r.Partition {
		case 0:
			if !begun {
				first = r.Key
			}
			p.tally.begun = true
		case last:
			newest = r.Key
		}
		p.tally.first, p.tally.last = first, newest
	}
}

func (p *producer) prepare(batch driver.Batch) {
	p.payload.lay(batch.Placement, p.perRequest+(batch.Requests-1)*p.stride)
	p.tally, p.sent, p.failed = tally{}, 0, nil
	p.mark = p.counter.Mark(keyProduce, int16(p.version))
}

func (p *producer) Run(ctx context.Context, batch driver.Batch, done func()) error {
	ctx, cancel := context.WithTimeout(ctx, batchLimit)
	defer cancel()
	for i := range batch.Requests {
		records := p.payload.records[i*p.stride:][:p.perRequest]
		p.stages.begin()
		for j := range records {
			p.client.Produce(context.Background(), &records[j], p.promise)
		}
		p.stages.handed()
		if err := p.client.Flush(ctx); err != nil {
			return fmt.Errorf("request %d of %d of %s did not finish within %v: %w", i+1, batch.Requests, named(p.open), batchLimit, err)
		}
		if errors.Is(p.failed, kgo.ErrRecordRetries) {
			return fmt.Errorf("request %d of %d of %s failed: its connection broke or the broker answered with an error, and nothing is sent twice here (%w)",
				i+1, batch.Requests, named(p.open), p.failed)
		}
		if p.failed != nil {
			return fmt.Errorf("request %d of %d of %s: %w", i+1, batch.Requests, named(p.open), p.failed)
		}
		if want := (i + 1) * p.perRequest; p.tally.records != want {
			return fmt.Errorf("request %d of %d of %s: %d promises were kept so far, expected %d", i+1, batch.Requests, named(p.open), p.tally.records, want)
		}
		comesToRest(p.yields)
		p.sent++
		done()
	}
	return nil
}

// comesToRest lets the client's goroutines run until they block. A flush of many partitions wakes franz-go's drain loop once per
// partition while it works, so the loop goes round once more after the answer; should it come late, it would send off the next
// request's first partitions by themselves. With one P, stepping aside behind everything runnable is what "waiting until it
// is idle" comes to; several times, since a goroutine that was made runnable meanwhile stands behind us.
func comesToRest(yields int) {
	for range yields {
		runtime.Gosched()
	}
}

func (p *producer) batched() driver.Batched {
	traffic := p.counter.Since(p.mark)
	b := driver.Batched{
		Requests:     p.sent,
		WireRequests: traffic.Requests, WireBytesIn: traffic.BytesIn, WireBytesOut: traffic.BytesOut,
		MinFrame: traffic.MinFrame, MaxFrame: traffic.MaxFrame,
	}
	p.tally.fill(&b)
	return b
}

func (p *producer) Snapshot() driver.CellSnapshot { return p.counter.Snapshot(p.open.Cell) }

func (p *producer) Close() error {
	p.client.Close()
	p.engine.payloads.giveBack(p.payload.key)
	return nil
}

// produceCell sends to a real broker.
type produceCell struct {
	producer
	checker    *checker
	start, end int64
}

func (e *Engine) openProduce(ctx context.Context, open driver.Open) (worker.Cell, driver.Opened, error) {
	fail := func(err error) (worker.Cell, driver.Opened, error) { return nil, driver.Opened{}, err }
	checker, err := e.checking(open.Brokers)
	if err != nil {
		return fail(err)
	}
	c := &produceCell{checker: checker}
	c.producer = producer{open: open, engine: e, counter: wire.NewCounter(), perRequest: open.Shape.RecordsPerRequest()}
	c.stride = c.perRequest
	c.init()
	if open.Shape.Partitions > 1 {
		c.yields = 4
		c.byPartition(int32(open.Shape.Partitions - 1))
	}
	if c.client, err = newClient(c.counter, dialTCP(), producing(open, open.Brokers...)...); err != nil {
		return fail(fmt.Errorf("client for %s: %w", named(open), err))
	}
	if c.version, err = c.preflight(ctx); err != nil {
		c.client.Close()
		return fail(notOpened(c.counter, err))
	}
	key := payloadKey{open.Shape, open.ContentSeed, open.BaseTimestampMs, open.Topic, open.MaxRequests}
	c.payload = e.payloadFor(key, open.MaxRequests*c.perRequest, func(i int) destination {
		return destination{open.Topic, int32(i / open.Shape.RecordsPerBatch % open.Shape.Partitions)}
	})
	return c, driver.Opened{
		AnswerVersion:     c.version,
		RecordsPerRequest: c.perRequest,
		PreflightRequests: int(c.counter.Count(keyProduce, int16(c.version))),
	}, nil
}

// preflight asks over the cell's own client. One without acknowledgements can't: it rewrites every Produce request to its own acks
// and would take silence for an answer. There a sibling asks that differs in acks alone, through the same counter.
func (c *produceCell) preflight(ctx context.Context) (version int, err error) {
	client := c.client
	if c.open.Shape.RequiredAcks == 0 {
		sibling := c.open
		sibling.Shape.RequiredAcks = -1
		if client, err = newClient(c.counter, dialTCP(), producing(sibling, c.open.Brokers...)...); err != nil {
			return 0, fmt.Errorf("preflight client for %s: %w", named(c.open), err)
		}
		defer client.Close()
	}
	at, err := locate(ctx, client, c.open.Topic)
	if err != nil {
		return 0, err
	}
	return askProduce(ctx, client, at.leader, c.open)
}

func (c *produceCell) Prepare(ctx context.Context, batch driver.Batch) (err error) {
	if c.start, err = c.checker.end(ctx, c.open.Topic); err != nil {
		return err
	}
	c.prepare(batch)
	return nil
}

// Finish reads the end of the log, which for acks 0 is the barrier: until it has been reached, "sent" means nothing.
func (c *produceCell) Finish(ctx context.Context) (b driver.Batched, err error) {
	if c.open.Shape.RequiredAcks == 0 {
		c.end, err = c.checker.await(ctx, c.open.Topic, c.start+int64(c.sent*c.perRequest))
	} else {
		c.end, err = c.checker.end(ctx, c.open.Topic)
	}
	if err != nil {
		return driver.Batched{}, err
	}
	b = c.batched()
	b.StartOffset, b.EndOffset = c.start, c.end
	return b, nil
}

// Hash sends a batch outside the clock and hashes what it handed over; what was stored the parent reads back itself.
func (c *produceCell) Hash(ctx context.Context, batch driver.Batch) (driver.Hashed, error) {
	if err := c.Prepare(ctx, batch); err != nil {
		return driver.Hashed{}, err
	}
	hasher := shape.NewHasher()
	records := c.payload.records[:batch.Requests*c.perRequest]
	for i := range records {
		hasher.Add(i, shaped(&records[i], c.open.BaseTimestampMs))
	}
	if err := c.Run(ctx, batch, func() {}); err != nil {
		return driver.Hashed{}, err
	}
	if _, err := c.Finish(ctx); err != nil {
		return driver.Hashed{}, err
	}
	return driver.Hashed{Records: len(records), Hash: hasher.Sum64(), Requests: batch.Requests}, nil
}
