package franz

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"protocolbench/internal/driver"
	"protocolbench/internal/wire"
	"protocolbench/internal/worker"
)

// decodeCell is tier 0's Fetch: the client's decode path over a response that is already in memory. The same exported
// functions are what the client itself runs on what it has read from a socket.
type decodeCell struct {
	decoder
	engine       *Engine
	responses    *responses
	master, body []byte // the response as it was made, and where it lies in this batch

	answered int
	framed   *kmsg.FetchResponse // the last one that was read without its records
	decoded  int64               // bytes, since open
}

func (e *Engine) openDecode(open driver.Open) (worker.Cell, driver.Opened, error) {
	c := &decodeCell{decoder: newDecoder(open), engine: e, responses: e.responsesFor(open)}
	opened, err := c.start()
	if err != nil {
		c.Close()
		return nil, driver.Opened{}, err
	}
	return c, opened, nil
}

// start makes the response, and decodes it once. What the client makes of it is not judged here: the bank's own reader has been held to every record, and what this client
// delivers is for the guards to say, of each version by itself. An error would take the family's other versions with it, and name no guard.
func (c *decodeCell) start() (driver.Opened, error) {
	var err error
	if c.master, err = c.responses.Body(c.open.Version); err != nil {
		return driver.Opened{}, err
	}
	c.responses.reserve(len(c.master))
	c.body = c.responses.lay(c.master, 0) // a copy: a client that writes into what it decodes must not change what all cells of the version have
	resp, err := c.read(c.body)
	if err != nil {
		return driver.Opened{}, err
	}
	_, err = c.hash(resp)
	return driver.Opened{AnswerVersion: int(resp.GetVersion()), RecordsPerRequest: c.open.Shape.RecordsPerRequest()}, err
}

func (c *decodeCell) Prepare(_ context.Context, batch driver.Batch) error {
	c.body = c.responses.lay(c.master, batch.Placement)
	c.tally, c.answered = tally{}, 0
	return nil
}

func (c *decodeCell) Run(_ context.Context, batch driver.Batch, done func()) error {
	if c.open.Mode == driver.ModeFraming {
		return c.frames(batch.Requests, done)
	}
	for range batch.Requests {
		resp, err := c.read(c.body)
		if err != nil {
			return err
		}
		if err := c.records(resp, c.touch); err != nil {
			return err
		}
		c.answered++
		done()
	}
	return nil
}

// frames reads responses and leaves their records alone. What is in them is looked at in Finish, after the clock has stopped.
func (c *decodeCell) frames(requests int, done func()) error {
	for range requests {
		resp, err := c.read(c.body)
		if err != nil {
			return err
		}
		c.framed = resp
		c.answered++
		done()
	}
	return nil
}

// Finish has no wire to report: its bytes in are those of the responses decoded, its frames none.
func (c *decodeCell) Finish(context.Context) (driver.Batched, error) {
	if c.open.Mode == driver.ModeFraming {
		if err := c.lookInto(c.framed); err != nil {
			return driver.Batched{}, err
		}
	}
	bytes := int64(c.answered) * int64(len(c.master))
	c.decoded += bytes
	b := driver.Batched{Requests: c.answered, WireBytesIn: bytes}
	c.tally.fill(&b)
	return b, nil
}

// lookInto counts what is in the last response that was framed, once for each: all of them are read from the same bytes.
func (c *decodeCell) lookInto(last *kmsg.FetchResponse) error {
	if last == nil {
		return nil
	}
	err := c.records(last, c.touch)
	c.tally.repeat(c.answered)
	c.framed = nil
	return err
}

// Hash covers the records of one response: all of a batch's are the same.
func (c *decodeCell) Hash(ctx context.Context, batch driver.Batch) (driver.Hashed, error) {
	if err := c.Prepare(ctx, batch); err != nil {
		return driver.Hashed{}, err
	}
	resp, err := c.read(c.body)
	if err != nil {
		return driver.Hashed{}, err
	}
	c.decoded += int64(len(c.master))
	return c.hash(resp)
}

func (c *decodeCell) Snapshot() driver.CellSnapshot {
	snapshot := wire.NewCounter().Snapshot(c.open.Cell) // no connections: no frames, no segment counter
	snapshot.BytesIn = c.decoded
	return snapshot
}

func (c *decodeCell) Close() error {
	c.engine.banks.giveBack(c.responses.key)
	return nil
}
