package franz

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"protocolbench/internal/driver"
	"protocolbench/internal/wire"
	"protocolbench/internal/worker"
	"protocolbench/seed"
)

// message is what kmsg's requests and responses have in common.
type message interface {
	GetVersion() int16
	SetVersion(int16)
	AppendTo([]byte) []byte
	ReadFrom([]byte) error
}

// messageCell is one message of tier 0 that carries no records: a request that is encoded, or a response that is decoded, by the code that the client itself runs. The client puts a
// header before a request, which has nothing to do with the API; it is left out.
type messageCell struct {
	open         driver.Open
	arena, body  []byte
	room, buffer []byte // of an encoded request

	encoded message // a request, read from the bytes that were handed over
	decoded message // the last response
	ran     int
	moved   int64 // bytes, since open
}

// messageRanges are all that the client's message package can write and read, whether or not the client itself uses them.
func messageRanges() []driver.Range {
	var list []driver.Range
	for key := int16(0); key <= kmsg.MaxKey; key++ {
		if request := kmsg.RequestForKey(key); request != nil {
			list = append(list, driver.Range{API: kmsg.NameForKey(key), Key: key, Max: request.MaxVersion()})
		}
	}
	return list
}

func openMessage(open driver.Open) (worker.Cell, driver.Opened, error) {
	fail := func(err error) (worker.Cell, driver.Opened, error) { return nil, driver.Opened{}, err }
	if open.MaxRequests < 1 {
		return fail(fmt.Errorf("maxRequests is %d: a cell has to be able to code one message", open.MaxRequests))
	}
	if open.Mode != driver.ModeBare && open.Mode != driver.ModeGC {
		return fail(fmt.Errorf("mode %q: a message alone has %s and %s", open.Mode, driver.ModeBare, driver.ModeGC))
	}
	size := len(open.Message.Bytes)
	c := &messageCell{open: open, arena: make([]byte, size+slack), room: make([]byte, size+slack)}
	c.lay(0)
	read, err := c.read()
	if err != nil {
		return fail(err)
	}
	// What it writes of it is compared by the parent, batch by batch: bytes that differ are a finding about the client, and no reason not to open.
	return c, driver.Opened{AnswerVersion: int(read.GetVersion()), RecordsPerRequest: open.Shape.RecordsPerRequest()}, nil
}

// lay puts the bytes, and the room for those that will be encoded, where a batch's placement says.
func (c *messageCell) lay(placement uint64) {
	draw := seed.SplitMix64(placement)
	size := len(c.open.Message.Bytes)
	c.body = c.arena[draw.Next()%slack:][:size]
	copy(c.body, c.open.Message.Bytes)
	at := draw.Next() % slack
	c.buffer = c.room[at : at : at+uint64(size)]
}

func (c *messageCell) blank() message {
	var made message
	if c.open.Message.Direction == driver.DirectionRequest {
		made = kmsg.RequestForKey(c.open.Message.Key)
	} else {
		made = kmsg.ResponseForKey(c.open.Message.Key)
	}
	made.SetVersion(int16(c.open.Version))
	return made
}

func (c *messageCell) read() (message, error) {
	made := c.blank()
	if err := made.ReadFrom(c.body); err != nil {
		return nil, fmt.Errorf("%s: the client can't read the message: %w", named(c.open), err)
	}
	return made, nil
}

// Prepare makes a request anew, so that where its parts lie is drawn again, too.
func (c *messageCell) Prepare(_ context.Context, batch driver.Batch) (err error) {
	c.lay(batch.Placement)
	c.ran, c.decoded = 0, nil
	if c.open.Message.Direction == driver.DirectionRequest {
		c.encoded, err = c.read()
	}
	return err
}

func (c *messageCell) Run(_ context.Context, batch driver.Batch, done func()) error {
	for range batch.Requests {
		if c.encoded != nil {
			c.buffer = c.encoded.AppendTo(c.buffer[:0])
		} else {
			read, err := c.read()
			if err != nil {
				return err
			}
			c.decoded = read
		}
		c.ran++
		done()
	}
	return nil
}

// written is what the client writes of the last message: what it encoded, or what it makes of what it decoded.
func (c *messageCell) written() (body []byte, version int16, err error) {
	switch {
	case c.encoded != nil:
		return c.buffer, c.encoded.GetVersion(), nil
	case c.decoded != nil:
		return c.decoded.AppendTo(nil), c.decoded.GetVersion(), nil
	}
	return nil, 0, errors.New("no message was coded")
}

// Finish says what the batch carried: length, sum of bytes and hash of the last message stand for all, which are coded from the same bytes.
func (c *messageCell) Finish(context.Context) (driver.Batched, error) {
	body, version, err := c.written()
	if err != nil {
		return driver.Batched{}, err
	}
	b := driver.Batched{Requests: c.ran, Records: c.ran * c.open.Shape.RecordsPerRequest(), Bytes: int64(c.ran) * int64(len(body)), WireBytesIn: int64(c.ran) * int64(len(body)),
		FirstKey: fmt.Sprintf("%s v%d", c.open.API, version), LastKey: fmt.Sprintf("%016x", hashOf(body))}
	for _, one := range body {
		b.ByteSum += uint64(one)
	}
	b.ByteSum *= uint64(c.ran)
	c.moved += b.Bytes
	return b, nil
}

func hashOf(body []byte) uint64 {
	h := fnv.New64a()
	h.Write(body)
	return h.Sum64()
}

// Hash is that of one message.
func (c *messageCell) Hash(ctx context.Context, batch driver.Batch) (driver.Hashed, error) {
	batch.Requests = 1
	if err := c.Prepare(ctx, batch); err != nil {
		return driver.Hashed{}, err
	}
	if err := c.Run(ctx, batch, func() {}); err != nil {
		return driver.Hashed{}, err
	}
	body, _, err := c.written()
	if err != nil {
		return driver.Hashed{}, err
	}
	c.moved += int64(len(body))
	return driver.Hashed{Records: c.open.Shape.RecordsPerRequest(), Hash: hashOf(body), Requests: 1}, nil
}

func (c *messageCell) Snapshot() driver.CellSnapshot {
	snapshot := wire.NewCounter().Snapshot(c.open.Cell) // no connections
	snapshot.BytesIn = c.moved
	return snapshot
}

func (c *messageCell) Close() error { return nil }
