// Package faulty has clients that are wrong in one way each: what `protocolbench selftest` plants to see whether a guard objects. Each wraps a right client behind the
// seam that every worker has (worker.Engine, or the lines of the driver protocol), so that what is guarded is measured, counted and recorded by the ordinary code.
package faulty

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"protocolbench/internal/driver"
	"protocolbench/internal/worker"
)

// BuildKey is where a faulty worker's hello says which fault it has: it stands in the record of whatever is measured with it.
const BuildKey = "fault"

// fault is one way of being wrong. Nil functions change nothing.
type fault struct {
	name string
	// open changes what the client is opened with; the parent believes that it got what it asked for.
	open func(asked *driver.Open)
	// times is how many requests of the client stand for one of the parent's; 0: one.
	times int
	// run is called in the timed part, after each request of a cell that wrong picks.
	run func()
	// finish changes what a batch of such a cell is said to have done.
	finish func(s *driver.Batched, asked driver.Open)
	// frames are said to have left beside the pinned API's, after so many batches.
	frames func(batches int64) driver.Frames
	// answered changes what opening such a cell is said to have shown, counted what is said to have left on its connections.
	answered func(o *driver.Opened, asked driver.Open)
	counted  func(s *driver.CellSnapshot, asked driver.Open)
	// wrong picks the cells; nil: all.
	wrong func(driver.Open) bool
	// request and answer change lines of the protocol.
	request func(*driver.Request)
	answer  func(*driver.Response)
}

// Names lists the faults, sorted. One that ends in "=" takes a cell's number.
func Names() []string {
	var names []string
	for _, f := range faults(0) {
		names = append(names, f.name)
	}
	slices.Sort(names)
	return names
}

func find(name string) (fault, error) {
	base, number, numbered := strings.Cut(name, "=")
	cell := -1
	if numbered {
		var err error
		if cell, err = strconv.Atoi(number); err != nil {
			return fault{}, fmt.Errorf("fault %q: what follows the equal sign is no cell's number", name)
		}
		base += "="
	}
	for _, f := range faults(cell) {
		if f.name == base {
			f.name = name
			return f, nil
		}
	}
	return fault{}, fmt.Errorf("unknown fault %q; there are %s", name, strings.Join(Names(), ", "))
}

// Serve is worker.Serve around a client with a fault.
func Serve(ctx context.Context, in io.Reader, out io.Writer, client worker.Engine, name string) error {
	f, err := find(name)
	if err != nil {
		return err
	}
	if f.request != nil {
		in = &requests{from: in, change: f.request}
	}
	if f.answer != nil {
		out = &answers{to: out, change: f.answer}
	}
	return worker.Serve(ctx, in, out, &engine{client, f})
}

type engine struct {
	worker.Engine
	fault fault
}

func (e *engine) Hello() driver.Hello {
	hello := e.Engine.Hello()
	if hello.Build == nil {
		hello.Build = map[string]string{}
	}
	hello.Build[BuildKey] = e.fault.name
	return hello
}

func (e *engine) Open(ctx context.Context, asked driver.Open) (worker.Cell, driver.Opened, error) {
	wrong := e.fault.wrong == nil || e.fault.wrong(asked)
	got := asked
	if wrong && e.fault.open != nil {
		e.fault.open(&got)
	}
	times := 1
	if wrong {
		times = max(1, e.fault.times)
	}
	got.MaxRequests *= times
	inner, opened, err := e.Engine.Open(ctx, got)
	if err != nil || !wrong {
		return inner, opened, err
	}
	opened.RecordsPerRequest *= times
	if e.fault.answered != nil {
		e.fault.answered(&opened, asked)
	}
	return &cell{Cell: inner, asked: asked, fault: e.fault, times: times}, opened, nil
}

// cell is a client's cell with the fault.
type cell struct {
	worker.Cell
	asked driver.Open
	fault fault
	times int
	// batches so far.
	batches int64
}

func (c *cell) more(b driver.Batch) driver.Batch {
	b.Requests *= c.times
	return b
}

func (c *cell) Prepare(ctx context.Context, b driver.Batch) error {
	return c.Cell.Prepare(ctx, c.more(b))
}

func (c *cell) Run(ctx context.Context, b driver.Batch, done func()) error {
	n := 0
	c.batches++
	return c.Cell.Run(ctx, c.more(b), func() {
		if n++; n%c.times != 0 {
			return
		}
		if c.fault.run != nil {
			c.fault.run()
		}
		done()
	})
}

func (c *cell) Finish(ctx context.Context) (driver.Batched, error) {
	b, err := c.Cell.Finish(ctx)
	b.Requests /= c.times
	if err == nil && c.fault.finish != nil {
		c.fault.finish(&b, c.asked)
	}
	return b, err
}

func (c *cell) Hash(ctx context.Context, b driver.Batch) (driver.Hashed, error) {
	return c.Cell.Hash(ctx, c.more(b))
}

func (c *cell) Snapshot() driver.CellSnapshot {
	s := c.Cell.Snapshot()
	if c.fault.frames != nil {
		s.Frames = append(s.Frames, c.fault.frames(c.batches))
	}
	if c.fault.counted != nil {
		c.fault.counted(&s, c.asked)
	}
	return s
}
