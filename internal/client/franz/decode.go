package franz

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"protocolbench/internal/codec"
	"protocolbench/internal/driver"
	"protocolbench/internal/shape"
	"protocolbench/internal/wire"
	"protocolbench/internal/worker"
	"protocolbench/seed"
)

// decodeCell is tier 0's Fetch: the client's decode path over a response that is already in memory. The same exported
// functions are what the client itself runs on what it has read from a socket.
type decodeCell struct {
	open         driver.Open
	master       []byte // the response body
	arena, body  []byte
	decompressor kgo.Decompressor
	names        map[[16]byte]string // from v13 on a client finds the name by id

	tally     tally
	responses int
	framed    *kmsg.FetchResponse // the last one that was read without its records
	decoded   int64               // bytes, since open
}

func openDecode(open driver.Open) (worker.Cell, driver.Opened, error) {
	content := shape.NewContent(open.Shape, open.ContentSeed)
	master, err := codec.Response(open.Version, open.Shape, content, open.BaseTimestampMs)
	if err != nil {
		return nil, driver.Opened{}, err
	}
	c := &decodeCell{open: open, master: master, arena: make([]byte, len(master)+slack),
		decompressor: kgo.DefaultDecompressor(), names: map[[16]byte]string{}}
	for t := range open.Shape.Topics {
		c.names[codec.TopicID(t)] = codec.TopicName(t)
	}
	c.body = c.master
	records := 0
	version, err := c.decode(func(got []*kgo.Record) { records += len(got) })
	if err != nil {
		return nil, driver.Opened{}, err
	}
	if want := open.Shape.RecordsPerRequest(); records != want {
		return nil, driver.Opened{}, fmt.Errorf("%s: the client decodes %d of the response's %d records", named(open), records, want)
	}
	return c, driver.Opened{AnswerVersion: version, RecordsPerRequest: records}, nil
}

func (c *decodeCell) Prepare(_ context.Context, batch driver.Batch) error {
	draw := seed.SplitMix64(batch.Placement)
	c.body = c.arena[draw.Next()%slack:][:len(c.master)]
	copy(c.body, c.master)
	c.tally, c.responses = tally{}, 0
	return nil
}

func (c *decodeCell) Run(_ context.Context, batch driver.Batch, done func()) error {
	see := func(records []*kgo.Record) {
		for _, r := range records {
			c.tally.touch(r)
		}
	}
	if c.open.Mode == driver.ModeFraming {
		return c.frames(batch.Requests, done)
	}
	for range batch.Requests {
		if _, err := c.decode(see); err != nil {
			return err
		}
		c.responses++
		done()
	}
	return nil
}

// frames reads responses and leaves their records alone. What is in them is looked at in Finish, after the clock has stopped.
func (c *decodeCell) frames(requests int, done func()) error {
	for range requests {
		resp, err := c.read()
		if err != nil {
			return err
		}
		c.framed = resp
		c.responses++
		done()
	}
	return nil
}

// read is the frame of one response through the client's code.
func (c *decodeCell) read() (*kmsg.FetchResponse, error) {
	resp := kmsg.NewPtrFetchResponse()
	resp.SetVersion(int16(c.open.Version))
	if err := resp.ReadFrom(c.body); err != nil {
		return nil, fmt.Errorf("%s: the client can't read the response: %w", named(c.open), err)
	}
	return resp, nil
}

// decode is one response through the client's code.
func (c *decodeCell) decode(see func([]*kgo.Record)) (version int, err error) {
	resp, err := c.read()
	if err != nil {
		return 0, err
	}
	return c.records(resp, see)
}

// records decodes the records of a response that was read.
func (c *decodeCell) records(resp *kmsg.FetchResponse, see func([]*kgo.Record)) (version int, err error) {
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return 0, fmt.Errorf("%s: the client reads an error: %w", named(c.open), err)
	}
	for i := range resp.Topics {
		topic := &resp.Topics[i]
		name := topic.Topic
		if c.open.Version >= 13 {
			name = c.names[topic.TopicID]
		}
		for j := range topic.Partitions {
			opts := kgo.ProcessFetchPartitionOpts{Topic: name, Partition: topic.Partitions[j].Partition}
			p, _ := kgo.ProcessFetchPartition(opts, &topic.Partitions[j], c.decompressor, nil)
			if p.Err != nil {
				return 0, fmt.Errorf("%s: topic %s, partition %d: %w", named(c.open), name, p.Partition, p.Err)
			}
			see(p.Records)
		}
	}
	return int(resp.GetVersion()), nil
}

// Finish has no wire to report: its bytes in are those of the responses decoded, its frames none.
func (c *decodeCell) Finish(context.Context) (driver.Batched, error) {
	if c.open.Mode == driver.ModeFraming {
		if err := c.lookInto(c.framed); err != nil {
			return driver.Batched{}, err
		}
	}
	bytes := int64(c.responses) * int64(len(c.master))
	c.decoded += bytes
	b := driver.Batched{Requests: c.responses, WireBytesIn: bytes}
	c.tally.fill(&b)
	return b, nil
}

// lookInto counts what is in the last response that was framed, once for each: all of them are read from the same bytes.
func (c *decodeCell) lookInto(last *kmsg.FetchResponse) error {
	if last == nil {
		return nil
	}
	_, err := c.records(last, func(records []*kgo.Record) {
		for _, r := range records {
			c.tally.touch(r)
		}
	})
	c.tally.repeat(c.responses)
	c.framed = nil
	return err
}

// Hash covers the records of one response: all of a batch's are the same.
func (c *decodeCell) Hash(ctx context.Context, batch driver.Batch) (driver.Hashed, error) {
	if err := c.Prepare(ctx, batch); err != nil {
		return driver.Hashed{}, err
	}
	hasher := shape.NewHasher()
	n := 0
	_, err := c.decode(func(records []*kgo.Record) {
		for _, r := range records {
			hasher.Add(n, shaped(r, c.open.BaseTimestampMs))
			n++
		}
	})
	if err != nil {
		return driver.Hashed{}, err
	}
	c.decoded += int64(len(c.master))
	return driver.Hashed{Records: n, Hash: hasher.Sum64(), Requests: 1}, nil
}

func (c *decodeCell) Snapshot() driver.CellSnapshot {
	snapshot := wire.NewCounter().Snapshot(c.open.Cell) // no connections: no frames, no segment counter
	snapshot.BytesIn = c.decoded
	return snapshot
}

func (c *decodeCell) Close() error { return nil }
