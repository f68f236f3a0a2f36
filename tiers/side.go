package tiers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
	"protocolbench/internal/worker"
	"protocolbench/pin"
)

// Client is one build of a client: what a run measures, or measures it against.
type Client struct {
	Build record.Build
	// Worker gives the command that starts it, its code laid out by the linker's own order (0) or shuffled by a layout number.
	Worker func(ctx context.Context, layout int) (worker.Command, error)
	// Stamped: it was built for this run, and its hello has to say which content and which layout it is. A stale file in a cache once made
	// four engines one engine.
	Stamped bool
	// Changed says what of the source is no longer as it was built, or ""; nil where nothing can change.
	Changed func() (string, error)
}

// side is a client in a run: the one under test (the candidate of a run of two builds), or the baseline.
type side struct {
	Client
	name    string // "" or record.BuildBaseline
	hello   driver.Hello
	layouts []int // by draw and fork; nil: the linker's own
}

// ownLayout is the linker's own: what one build alone has.
const ownLayout = 0

// title is how errors call a side: where there is but one there is nothing to tell apart.
func (s *session) title(of *side) string {
	switch {
	case len(s.sides) < 2:
		return ""
	case of.name == "":
		return "candidate"
	}
	return of.name
}

// blamed is an error of one of two builds.
type blamed struct {
	build, title string
	cause        error
}

func (e *blamed) Error() string { return e.title + ": " + e.cause.Error() }

func (e *blamed) Unwrap() error { return e.cause }

func (s *session) blame(of *side, err error) error {
	var already *blamed
	if err == nil || len(s.sides) < 2 || errors.As(err, &already) {
		return err
	}
	return &blamed{of.name, s.title(of), err}
}

// sidesOf are the builds that a tier measures. In tier 2 nothing is compared: there the candidate alone has to show that it works.
func (s *session) sidesOf(tier int) []*side {
	if tier == 2 {
		return s.sides[:1]
	}
	return s.sides
}

// meet starts each side's worker once, to hear who it is.
func (s *session) meet(ctx context.Context) error {
	s.sides = []*side{{Client: s.Client}}
	if s.Baseline != nil {
		s.sides = append(s.sides, &side{Client: *s.Baseline, name: record.BuildBaseline})
	}
	for _, side := range s.sides {
		p, err := s.start(ctx, side, ownLayout)
		if err != nil {
			return fmt.Errorf("the worker of the client under test did not start: %w", err)
		}
		side.hello = p.Hello()
		if err := p.Close(ctx); err != nil {
			return s.blame(side, err)
		}
	}
	return nil
}

// link has all layouts linked, so that no linker runs beside a batch.
func (s *session) link(ctx context.Context) error {
	if s.Baseline == nil || !slices.ContainsFunc(s.Tiers, func(tier int) bool { return tier < 2 }) {
		return nil
	}
	draws, forks := s.repeats(0)
	drawn := schedule.Layouts(s.Seed, len(s.sides), draws*forks)
	s.Progress.Say(fmt.Sprintf("linking %d layouts of each build", draws*forks))
	for i, side := range s.sides {
		for _, layout := range drawn[i] {
			if _, err := side.Worker(ctx, layout); err != nil {
				return s.blame(side, err)
			}
		}
		side.layouts = drawn[i]
	}
	return nil
}

// layout is a side's layout number in one block.
func (s *session) layout(of *side, where record.Where, tier int) int {
	if of.layouts == nil || tier == 2 {
		return ownLayout
	}
	_, forks := s.repeats(tier)
	if where.Draw == profileDraw {
		return of.layouts[0] // of those that are linked already
	}
	return of.layouts[where.Draw*forks+where.Fork]
}

// start starts a side's worker, and looks whether it is the one that was meant.
func (s *session) start(ctx context.Context, of *side, layout int) (*worker.Process, error) {
	return s.startWithin(ctx, of, layout, s.Deadlines)
}

func (s *session) startWithin(ctx context.Context, of *side, layout int, deadlines worker.Deadlines) (*worker.Process, error) {
	command, err := of.Worker(ctx, layout)
	if err != nil {
		return nil, s.blame(of, err)
	}
	command.CPUs = s.workerCPUs
	p, err := worker.Start(ctx, command, deadlines)
	if err != nil {
		return nil, s.blame(of, err)
	}
	if err := of.isItself(p.Hello(), layout); err != nil {
		return nil, errors.Join(s.blame(of, err), p.Close(context.WithoutCancel(ctx)))
	}
	return p, nil
}

func (c Client) isItself(hello driver.Hello, layout int) error {
	if !c.Stamped {
		return nil
	}
	number, err := strconv.Atoi(hello.Build["layout"])
	if hello.Build["content"] != c.Build.ContentHash || err != nil || number != layout {
		return fmt.Errorf("the worker says that it is content %q in layout %q, and content %q in layout %d was built: the folder of built workers is spoilt, empty it",
			hello.Build["content"], hello.Build["layout"], c.Build.ContentHash, layout)
	}
	return nil
}

// able are the chosen families that every build's worker can measure.
func (s *session) able() []family {
	return slices.DeleteFunc(s.chosen(s.embedded), func(f family) bool {
		return slices.ContainsFunc(s.sides, func(of *side) bool { return !of.able(f) })
	})
}

// able: the mode framing reads a part of a response, and the messages of other APIs are coded alone; not every client has a way to do that, or has all of them.
func (of *side) able(f family) bool {
	switch {
	case f.message != nil:
		return slices.Contains(of.hello.Abilities, driver.AbilityMessages) && of.implemented(f.api) != pin.None
	case f.mode == driver.ModeFraming:
		return slices.Contains(of.hello.Abilities, driver.ModeFraming)
	}
	return true
}

// implemented is a client's range of an API by its own hello.
func (of *side) implemented(api pin.API) [2]int {
	list := of.hello.Implemented
	if api.Message {
		list = of.hello.Messages
	}
	for _, r := range list {
		if r.Key == api.Key {
			return [2]int{int(r.Min), int(r.Max)}
		}
	}
	return pin.None
}

// changed says which checkouts are no longer what was built of them.
func (s *session) changed() []string {
	var list []string
	for _, side := range s.sides {
		if side.Changed == nil {
			continue
		}
		text, err := side.Changed()
		if err != nil {
			text = "whether it is still as it was built can't be told: " + err.Error()
		}
		if text != "" {
			list = append(list, side.Build.Spec+": "+text)
		}
	}
	return list
}
