// Package memory is a second engine beside franz-go: a tier 0 client made of internal/codec, so that the protocol's two ends
// are tested without Kafka and the protocol is seen not to have grown around one client.
package memory

import (
	"context"
	"errors"
	"fmt"

	"protocolbench/internal/codec"
	"protocolbench/internal/driver"
	"protocolbench/internal/shape"
	"protocolbench/internal/worker"
)

// Engine decodes (Fetch) and encodes (Produce) records in memory. Fields are for tests.
type Engine struct {
	// AllocsPerRequest are made in Run, to see the steady counters count.
	AllocsPerRequest int
	// PanicOn is an operation that panics: "open", "run".
	PanicOn string
	// FailOn is an operation that fails: "prepare", "run", "finish".
	FailOn string
	// ExtraDone calls done once too often.
	ExtraDone bool
	// Noisy prints to standard output in Run, as client libraries do.
	Noisy bool
	// Block makes Run wait for the end of its context.
	Block bool
}

// Hello says what this engine can.
func (e *Engine) Hello() driver.Hello {
	return driver.Hello{
		Client: "memory", Version: "1", Build: map[string]string{"toolchain": "go"},
		Implemented: []driver.Range{{API: "Produce", Key: 0, Min: 0, Max: 13}, {API: "Fetch", Key: 1, Min: 4, Max: 18}},
		Abilities:   []string{"codec", "plant", "steady", "hash"},
	}
}

// Open makes a cell.
func (e *Engine) Open(_ context.Context, open driver.Open) (worker.Cell, driver.Opened, error) {
	if e.PanicOn == "open" {
		panic("planted in open")
	}
	if open.Tier != 0 {
		return nil, driver.Opened{}, errors.New("this engine knows tier 0 only")
	}
	c := &cell{engine: e, open: open, content: shape.NewContent(open.Shape, open.ContentSeed)}
	return c, driver.Opened{AnswerVersion: open.Version, RecordsPerRequest: open.Shape.RecordsPerRequest()}, nil
}

// Checking has no connections.
func (e *Engine) Checking() driver.CellSnapshot {
	return driver.CellSnapshot{DataSegsIn: -1, DataSegsOut: -1}
}

type cell struct {
	engine  *Engine
	open    driver.Open
	content *shape.Content
	encoded []byte
	out     driver.Batched
	sink    []byte
}

// Prepare lays the response out; for Produce it makes room.
func (c *cell) Prepare(context.Context, driver.Batch) error {
	if c.engine.FailOn == "prepare" {
		return errors.New("planted in prepare")
	}
	c.out = driver.Batched{}
	c.encode()
	return nil
}

func (c *cell) encode() {
	s := c.open.Shape
	c.encoded = c.encoded[:0]
	for first := 0; first < s.RecordsPerRequest(); first += s.RecordsPerBatch {
		c.encoded = codec.AppendBatch(c.encoded, c.content, first, s.RecordsPerBatch, int64(first), c.open.BaseTimestampMs)
	}
}

// Run encodes or decodes the same records for each request.
func (c *cell) Run(ctx context.Context, batch driver.Batch, done func()) error {
	switch {
	case c.engine.PanicOn == "run":
		panic("planted in run")
	case c.engine.FailOn == "run":
		return errors.New("planted in run")
	case c.engine.Block:
		<-ctx.Done()
		return ctx.Err()
	}
	if c.engine.Noisy {
		fmt.Println("a line of the library's own")
	}
	for range batch.Requests {
		if err := c.request(); err != nil {
			return err
		}
		done()
	}
	if c.engine.ExtraDone {
		done()
	}
	return nil
}

func (c *cell) request() error {
	for range c.engine.AllocsPerRequest {
		c.sink = make([]byte, 64)
	}
	c.out.Requests++
	if c.open.API == "Produce" {
		c.encode()
		return nil
	}
	return c.read()
}

func (c *cell) read() error {
	return codec.ReadBatches(c.encoded, c.open.BaseTimestampMs, c.add)
}

func (c *cell) add(r *codec.Read) {
	if c.out.Records == 0 {
		c.out.FirstKey = string(r.Key)
	}
	if c.out.Records%c.open.Shape.RecordsPerRequest() == c.open.Shape.RecordsPerRequest()-1 {
		c.out.LastKey = string(r.Key)
	}
	c.out.Records++
	c.out.Bytes += int64(len(r.Value))
	c.out.ByteSum += uint64(r.Value[0])
}

// Finish gives what came of the batch; what was encoded is read back for it.
func (c *cell) Finish(context.Context) (driver.Batched, error) {
	if c.engine.FailOn == "finish" {
		return driver.Batched{}, errors.New("planted in finish")
	}
	if c.open.API == "Produce" {
		for range c.out.Requests {
			if err := c.read(); err != nil {
				return driver.Batched{}, err
			}
		}
	}
	return c.out, nil
}

// Hash hashes what one request's bytes decode to.
func (c *cell) Hash(_ context.Context, batch driver.Batch) (driver.Hashed, error) {
	c.encode()
	hasher := shape.NewHasher()
	n := 0
	err := codec.ReadBatches(c.encoded, c.open.BaseTimestampMs, func(r *codec.Read) {
		hasher.Add(n, &r.Record)
		n++
	})
	return driver.Hashed{Records: n, Hash: hasher.Sum64(), Requests: 1}, err
}

// Snapshot has no connections to count.
func (c *cell) Snapshot() driver.CellSnapshot {
	return driver.CellSnapshot{DataSegsIn: -1, DataSegsOut: -1}
}

// Close has nothing to close.
func (c *cell) Close() error { return nil }
