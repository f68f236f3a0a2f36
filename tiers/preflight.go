package tiers

import (
	"context"
	"errors"
	"slices"
	"time"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/shape"
	"protocolbench/internal/worker"
	"protocolbench/pin"
	"protocolbench/seed"
)

// preflightDeadline is how long a worker has to open one cell when versions are tried. Its own limits are a third of that: what takes longer hangs, and fifteen versions that
// hang have to be waited for.
const preflightDeadline = 10 * time.Second

// tries opens a cell of every version that has to be compared, and one of the client left alone, build by build. Whatever a client does there is a row, and no version is
// dropped for it; an error is the broker's, or this program's.
func (s *session) tries(ctx context.Context, l *live, scope pin.Scope, topic string) ([]record.Try, error) {
	if scope.API == pin.Fetch {
		if err := s.fillProbe(ctx, l, topic); err != nil {
			return nil, err
		}
	}
	var tries []record.Try
	for _, side := range s.sidesOf(scope.Tier) {
		p := s.preflighter(l, side, scope.Tier, scope.API, topic)
		for _, v := range append(scope.Compared(), driver.Unpinned) {
			try, err := p.tryTwice(ctx, v)
			if err != nil {
				p.close(ctx)
				return nil, s.blame(side, err)
			}
			tries = append(tries, try)
		}
		p.close(ctx)
	}
	return tries, nil
}

// negotiated is what the client under test speaks when it is left alone; driver.Unpinned where it can't.
func negotiated(tries []record.Try) int {
	for _, t := range tries {
		if t.Version == driver.Unpinned && t.Build == "" && t.Outcome == record.TryOpened {
			return t.AnswerVersion
		}
	}
	return driver.Unpinned
}

// preflights opens cells one after the other, only for their preflight, in one worker for as long as that lives.
type preflights struct {
	s       *session
	l       *live
	side    *side
	api     pin.API
	process *worker.Process // nil: to be started
	open    driver.Open
}

// probeShape is what a preflight fetches from or produces to.
func probeShape() shape.Shape {
	sh := flat("probe", 10, 1, 1, 1)
	sh.FetchBytes = 4 << 10
	return sh
}

func (s *session) probeSeed() uint64 { return seed.Derive(s.Seed, "content/probe") }

// fillProbe fills a topic with a few batches, since a fetch preflight has to find records.
func (s *session) fillProbe(ctx context.Context, l *live, topic string) error {
	sh := probeShape()
	return l.admin.Fill(ctx, topic, shape.NewContent(sh, s.probeSeed()), sh.RecordsPerBatch, 8, s.baseMs)
}

func (s *session) preflighter(l *live, side *side, tier int, api pin.API, topic string) *preflights {
	return &preflights{s: s, l: l, side: side, api: api, open: driver.Open{Tier: tier, API: api.Name, Shape: probeShape(), Mode: driver.ModeBare,
		Brokers: l.broker.Addresses(), Topic: topic, ContentSeed: s.probeSeed(), BaseTimestampMs: s.baseMs, MaxRequests: 1}}
}

// worker gives the process, and starts one where there is none.
func (p *preflights) worker(ctx context.Context) (*worker.Process, error) {
	if p.process != nil {
		return p.process, nil
	}
	deadlines := p.s.Deadlines
	deadlines.Open = min(deadlines.Open, preflightDeadline)
	var err error
	p.process, err = p.s.startWithin(ctx, p.side, ownLayout, deadlines)
	return p.process, err
}

// tryTwice tries a version that can't be spoken once more, after the broker has answered this program again: on a busy machine a broker may be late once. Another version
// than the one asked for is no matter of time, and one is enough.
func (p *preflights) tryTwice(ctx context.Context, version int) (record.Try, error) {
	first, err := p.try(ctx, version)
	if err != nil || first.Outcome == record.TryOpened || version != driver.Unpinned && pin.Judge(p.api.Name, first).Fault != pin.Incompatible {
		return first, err
	}
	if version != driver.Unpinned {
		if _, err := p.l.admin.Takes(ctx, p.api.Key, version, p.open.Topic); err != nil {
			return first, err
		}
	}
	second, err := p.try(ctx, version)
	second.Earlier = []string{first.Error}
	return second, err
}

// try opens one version and says what came of it, by the worker's words, its wire, and the broker's counters.
func (p *preflights) try(ctx context.Context, version int) (record.Try, error) {
	t := record.Try{Version: version, Build: p.side.name, AnswerVersion: driver.Unpinned, Foreign: p.l.isForeign()}
	process, err := p.worker(ctx)
	if err != nil {
		return t, err
	}
	_, before := p.l.counts(ctx, p.api, p.open.Topic)
	request := p.open
	request.Version = version
	opened, err := process.Open(ctx, request)
	switch err := p.came(&t, err); {
	case err != nil:
		return t, err
	case t.Outcome == record.TryOpened:
		if err := p.look(ctx, &t, opened, process); err != nil {
			return t, err
		}
	}
	if p.l.jmx() && p.l.row().VersionTags {
		after, _ := p.l.waitForCounts(ctx, p.api, p.open.Topic, before, t.Sent)
		t.Arrived = movedBy(before, countsOf(after))
	}
	return t, ctx.Err()
}

// came puts an open's end into the row. An error that is neither the worker's nor its process's comes back.
func (p *preflights) came(t *record.Try, err error) error {
	var refused *worker.Refused
	var died *worker.Dead
	var hung *worker.Hung
	var junk *worker.Junk
	switch {
	case err == nil:
		t.Outcome = record.TryOpened
		return nil
	case errors.As(err, &refused):
		t.Outcome, t.Error, t.Sent = record.TryRefused, refused.Text, p.framesOf(refused.Sent)
		return nil
	case errors.As(err, &died):
		t.Outcome, t.Error, t.Log = record.TryDied, err.Error(), died.Log
	case errors.As(err, &hung):
		t.Outcome, t.Error, t.Log = record.TryHung, err.Error(), hung.Log
	case errors.As(err, &junk):
		t.Outcome, t.Error, t.Log = record.TryJunk, err.Error(), junk.Log
	default:
		return err
	}
	p.process.Close(context.Background()) // it is gone; the next version gets another
	p.process = nil
	return nil
}

// look reads what an opened cell has sent, and closes it.
func (p *preflights) look(ctx context.Context, t *record.Try, opened driver.Opened, process *worker.Process) error {
	t.AnswerVersion = opened.AnswerVersion
	var err error
	if t.Version == driver.Unpinned {
		// The preflight is a direct request. What a client left alone sends by itself is what its users get, and it may be another version.
		_, err = process.Warm(ctx, driver.Batch{Cell: p.open.Cell, Requests: 1})
	}
	var snapshot driver.Snapshot
	if err == nil {
		snapshot, err = process.Snapshot(ctx)
	}
	if err == nil {
		for _, cell := range snapshot.Cells {
			if cell.Cell == p.open.Cell {
				t.Sent = p.framesOf(cell.Frames)
			}
		}
		err = process.CloseCell(ctx, p.open.Cell)
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	return p.came(t, err)
}

// framesOf gives the API's frames by version; nil where the worker counts none.
func (p *preflights) framesOf(frames []driver.Frames) map[int]int64 {
	if !slices.Contains(p.side.hello.Abilities, "frames") {
		return nil
	}
	sent := map[int]int64{}
	for _, f := range frames {
		if f.Key == p.api.Key {
			sent[int(f.Version)] += f.Count
		}
	}
	return sent
}

func movedBy(before, after brokerCounts) map[int]int64 {
	moved := map[int]int64{}
	for v, n := range after {
		if n > before[v] {
			moved[v] = n - before[v]
		}
	}
	return moved
}

func (p *preflights) close(ctx context.Context) {
	if p.process != nil {
		p.process.Close(context.WithoutCancel(ctx))
	}
}
