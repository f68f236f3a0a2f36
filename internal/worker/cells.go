package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"

	"protocolbench/internal/driver"
	"protocolbench/internal/measure"
)

const (
	// maxRequests bounds a batch: its request end times are kept, 8 bytes each.
	maxRequests = 1 << 20
	// maxPlantNs bounds the CPU burnt per request; a canary plants microseconds.
	maxPlantNs = 10_000_000_000
)

func (s *server) sayHello() driver.Hello {
	hello := s.engine.Hello()
	hello.Protocol = driver.ProtocolVersion
	hello.PID = os.Getpid()
	hello.Clock = "process-cputime"
	s.hello = hello
	return hello
}

func (s *server) open(ctx context.Context, open driver.Open) (*driver.Opened, error) {
	if s.hello.Protocol == 0 {
		s.sayHello() // a session may open without a hello; the implemented ranges are needed below
	}
	if err := s.checkOpen(open); err != nil {
		return nil, fmt.Errorf("cannot open cell %d: %w", open.Cell, err)
	}
	cell, opened, err := s.engine.Open(ctx, open)
	if err != nil {
		return nil, fmt.Errorf("cannot open cell %d (%s v%d): %w", open.Cell, open.API, open.Version, err)
	}
	s.cells[open.Cell] = &openCell{Cell: cell, open: open}
	s.meter.reserve(open.MaxRequests)
	return &opened, nil
}

// checkOpen reports every fault of an open at once.
func (s *server) checkOpen(open driver.Open) error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if _, taken := s.cells[open.Cell]; taken {
		fault("it is open already: close it first or take another number")
	}
	if open.Cell < 0 {
		fault("its number is negative: those are the worker's own")
	}
	if open.Tier < 0 || open.Tier > 2 {
		fault("tier %d: there are 0, 1 and 2", open.Tier)
	}
	if open.Tier > 0 && (len(open.Brokers) == 0 || open.Topic == "") {
		fault("tier %d needs brokers and a topic", open.Tier)
	}
	if !slices.Contains([]string{driver.ModeBare, driver.ModeGC, driver.ModeShipped, driver.ModeFraming}, open.Mode) {
		fault("mode %q: there are bare, gc, shipped and framing", open.Mode)
	}
	if open.MaxRequests < 1 || open.MaxRequests > maxRequests {
		fault("maxRequests %d: has to be 1 to %d", open.MaxRequests, maxRequests)
	}
	if err := s.checkVersion(open); err != nil {
		fault("%w", err)
	}
	if err := open.Shape.Validate(); err != nil {
		fault("%w", err)
	}
	return errors.Join(faults...)
}

func (s *server) checkVersion(open driver.Open) error {
	if open.Message != nil {
		return s.checkMessage(open)
	}
	i := slices.IndexFunc(s.hello.Implemented, func(r driver.Range) bool { return r.API == open.API })
	if i < 0 {
		return fmt.Errorf("API %q: this worker has none of that name", open.API)
	}
	implemented := s.hello.Implemented[i]
	if open.Version != driver.Unpinned && (open.Version < int(implemented.Min) || open.Version > int(implemented.Max)) {
		return fmt.Errorf("%s v%d: this client implements v%d to v%d", open.API, open.Version, implemented.Min, implemented.Max)
	}
	return nil
}

func (s *server) checkMessage(open driver.Open) error {
	i := slices.IndexFunc(s.hello.Messages, func(r driver.Range) bool { return r.Key == open.Message.Key })
	switch {
	case open.Tier != 0:
		return fmt.Errorf("a message alone goes with tier 0: tier %d has a broker", open.Tier)
	case open.Message.Direction != driver.DirectionRequest && open.Message.Direction != driver.DirectionResponse:
		return fmt.Errorf("direction %q: there are %s and %s", open.Message.Direction, driver.DirectionRequest, driver.DirectionResponse)
	case i < 0:
		return fmt.Errorf("API key %d: this worker has no messages of it", open.Message.Key)
	case open.Version < int(s.hello.Messages[i].Min) || open.Version > int(s.hello.Messages[i].Max):
		return fmt.Errorf("%s v%d: this client has v%d to v%d", open.API, open.Version, s.hello.Messages[i].Min, s.hello.Messages[i].Max)
	}
	return nil
}

// cell finds an open cell and holds a batch to what the cell was opened for.
func (s *server) cell(batch driver.Batch) (*openCell, error) {
	cell, ok := s.cells[batch.Cell]
	if !ok {
		return nil, fmt.Errorf("cell %d is not open: open it first", batch.Cell)
	}
	if batch.Requests < 1 || batch.Requests > cell.open.MaxRequests {
		return nil, fmt.Errorf("%d requests of cell %d: has to be 1 to the %d that it was opened for", batch.Requests, batch.Cell, cell.open.MaxRequests)
	}
	return cell, nil
}

func (s *server) plant(plant driver.Plant) error {
	cell, ok := s.cells[plant.Cell]
	if !ok {
		return fmt.Errorf("cell %d is not open: open it first", plant.Cell)
	}
	if plant.CPUNsPerRequest < 0 || plant.CPUNsPerRequest > maxPlantNs {
		return fmt.Errorf("cannot burn %d ns per request: has to be 0 to %d", plant.CPUNsPerRequest, int64(maxPlantNs))
	}
	cell.burnSpin = spinsFor(plant.CPUNsPerRequest)
	return nil
}

func (s *server) hash(ctx context.Context, batch driver.Batch) (*driver.Hashed, error) {
	cell, err := s.cell(batch)
	if err != nil {
		return nil, err
	}
	hashed, err := cell.Hash(ctx, batch)
	if err != nil {
		return nil, fmt.Errorf("cell %d, hash: %w", batch.Cell, err)
	}
	return &hashed, nil
}

func (s *server) snapshot() *driver.Snapshot {
	snapshot := driver.Snapshot{Cells: make([]driver.CellSnapshot, 0, len(s.cells)+1)}
	for _, number := range slices.Sorted(maps.Keys(s.cells)) {
		counts := s.cells[number].Snapshot()
		counts.Cell = number
		snapshot.Cells = append(snapshot.Cells, counts)
	}
	checking := s.engine.Checking()
	checking.Cell = -1
	snapshot.Cells = append(snapshot.Cells, checking)

	// What the collection before the last batch found alive. Collecting here would be two in a row without garbage between them: then the
	// runtime takes the heap for too large and gives pages back, and the next batch, the block's first, faulted them in again: it
	// came out half as dear again.
	snapshot.HeapLiveBytes = liveHeap()
	snapshot.PeakRSSBytes = measure.PeakRSSBytes()
	snapshot.Goroutines, snapshot.OpenFiles = runtime.NumGoroutine(), measure.OpenFiles()
	// Last: the parent reads the same clock when the answer comes.
	snapshot.CPUNs = measure.SelfCPUNs()
	return &snapshot
}

func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}

func (s *server) closeCell(number int) error {
	cell, ok := s.cells[number]
	if !ok {
		return fmt.Errorf("cell %d is not open: nothing to close", number)
	}
	delete(s.cells, number) // whatever Close says, the number is free again
	if err := cell.Close(); err != nil {
		return fmt.Errorf("cell %d is closed, with a fault: %w", number, err)
	}
	return nil
}

func (s *server) closeAll() error {
	var faults []error
	for _, number := range slices.Sorted(maps.Keys(s.cells)) {
		faults = append(faults, s.closeCell(number))
	}
	return errors.Join(faults...)
}
