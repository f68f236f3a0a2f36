package worker

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"protocolbench/internal/cpuprofile"
	"protocolbench/internal/driver"
)

// liveCell keeps memory that a collection has to walk, and allocates nothing in what is timed.
type liveCell struct {
	live []*node
	sink uint64
}

type node [7]*uint64

func (c *liveCell) Prepare(context.Context, driver.Batch) error { return nil }

//go:noinline
func (c *liveCell) work() {
	for i := range uint64(2_000_000) {
		c.sink = c.sink*31 + i
	}
}

func (c *liveCell) Run(_ context.Context, batch driver.Batch, done func()) error {
	for range batch.Requests {
		c.work()
		done()
	}
	return nil
}

func (c *liveCell) Finish(context.Context) (driver.Batched, error) {
	return driver.Batched{Requests: 4, Records: 4}, nil
}
func (c *liveCell) Hash(context.Context, driver.Batch) (driver.Hashed, error) {
	return driver.Hashed{}, nil
}
func (c *liveCell) Snapshot() driver.CellSnapshot { return driver.CellSnapshot{} }
func (c *liveCell) Close() error                  { return nil }

// No collection of the worker's own is in a profile, in any mode: what is timed here is one loop.
func TestProfileHasNoForcedCollections(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED with -short: the race detector's own code is most of a profile")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, mode := range []string{driver.ModeBare, driver.ModeGC} {
		cell := &liveCell{}
		for range 20 << 20 / 56 {
			cell.live = append(cell.live, &node{})
		}
		s := newServer(nil)
		s.cells[0] = &openCell{Cell: cell, open: driver.Open{Mode: mode, MaxRequests: 16}}
		s.meter.reserve(16)
		p, err := s.profile(context.Background(), driver.Profile{Cell: 0, Requests: 4, ForNs: int64(600 * time.Millisecond)})
		if err != nil {
			t.Fatal(err)
		}
		merged, err := cpuprofile.Merge([][]byte{p.Pprof}, mode == driver.ModeGC)
		if err != nil {
			t.Fatal(err)
		}
		side := cpuprofile.Side{Profile: merged, Units: p.Requests, CPUNs: p.CPUNs}
		var work, all float64
		for _, l := range cpuprofile.Lines(side, side) {
			all += l.FlatNs
			if strings.HasSuffix(l.Function, "(*liveCell).work") {
				work = l.WholeNs
			}
		}
		if p.Requests < 4 || p.Requests%4 != 0 || p.Records != p.Requests || work < 0.8*all {
			t.Errorf("%s: %d requests, and the loop has %.0f of %.0f ns a request", mode, p.Requests, work, all)
		}
		runtime.KeepAlive(cell)
	}
}
