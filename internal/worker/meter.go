package worker

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"time"

	"protocolbench/internal/driver"
	"protocolbench/internal/measure"
)

const defaultGCPercent = 100

// collector switches the garbage collector only where its state changes. Between bare batches it stays off: each begins with a
// forced collection anyway, and with the heap goal out of reach the scavenger gives no pages back that the next batch would
// have to fault in again.
type collector struct{ off bool }

func (c *collector) on(on bool) {
	if on != c.off {
		return
	}
	c.off = !on
	percent := defaultGCPercent
	if c.off {
		percent = -1
	}
	debug.SetGCPercent(percent)
}

// meter measures one batch at a time. Everything it needs in the timed region is allocated before.
type meter struct {
	start time.Time
	ends  []time.Duration // since start, one per request
	count int             // requests that ended; may pass len(ends)
	// took has the requests' own times, sorted after the batch.
	took []time.Duration
	burn burn   // of the cell at work
	sink uint64 // keeps the burn from being optimised away
	done func() // one closure for all cells: the same code path with and without a plant

	cpuNs, wallNs          int64
	voluntary, involuntary int64
	cycles                 uint64
	heapLiveBytes          uint64 // at the forced collection before the batch
	sample                 []metrics.Sample
}

func newMeter() *meter {
	m := &meter{sample: []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}}
	m.done = func() {
		// Every cell comes this way, with no iterations where nothing is planted. The burn stands before the reading: it
		// belongs to the request that it follows.
		m.sink = spin(m.sink, m.burn.due(m.count+1 == len(m.ends)))
		if m.count < len(m.ends) {
			m.ends[m.count] = time.Since(m.start)
		}
		m.count++
	}
	return m
}

// reserve makes room for a batch of that many requests.
func (m *meter) reserve(requests int) {
	if requests > cap(m.ends) {
		m.ends = make([]time.Duration, requests)
		m.took = make([]time.Duration, requests)
	}
}

// run is the timed part of a batch and nothing else: switches and collections are read outside the CPU clock.
func (m *meter) run(ctx context.Context, cell *openCell, batch driver.Batch) error {
	m.ends = m.ends[:batch.Requests]
	m.count, m.burn = 0, burn{each: cell.burnSpin}
	voluntary, involuntary := measure.Switches()
	cycles := m.gcCycles()
	m.start = time.Now()
	cpu := measure.SelfCPUNs()
	err := cell.Run(ctx, batch, m.done)
	m.cpuNs = measure.SelfCPUNs() - cpu
	m.wallNs = int64(time.Since(m.start))
	m.cycles = m.gcCycles() - cycles
	m.voluntary, m.involuntary = measure.Switches()
	m.voluntary -= voluntary
	m.involuntary -= involuntary
	if err == nil && m.count != batch.Requests {
		err = fmt.Errorf("the engine ended %d requests where %d were asked: its figures mean nothing", m.count, batch.Requests)
	}
	return err
}

func (m *meter) gcCycles() uint64 {
	metrics.Read(m.sample)
	if m.sample[0].Value.Kind() != metrics.KindUint64 {
		return 0 // a toolchain without this metric; the worker's build names the toolchain
	}
	return m.sample[0].Value.Uint64()
}

// fill puts the times into what the engine said of the batch.
func (m *meter) fill(b *driver.Batched) {
	b.CPUNs, b.WallNs = m.cpuNs, m.wallNs
	b.GCCycles = int(m.cycles)
	b.VoluntarySwitches, b.InvoluntarySwitches = m.voluntary, m.involuntary
	// The batch starts on a request boundary, so its start counts as an end.
	took := m.took[:0]
	last := time.Duration(0)
	for _, end := range m.ends {
		took = append(took, end-last)
		last = end
	}
	slices.Sort(took)
	b.RequestP50Ns = int64(nearestRank(took, 50))
	b.RequestP99Ns = int64(nearestRank(took, 99))
	b.LongestGapNs = int64(took[len(took)-1])
}

// nearestRank is the smallest value with at least that share of the values at or below it: always one that happened.
func nearestRank(sorted []time.Duration, percent int) time.Duration {
	return sorted[(len(sorted)*percent+99)/100-1]
}

// batch runs one batch as METHOD.md section 2 says.
func (s *server) batch(ctx context.Context, batch driver.Batch) (*driver.Batched, error) {
	cell, err := s.cell(batch)
	if err != nil {
		return nil, err
	}
	s.collector.on(cell.open.Mode == driver.ModeGC || cell.open.Mode == driver.ModeShipped)
	if err := cell.Prepare(ctx, batch); err != nil {
		return nil, fmt.Errorf("cell %d, before the batch: %w", batch.Cell, err)
	}
	runtime.GC()
	s.meter.heapLiveBytes = liveHeap() // here, since a cycle within the batch (mode gc) would overwrite it
	if err := s.meter.run(ctx, cell, batch); err != nil {
		return nil, fmt.Errorf("cell %d, in the batch: %w", batch.Cell, err)
	}
	batched, err := cell.Finish(ctx)
	if err != nil {
		return nil, fmt.Errorf("cell %d, after the batch: %w", batch.Cell, err)
	}
	s.meter.fill(&batched)
	batched.HeapLiveBytes = s.meter.heapLiveBytes
	return &batched, nil
}

// steady counts allocations where pools are full: a forced collection empties them (with zstd 800,360 against 34 bytes per
// operation), so there is none, and a first batch fills them. The collector is off for both, in every mode: a cycle in
// between would empty them again.
//
// The counters are read right around Run, so Prepare and Finish are not in them. The meter allocates nothing in there, and neither
// do ReadMemStats and the clocks, so nothing is taken off.
func (s *server) steady(ctx context.Context, batch driver.Batch) (*driver.Steadied, error) {
	cell, err := s.cell(batch)
	if err != nil {
		return nil, err
	}
	s.collector.on(false)
	defer s.collector.on(true)
	var before, after runtime.MemStats
	var batched driver.Batched
	for range 2 {
		if err := cell.Prepare(ctx, batch); err != nil {
			return nil, fmt.Errorf("cell %d, before the steady batch: %w", batch.Cell, err)
		}
		runtime.ReadMemStats(&before)
		err := s.meter.run(ctx, cell, batch)
		runtime.ReadMemStats(&after)
		if err != nil {
			return nil, fmt.Errorf("cell %d, in the steady batch: %w", batch.Cell, err)
		}
		if batched, err = cell.Finish(ctx); err != nil {
			return nil, fmt.Errorf("cell %d, after the steady batch: %w", batch.Cell, err)
		}
	}
	steadied := &driver.Steadied{
		Requests: batched.Requests, Records: batched.Records,
		Allocs: after.Mallocs - before.Mallocs, AllocBytes: after.TotalAlloc - before.TotalAlloc,
	}
	return steadied, s.stage(ctx, cell, batch, steadied)
}

// stage is a pass of its own: reading a clock twice a request is no part of what is counted.
func (s *server) stage(ctx context.Context, cell *openCell, batch driver.Batch, into *driver.Steadied) error {
	staged, ok := cell.Cell.(Staged)
	if !ok {
		return nil
	}
	if err := cell.Prepare(ctx, batch); err != nil {
		return fmt.Errorf("cell %d, before the staged batch: %w", batch.Cell, err)
	}
	staged.Stage(true)
	before := measure.SelfCPUNs()
	err := s.meter.run(ctx, cell, batch)
	into.StagedNs = measure.SelfCPUNs() - before
	staged.Stage(false)
	if err == nil {
		_, err = cell.Finish(ctx)
	}
	if err != nil {
		return fmt.Errorf("cell %d, in the staged batch: %w", batch.Cell, err)
	}
	into.BufferNs, into.EncodeNs = staged.Stages()
	return nil
}
