package franz

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"protocolbench/internal/driver"
	"protocolbench/internal/shape"
	"protocolbench/internal/wire"
	"protocolbench/internal/worker"
)

// settle is how long a rewound client has before it is timed: its goroutines come to rest.
const settle = 300 * time.Microsecond

// fetchCell drives one long-lived consumer so that exactly k Fetch requests go out and none is in flight afterwards.
//
// franz-go fetches ahead: as soon as a response is polled, the next request leaves. It sends none while a response isn't
// drained, so the last poll takes all records but one (PollRecords(n-1)), and the rewind throws that one away. What was
// rejected: pausing before the last poll (it strips the buffer), a new client per batch (3-20 % dearer), direct kmsg
// requests (they leave out 8-16 % of the client).
type fetchCell struct {
	open       driver.Open
	client     *kgo.Client
	counter    *wire.Counter
	version    int // that the broker's answers have
	perRequest int
	kept       *keptBack

	mark      wire.Mark
	tally     tally
	responses int
	next      int64 // offset expected next
}

// keptBack sees every record that the client has decoded, and so the one that the last poll leaves behind: without it each
// batch would have a record that nobody checked. It costs the call of a one-line method per record, in every version alike.
type keptBack struct{ newest *kgo.Record }

// OnFetchRecordBuffered implements kgo.HookFetchRecordBuffered.
func (k *keptBack) OnFetchRecordBuffered(r *kgo.Record) { k.newest = r }

func openFetch(ctx context.Context, open driver.Open) (worker.Cell, driver.Opened, error) {
	c := &fetchCell{open: open, counter: wire.NewCounter(), kept: &keptBack{}}
	// The client starts to fetch as soon as it is made. Its connections wait until it has been told to pause, which is sure
	// where "pause quickly" would only be likely.
	paused := make(chan struct{})
	dial := dialTCP()
	gated := func(ctx context.Context, network, host string) (net.Conn, error) {
		select {
		case <-paused:
			return dial(ctx, network, host)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	client, err := newClient(c.counter, gated, append(fetching(open), kgo.WithHooks(c.kept))...)
	if err != nil {
		return nil, driver.Opened{}, fmt.Errorf("client for %s: %w", named(open), err)
	}
	c.client = client
	client.PauseFetchTopics(open.Topic)
	close(paused)

	opened, err := c.preflight(ctx)
	if err != nil {
		client.Close()
		return nil, driver.Opened{}, notOpened(c.counter, err)
	}
	return c, opened, nil
}

func (c *fetchCell) preflight(ctx context.Context) (driver.Opened, error) {
	at, err := locate(ctx, c.client, c.open.Topic)
	if err != nil {
		return driver.Opened{}, err
	}
	c.version, c.perRequest, err = askFetch(ctx, c.client, at, c.open)
	if err != nil {
		return driver.Opened{}, err
	}
	return driver.Opened{
		AnswerVersion:     c.version,
		RecordsPerRequest: c.perRequest,
		PreflightRequests: int(c.counter.Count(keyFetch, int16(c.version))),
	}, nil
}

func (c *fetchCell) Prepare(_ context.Context, batch driver.Batch) error {
	if c.perRequest < 2 {
		return fmt.Errorf("a response of %s holds %d records of topic %s: the last poll has to leave one of at least two behind; seed the topic or fetch more bytes",
			named(c.open), c.perRequest, c.open.Topic)
	}
	time.Sleep(settle)
	c.tally = tally{}
	c.responses, c.next = 0, 0
	c.kept.newest = nil
	c.mark = c.counter.Mark(keyFetch, int16(c.version))
	return nil
}

func (c *fetchCell) Run(ctx context.Context, batch driver.Batch, done func()) error {
	return c.drive(ctx, batch.Requests, func(records []*kgo.Record) {
		for _, r := range records {
			c.tally.touch(r)
		}
	}, done)
}

// drive takes k responses. Whatever doesn't carry the preflight's number of records ends it with what came instead.
func (c *fetchCell) drive(ctx context.Context, k int, see func([]*kgo.Record), done func()) error {
	ctx, cancel := context.WithTimeout(ctx, batchLimit)
	defer cancel()
	c.client.ResumeFetchTopics(c.open.Topic)
	err := c.poll(ctx, k, see, done)
	if err != nil {
		// Else a client that waits for what isn't there would go on asking, and be counted by the broker in other cells' time.
		c.client.PauseFetchTopics(c.open.Topic)
	}
	return err
}

func (c *fetchCell) poll(ctx context.Context, k int, see func([]*kgo.Record), done func()) error {
	for i := range k {
		atMost, want := 0, c.perRequest // 0: the whole response
		if i == k-1 {
			atMost, want = c.perRequest-1, c.perRequest-1
		}
		got, err := c.take(c.client.PollRecords(ctx, atMost), see)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return fmt.Errorf("response %d of %d to %s did not come in time: the topic ends at offset %d, the broker is gone, or it answers with errors that the client keeps to itself and asks again",
				i+1, k, named(c.open), c.next)
		case err != nil:
			return fmt.Errorf("response %d of %d to %s: %w", i+1, k, named(c.open), err)
		}
		if got != want {
			return fmt.Errorf("response %d of %d to %s brought %d records up to offset %d, where the preflight's brought %d",
				i+1, k, named(c.open), got, c.next, c.perRequest)
		}
		c.responses++
		done()
	}
	return nil
}

// take hands the records of one poll on and checks that they follow on each other.
func (c *fetchCell) take(fetches kgo.Fetches, see func([]*kgo.Record)) (records int, err error) {
	for i := range fetches {
		for j := range fetches[i].Topics {
			partitions := fetches[i].Topics[j].Partitions
			for p := range partitions {
				if err := partitions[p].Err; err != nil {
					return records, err
				}
				got := partitions[p].Records
				if len(got) == 0 {
					continue
				}
				if first := got[0].Offset; first != c.next {
					return records, fmt.Errorf("it starts at offset %d, expected %d", first, c.next)
				}
				c.next = got[len(got)-1].Offset + 1
				records += len(got)
				see(got)
			}
		}
	}
	return records, nil
}

// rest stops the client and rewinds it at once, which also throws the rest of the last response away (at 1 MiB this cuts a
// batch from 34 to 14 ms of wall time). It gives the one record that was left.
func (c *fetchCell) rest() (*kgo.Record, error) {
	left := c.client.BufferedFetchRecords()
	c.client.PauseFetchTopics(c.open.Topic)
	c.client.SetOffsets(map[string]map[int32]kgo.EpochOffset{c.open.Topic: {0: {Epoch: -1, Offset: 0}}})
	if left != 1 || c.kept.newest == nil || c.kept.newest.Offset != c.next {
		return nil, fmt.Errorf("%d records were left in the client after the last poll of %s, expected one, at offset %d: the last response did not hold %d records",
			left, named(c.open), c.next, c.perRequest)
	}
	last := c.kept.newest
	c.kept.newest = nil
	return last, nil
}

func (c *fetchCell) Finish(context.Context) (driver.Batched, error) {
	last, err := c.rest()
	if err != nil {
		return driver.Batched{}, err
	}
	c.tally.touch(last)
	traffic := c.counter.Since(c.mark)
	b := driver.Batched{
		Requests:     c.responses,
		WireRequests: traffic.Requests, WireBytesIn: traffic.BytesIn, WireBytesOut: traffic.BytesOut,
		MinFrame: traffic.MinFrame, MaxFrame: traffic.MaxFrame,
		StartOffset: 0, EndOffset: last.Offset + 1,
	}
	c.tally.fill(&b)
	return b, nil
}

func (c *fetchCell) Hash(ctx context.Context, batch driver.Batch) (driver.Hashed, error) {
	if err := c.Prepare(ctx, batch); err != nil {
		return driver.Hashed{}, err
	}
	hasher := shape.NewHasher()
	n := 0
	add := func(r *kgo.Record) {
		hasher.Add(n, shaped(r, c.open.BaseTimestampMs))
		n++
	}
	err := c.drive(ctx, batch.Requests, func(records []*kgo.Record) {
		for _, r := range records {
			add(r)
		}
	}, func() {})
	if err != nil {
		return driver.Hashed{}, err
	}
	last, err := c.rest()
	if err != nil {
		return driver.Hashed{}, err
	}
	add(last)
	return driver.Hashed{Records: n, Hash: hasher.Sum64(), Requests: batch.Requests}, nil
}

func (c *fetchCell) Snapshot() driver.CellSnapshot { return c.counter.Snapshot(c.open.Cell) }

func (c *fetchCell) Close() error {
	c.client.Close()
	return nil
}
