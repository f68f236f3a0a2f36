package worker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"protocolbench/internal/driver"
	"protocolbench/internal/shape"
)

const (
	// settleTime is how long a cell is left alone to see whether it does something by itself. A client that has a fetch in
	// flight has sent it by then.
	settleTime = 200 * time.Millisecond
	// countsTime is how long the broker's counters may lag behind: a long poll counts when it ends.
	countsTime = 10 * time.Second
	countsStep = 50 * time.Millisecond
)

// checkCell opens a cell and runs it; it leaves it open, as a real run does. It tells whether the cell is open.
func (c *conformance) checkCell(ctx context.Context, t cellTest) bool {
	opened, err := c.p.Open(ctx, t.open)
	if c.broke(RuleOpen, wrap(t, err)) {
		return false
	}
	ownVersion := slices.Contains(c.p.Hello().Abilities, "own-version")
	if opened.AnswerVersion != t.open.Version && (ownVersion || opened.AnswerVersion != driver.Unpinned) {
		c.fail(RulePin, "%s: by the client's own word the preflight's answer had version %d", t.name(), opened.AnswerVersion)
	}
	fixed := t.open.Shape.RecordsPerRequest()
	if opened.RecordsPerRequest < 1 || opened.RecordsPerRequest != fixed && !(t.live && t.open.API == "Fetch") {
		c.fail(RuleRecords, "%s: %d records per request, the shape has %d", t.name(), opened.RecordsPerRequest, fixed)
		return true
	}
	// N and N again: a client that carries something over from one batch to the next has other counts in the second.
	for _, requests := range []int{conformRequests, conformRequests, 1} {
		if !c.checkBatch(ctx, t, opened, requests) {
			return true
		}
	}
	if c.checkQuiet(ctx, t); c.stopped {
		return true
	}
	c.checkHash(ctx, t, opened)
	c.checkProfile(ctx, t)
	return true
}

func wrap(t cellTest, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", t.name(), err)
}

// checkBatch runs one batch and holds every count that anybody has of it against the number asked. False: nothing more can be
// learnt from this cell.
func (c *conformance) checkBatch(ctx context.Context, t cellTest, opened driver.Opened, requests int) bool {
	before, err := c.observe(ctx, t)
	if c.broke(RuleRecords, wrap(t, err)) {
		return false
	}
	b, err := c.p.Batch(ctx, driver.Batch{Cell: t.open.Cell, Requests: requests, Placement: uint64(requests)})
	if c.broke(RuleRecords, wrap(t, err)) {
		return false
	}
	after, err := c.observe(ctx, t)
	if c.broke(RuleRecords, wrap(t, err)) {
		return false
	}
	c.checkRecords(t, opened, requests, b)
	c.checkHeap(t, b, after.snapshot)
	if t.live {
		c.checkOffsets(t, opened, requests, b, after.end-before.end)
		c.checkFrames(t, requests, b, before.snapshot, after.snapshot)
		c.checkBroker(ctx, t, requests, before.counts)
	}
	return !c.stopped
}

// checkHeap: a worker that says it can has to give a live heap that is one, and what goes with it, or the memory guard would pass on nothing.
func (c *conformance) checkHeap(t cellTest, b driver.Batched, after driver.Snapshot) {
	if !slices.Contains(c.p.Hello().Abilities, driver.AbilityHeap) {
		return
	}
	if b.HeapLiveBytes == 0 || after.PeakRSSBytes > 0 && b.HeapLiveBytes > after.PeakRSSBytes {
		c.fail(RuleHello, "%s: ability %q, and %d bytes alive before the batch where the process had %d at most", t.name(), driver.AbilityHeap, b.HeapLiveBytes, after.PeakRSSBytes)
	}
	if after.Goroutines < 1 {
		c.fail(RuleHello, "%s: ability %q, and the snapshot doesn't say what is running", t.name(), driver.AbilityHeap)
	}
	if cell := cellOf(after, t.open.Cell); t.live && (cell.ConnectionsOpen < 1 || cell.ConnectionsOpened < cell.ConnectionsOpen) {
		c.fail(RuleHello, "%s: ability %q, and the snapshot has %d connections opened and %d open of a client that has just worked", t.name(), driver.AbilityHeap, cell.ConnectionsOpened, cell.ConnectionsOpen)
	}
}

// observed is what can be seen of a cell between batches.
type observed struct {
	snapshot driver.Snapshot
	end      int64         // log end offset, by the bench
	counts   map[int]int64 // by the broker
}

func (c *conformance) observe(ctx context.Context, t cellTest) (observed, error) {
	var o observed
	var err error
	if t.live {
		if o.end, err = c.bench.EndOffset(ctx, t.open.Topic); err != nil {
			return o, fmt.Errorf("the bench cannot read the end of topic %s: %w", t.open.Topic, err)
		}
		if o.counts, err = c.settledCounts(ctx, t.open.API); err != nil {
			return o, err
		}
	}
	o.snapshot, err = c.p.Snapshot(ctx)
	return o, err
}

// settledCounts reads the broker's counters until two readings agree: the broker counts a request a moment after its answer has left.
func (c *conformance) settledCounts(ctx context.Context, api string) (map[int]int64, error) {
	if c.bench.BrokerCounts == nil {
		return nil, nil
	}
	var last map[int]int64
	for waited := time.Duration(0); ; waited += countsStep {
		counts, err := c.bench.BrokerCounts(ctx, api)
		if err != nil {
			return nil, fmt.Errorf("the bench cannot read the broker's counts: %w", err)
		}
		if last != nil && maps.Equal(counts, last) || waited > countsTime {
			return counts, nil
		}
		last = counts
		if err := pause(ctx, countsStep); err != nil {
			return nil, err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// ExpectBatch is what a batch of a cell has to report, from the content seed alone.
//
// In tier 0 every request carries records 0 to n-1. Live requests go on where the one before ended, so that a batch carries records
// 0 to requests x n - 1, each once; every batch begins again at record 0 (and a live Fetch at offset 0).
func ExpectBatch(open driver.Open, recordsPerRequest, requests int) shape.Expectation {
	content := shape.NewContent(open.Shape, open.ContentSeed)
	if open.Tier > 0 {
		return content.Expect(recordsPerRequest * requests)
	}
	e := content.Expect(recordsPerRequest)
	e.Records *= requests
	e.Bytes *= int64(requests)
	e.ByteSum *= uint64(requests)
	return e
}

func (c *conformance) checkRecords(t cellTest, opened driver.Opened, requests int, b driver.Batched) {
	want := ExpectBatch(t.open, opened.RecordsPerRequest, requests)
	for _, f := range []struct {
		what      string
		got, want any
	}{
		{"requests", b.Requests, requests},
		{"records", b.Records, want.Records},
		{"value bytes", b.Bytes, want.Bytes},
		{"sum of first value bytes", b.ByteSum, want.ByteSum},
		{"first key", b.FirstKey, want.FirstKey},
		{"last key", b.LastKey, want.LastKey},
	} {
		if f.got != f.want {
			c.fail(RuleRecords, "%s, %d requests: %s %v, the content seed says %v", t.name(), requests, f.what, f.got, f.want)
		}
	}
}

func (c *conformance) checkOffsets(t cellTest, opened driver.Opened, requests int, b driver.Batched, grown int64) {
	said := b.EndOffset - b.StartOffset
	if t.open.API == "Fetch" {
		if b.StartOffset != 0 || said != int64(b.Records) {
			c.fail(RuleRecords, "%s, %d requests: offsets %d to %d for %d records from offset 0", t.name(), requests, b.StartOffset, b.EndOffset, b.Records)
		}
		return
	}
	want := int64(requests) * int64(opened.RecordsPerRequest)
	if said != want || grown != want {
		c.fail(RuleRecords, "%s, %d requests of %d records: the log grew by %d, the worker says by %d", t.name(), requests, opened.RecordsPerRequest, grown, said)
	}
	if b.MinFrame != b.MaxFrame {
		c.fail(RuleRecords, "%s: request frames of %d to %d bytes for equal records", t.name(), b.MinFrame, b.MaxFrame)
	}
}

// checkFrames compares the wire counts of a batch: what left at another version breaks the pin, what left beyond the number asked was in
// flight when it should not have been.
func (c *conformance) checkFrames(t cellTest, requests int, b driver.Batched, before, after driver.Snapshot) {
	atPin, elsewhere := framesSince(t, before, after)
	if elsewhere != 0 {
		c.fail(RulePin, "%s: %d of the batch's %d request frames had another version", t.name(), elsewhere, atPin+elsewhere)
	} else if atPin < int64(requests) {
		c.fail(RulePin, "%s: %d requests asked, %d frames of the pinned version left", t.name(), requests, atPin)
	}
	if b.WireRequests != requests {
		c.fail(RulePin, "%s: %d requests asked, the batch says that %d frames of the pinned version left", t.name(), requests, b.WireRequests)
	}
	if all := atPin + elsewhere; all > int64(requests) {
		c.fail(RuleInFlight, "%s: %d requests asked, %d frames left", t.name(), requests, all)
	}
	key := apiKeys[t.open.API]
	for i := range after.Cells {
		cell := &after.Cells[i]
		if cell.Cell != t.open.Cell && frames(*cell, key) != frames(cellOf(before, cell.Cell), key) {
			c.fail(RuleInFlight, "%s: its batch moved the wire counts of cell %d", t.name(), cell.Cell)
		}
	}
}

// framesSince counts the API's frames of a cell at its pin and at all other versions.
func framesSince(t cellTest, before, after driver.Snapshot) (atPin, elsewhere int64) {
	count := func(s driver.Snapshot, sign int64) {
		for _, f := range cellOf(s, t.open.Cell).Frames {
			switch {
			case f.Key != apiKeys[t.open.API]:
			case int(f.Version) == t.open.Version:
				atPin += sign * f.Count
			default:
				elsewhere += sign * f.Count
			}
		}
	}
	count(before, -1)
	count(after, 1)
	return atPin, elsewhere
}

func cellOf(s driver.Snapshot, cell int) driver.CellSnapshot {
	for _, candidate := range s.Cells {
		if candidate.Cell == cell {
			return candidate
		}
	}
	return driver.CellSnapshot{}
}

// frames counts all frames of an API.
func frames(cell driver.CellSnapshot, key int16) (n int64) {
	for _, f := range cell.Frames {
		if f.Key == key {
			n += f.Count
		}
	}
	return n
}

// checkBroker holds the broker's own count by version against the number asked.
func (c *conformance) checkBroker(ctx context.Context, t cellTest, requests int, before map[int]int64) {
	if c.bench.BrokerCounts == nil {
		return
	}
	after, err := c.settledCounts(ctx, t.open.API)
	if c.broke(RulePin, wrap(t, err)) {
		return
	}
	for version, count := range after {
		delta := count - before[version]
		switch {
		case version != t.open.Version && delta != 0:
			c.fail(RulePin, "%s: the broker got %d requests of version %d", t.name(), delta, version)
		case version == t.open.Version && delta > int64(requests):
			c.fail(RuleInFlight, "%s: %d requests asked, the broker got %d", t.name(), requests, delta)
		}
	}
	if delta := after[t.open.Version] - before[t.open.Version]; delta < int64(requests) {
		c.fail(RulePin, "%s: %d requests asked, the broker got %d of the pinned version", t.name(), requests, delta)
	}
}

// checkQuiet leaves the worker alone for a moment after a batch: nothing may go on by itself.
func (c *conformance) checkQuiet(ctx context.Context, t cellTest) {
	if !t.live {
		return
	}
	after, err := c.p.Snapshot(ctx)
	if c.broke(RuleInFlight, wrap(t, err)) || c.broke(RuleInFlight, pause(ctx, settleTime)) {
		return
	}
	later, err := c.p.Snapshot(ctx)
	if c.broke(RuleInFlight, wrap(t, err)) {
		return
	}
	was, is := cellOf(after, t.open.Cell), cellOf(later, t.open.Cell)
	key := apiKeys[t.open.API]
	if more := frames(is, key) - frames(was, key); more != 0 {
		c.fail(RuleInFlight, "%s: %d more frames left while nothing was asked", t.name(), more)
	}
	if is.BytesOut == was.BytesOut && is.BytesIn != was.BytesIn {
		c.fail(RuleInFlight, "%s: %d bytes came in after the batch had ended", t.name(), is.BytesIn-was.BytesIn)
	}
}

// checkHash compares all content, and accounts for the requests that the hash took.
func (c *conformance) checkHash(ctx context.Context, t cellTest, opened driver.Opened) {
	if !slices.Contains(c.p.Hello().Abilities, "hash") {
		return
	}
	before, err := c.p.Snapshot(ctx)
	if c.broke(RuleRecords, wrap(t, err)) {
		return
	}
	hashed, err := c.p.Hash(ctx, driver.Batch{Cell: t.open.Cell, Requests: 1, Placement: 1})
	if c.broke(RuleRecords, wrap(t, err)) {
		return
	}
	want := shape.NewContent(t.open.Shape, t.open.ContentSeed).Expect(hashed.Records)
	if hashed.Records != opened.RecordsPerRequest || hashed.Hash != want.Hash {
		c.fail(RuleRecords, "%s: hash %d over %d records, the content seed says %d over %d", t.name(), hashed.Hash, hashed.Records, want.Hash, opened.RecordsPerRequest)
	}
	after, err := c.p.Snapshot(ctx)
	if c.broke(RuleRecords, wrap(t, err)) || !t.live {
		return
	}
	if atPin, elsewhere := framesSince(t, before, after); atPin != int64(hashed.Requests) || elsewhere != 0 {
		c.fail(RulePin, "%s: the hash says it took %d requests; %d frames of the pinned version left, and %d of others", t.name(), hashed.Requests, atPin, elsewhere)
	}
}
