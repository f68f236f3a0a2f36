package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"protocolbench/internal/driver"
)

// abilities that a worker may claim; a misspelt one would be an ability that nobody uses.
var knownAbilities = []string{"codec", "live", "plant", "steady", "hash", "tcp", "frames", "own-version", driver.ModeFraming, driver.AbilityMessages, driver.AbilityProfile, driver.AbilityHeap}

// neededAbilities: without a plant there is no canary, and no family can be judged.
var neededAbilities = []string{"plant", "frames"}

func (c *conformance) checkHello() {
	h := c.p.Hello()
	if h.Client == "" || h.Version == "" || h.Clock == "" || len(h.Build) == 0 {
		c.fail(RuleHello, "client %q, version %q, clock %q and build %v: all four have to say something", h.Client, h.Version, h.Clock, h.Build)
	}
	for _, a := range h.Abilities {
		if !slices.Contains(knownAbilities, a) {
			c.fail(RuleHello, "unknown ability %q", a)
		}
	}
	live := slices.Contains(h.Abilities, "live")
	for _, a := range neededAbilities {
		if !slices.Contains(h.Abilities, a) && (a == "plant" || live) {
			c.fail(RuleHello, "ability %q is missing: without it no verdict is possible", a)
		}
	}
	if !live && len(c.bench.Brokers) > 0 {
		c.fail(RuleHello, "brokers are there, and the worker does not say that it is able to go live")
	}
	if len(h.Implemented) == 0 {
		c.fail(RuleHello, "it implements nothing")
	}
	seen := map[string]bool{}
	for _, r := range h.Implemented {
		key, known := apiKeys[r.API]
		if !known || key != r.Key || r.Min < 0 || r.Max < r.Min || seen[r.API] {
			c.fail(RuleHello, "implemented %+v: the APIs are Produce (key 0) and Fetch (key 1), each once, with min <= max", r)
		}
		seen[r.API] = true
	}
}

const (
	clockBatches  = 4
	clockPlantNs  = 2_000_000
	clockSlackNs  = 1_000_000
	clockShare    = 10 // per cent
	clockRequests = 10
)

// checkClock compares the worker's CPU clock with the parent's view of its process. What a batch does outside its clock (laying out,
// collecting, answering) is in the outside view, too, so a plant makes the timed part by far the largest.
func (c *conformance) checkClock(ctx context.Context) {
	if _, ok := c.p.CPUNs(); !ok {
		c.fail(RuleClock, "this platform has no outside view of a process's CPU clock: the rule cannot be checked here")
		return
	}
	if c.broke(RuleClock, c.p.Plant(ctx, driver.Plant{Cell: 0, CPUNsPerRequest: clockPlantNs})) {
		return
	}
	var inside, outside int64
	for range clockBatches {
		before, _ := c.p.CPUNs()
		b, err := c.p.Batch(ctx, driver.Batch{Cell: 0, Requests: clockRequests})
		after, _ := c.p.CPUNs()
		if c.broke(RuleClock, err) {
			return
		}
		inside += b.CPUNs
		outside += after - before
	}
	if !agree(inside, outside) {
		c.fail(RuleClock, "%d batches took %d ns of CPU by the worker's clock and %d by the parent's view of its process", clockBatches, inside, outside)
	}
	// Half of it is no bound on time but on honesty: the calibration may be off by the processor's frequency, not by that.
	if planted := int64(clockBatches * clockRequests * clockPlantNs); outside < planted/2 {
		c.fail(RuleClock, "%d ns of CPU were planted and %d burnt", planted, outside)
	}
	s, err := c.p.Snapshot(ctx)
	if c.broke(RuleClock, err) {
		return
	}
	if now, ok := c.p.CPUNs(); ok && !agree(s.CPUNs, now) {
		c.fail(RuleClock, "the snapshot says %d ns of CPU since the start, the parent's view of the process %d", s.CPUNs, now)
	}
	c.broke(RuleClock, c.p.Plant(ctx, driver.Plant{Cell: 0}))
}

func agree(a, b int64) bool {
	return abs(a-b) <= max(clockSlackNs, max(a, b)*clockShare/100)
}

func abs(n int64) int64 { return max(n, -n) }

// checkErrors sends what no parent should send. Each has to be answered with an error and the request's id, and the worker has to go on.
func (c *conformance) checkErrors(ctx context.Context) {
	for _, bad := range []struct{ what, op, line string }{
		{"an unknown op", "dance", `{"id":%d,"op":"dance"}`},
		{"an unknown field", driver.OpSnapshot, `{"id":%d,"op":"snapshot","colour":"red"}`},
		{"a batch without its field", driver.OpBatch, `{"id":%d,"op":"batch"}`},
		{"a batch of a cell that is not open", driver.OpBatch, `{"id":%d,"op":"batch","batch":{"cell":4711,"requests":1,"placement":"0"}}`},
		{"a batch of no requests", driver.OpBatch, `{"id":%d,"op":"batch","batch":{"cell":0,"requests":0,"placement":"0"}}`},
		{"a batch larger than the cell was opened for", driver.OpBatch, fmt.Sprintf(`{"id":%%d,"op":"batch","batch":{"cell":0,"requests":%d,"placement":"0"}}`, conformMax+1)},
		{"a plant in a cell that is not open", driver.OpPlant, `{"id":%d,"op":"plant","plant":{"cell":4711,"cpuNsPerRequest":1}}`},
		{"closing a cell that is not open", driver.OpClose, `{"id":%d,"op":"close","cell":4711}`},
		{"opening an API that it does not have", driver.OpOpen, `{"id":%d,"op":"open","open":{"cell":4712,"tier":0,"api":"Dance","version":1,"contentSeed":"1"}}`},
	} {
		id := c.p.nextID()
		if c.refuses(ctx, bad.what, bad.op, id, fmt.Sprintf(bad.line, id)); c.stopped {
			return
		}
	}
	const twice = "opening a cell that is open already"
	var refused *Refused
	if _, err := c.p.Open(ctx, c.first); err == nil {
		c.fail(RuleErrors, "%s is answered as if it were right", twice)
	} else if !errors.As(err, &refused) {
		c.broke(RuleErrors, fmt.Errorf("%s: %w", twice, err))
		return
	}
	c.refuses(ctx, "a line that is no JSON", "", 0, "good morning")
}

func (c *conformance) refuses(ctx context.Context, what, op string, id int, line string) {
	_, err := c.p.sayLine(ctx, op, id, line)
	var refused *Refused
	if err == nil {
		c.fail(RuleErrors, "%s is answered as if it were right", what)
	} else if !errors.As(err, &refused) {
		c.broke(RuleErrors, fmt.Errorf("%s: %w", what, err))
		return
	}
	if _, err := c.p.Snapshot(ctx); err != nil {
		c.broke(RuleErrors, fmt.Errorf("after %s: %w", what, err))
	}
}

// nextID and sayLine let the suite send lines that Process would not.
func (p *Process) nextID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastID++
	return p.lastID
}

func (p *Process) sayLine(ctx context.Context, op string, id int, line string) (driver.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil {
		return driver.Response{}, p.broken
	}
	return p.roundTrip(ctx, op, id, []byte(line+"\n"), p.deadlines.Batch)
}

// checkClose closes one cell, which has to be gone from the snapshot, and then the worker, which has to end by itself.
func (c *conformance) checkClose(ctx context.Context) {
	if c.broke(RuleClose, c.p.CloseCell(ctx, 0)) {
		return
	}
	s, err := c.p.Snapshot(ctx)
	if c.broke(RuleClose, err) {
		return
	}
	if slices.ContainsFunc(s.Cells, func(cell driver.CellSnapshot) bool { return cell.Cell == 0 }) {
		c.fail(RuleClose, "cell 0 was closed and is still in the snapshot")
	}
	c.broke(RuleClose, c.p.Close(ctx))
	c.stopped = false // it was meant to end
}

// checkEndOfInput starts the worker once more and closes its standard input: it has to end by itself, without a fault.
func (c *conformance) checkEndOfInput(ctx context.Context) {
	p, err := Start(ctx, c.bench.Command, c.bench.Deadlines)
	if c.broke(RuleClose, err) {
		return
	}
	defer func() {
		p.kill()
		p.release()
	}()
	p.stdin.Close()
	c.broke(RuleClose, p.awaitEnd(ctx))
}
