package worker

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"runtime/pprof"
	"time"

	"protocolbench/internal/driver"
)

// profileLimit ends a profile whose batches hardly take any CPU time, or whose clock stands still. The parent waits for twice as long and more.
const profileLimit = 12 * time.Second

// profile runs batches as they are measured, with the CPU profiler on, until they have taken as long as was asked for. It is on between batches, too, since it takes a
// fifth of a second to stop: whoever reads the profile leaves out what is not below run.
//
// The rate is the runtime's 100 per second. A higher one can be set behind its back, and the kernel's clock ticks make it little more on many machines.
func (s *server) profile(ctx context.Context, p driver.Profile) (*driver.Profiled, error) {
	cell, err := s.cell(driver.Batch{Cell: p.Cell, Requests: p.Requests})
	if err != nil {
		return nil, err
	}
	s.collector.on(cell.open.Mode == driver.ModeGC || cell.open.Mode == driver.ModeShipped)
	defer s.collector.on(true)
	var into bytes.Buffer
	if err := pprof.StartCPUProfile(&into); err != nil {
		return nil, fmt.Errorf("cell %d: the CPU profiler can't be started: %w", p.Cell, err)
	}
	profiled, err := s.profiledBatches(ctx, cell, p)
	pprof.StopCPUProfile()
	if err != nil {
		return nil, err
	}
	profiled.Pprof = into.Bytes()
	return profiled, nil
}

func (s *server) profiledBatches(ctx context.Context, cell *openCell, p driver.Profile) (*driver.Profiled, error) {
	profiled := &driver.Profiled{}
	for began, placement := time.Now(), uint64(1); profiled.CPUNs < p.ForNs && time.Since(began) < profileLimit && ctx.Err() == nil; placement++ {
		batch := driver.Batch{Cell: p.Cell, Requests: p.Requests, Placement: placement * 0x9e3779b97f4a7c15}
		if err := cell.Prepare(ctx, batch); err != nil {
			return nil, fmt.Errorf("cell %d, before a profiled batch: %w", p.Cell, err)
		}
		// With the collector on every collection is the version's: its workers run on stacks of their own, and one that is forced can't be told from the others.
		if s.collector.off || placement == 1 {
			runtime.GC()
		}
		if err := s.meter.run(ctx, cell, batch); err != nil {
			return nil, fmt.Errorf("cell %d, in a profiled batch: %w", p.Cell, err)
		}
		batched, err := cell.Finish(ctx)
		if err != nil {
			return nil, fmt.Errorf("cell %d, after a profiled batch: %w", p.Cell, err)
		}
		profiled.Requests += batched.Requests
		profiled.Records += batched.Records
		profiled.CPUNs += s.meter.cpuNs
	}
	return profiled, ctx.Err()
}
