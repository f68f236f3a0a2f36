package tiers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"protocolbench/guards"
	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
	"protocolbench/internal/verdict"
)

// Profiled is a family, and perhaps a version of it, that a CPU profile is asked of.
type Profiled struct {
	Family  string // prefix or glob over family names
	Version int    // Dearest: the dearest of the family's but the reference
}

// Dearest stands for a version that nobody named.
const Dearest = -1

func (p Profiled) String() string {
	if p.Version == Dearest {
		return p.Family
	}
	return fmt.Sprintf("%s@%d", p.Family, p.Version)
}

const (
	// mostAsked: whoever names a family wants a few of them, and each takes some ten seconds.
	mostAsked = 8
	// mostCalled is how many versions of a run are profiled by themselves; the first of a family is that with the largest difference.
	mostCalled = 3
	// profileSlices of each version are taken in turns, so that the machine's drift falls on both.
	profileSlices = 4
	// profileWall is how many times as long a profile takes as its CPU time: batches are prepared, and the collector runs between them.
	profileWall = 3
	// profileDraw is none of the run's: its contents are its own.
	profileDraw = 1000
)

// profileFor is how much CPU time is profiled of each version: at a hundred samples a second this is how well a function's time is known.
func profileFor(profile string) time.Duration {
	return map[string]time.Duration{schedule.Quick: 2 * time.Second, schedule.Standard: 4 * time.Second, schedule.Release: 8 * time.Second}[profile]
}

// pair is what is profiled: a version, and what it is compared with.
type pair struct {
	family      *familyState
	of, against record.FamilyCell
	why         string
	size        float64 // of what was called
	missing     string  // why there is nothing to profile
}

// profileFaults are profiles that would profile nothing.
func (c Config) profileFaults() []string {
	var faults []string
	for _, p := range c.Profiled {
		chosen := slices.DeleteFunc(c.chosen(false), func(f family) bool { return !matches(p.Family, f.name()) })
		compared := slices.DeleteFunc(slices.Clone(chosen), func(f family) bool { return f.tier == 2 })
		switch {
		case !c.matchesAny(p.Family):
			faults = append(faults, fmt.Sprintf("unknown family: --profile-cpu %q matches none; see --list", p.Family))
		case len(chosen) == 0:
			faults = append(faults, fmt.Sprintf("--profile-cpu %s would profile nothing: --tier, --profile and --only leave none of its families", p))
		case len(compared) == 0:
			faults = append(faults, fmt.Sprintf("--profile-cpu %s would profile nothing: tier 2 compares no versions", p))
		case len(compared) > mostAsked:
			faults = append(faults, fmt.Sprintf("--profile-cpu %s is %d families, which would take long: name one, e.g. %s", p, len(compared), compared[0].name()))
		}
	}
	return faults
}

// profiles takes the CPU profiles of a tier after its last block: those that were asked for, and those of versions that were called. Nothing that goes wrong with one changes what was measured.
func (s *session) profiles(ctx context.Context, l *live, tier int, families []*familyState) error {
	if tier == 2 || !s.ProfileSlower && len(s.Profiled) == 0 {
		return nil
	}
	run, err := record.Read(s.recordPath())
	if err != nil {
		return err
	}
	v := verdict.Judge(run, guards.Check(run), verdict.Options{Margin: s.Margin})
	pairs := s.askedPairs(v, families)
	if s.ProfileSlower {
		pairs = append(pairs, s.calledPairs(v, families)...)
	}
	for i, p := range pairs {
		same := func(other pair) bool { return other.family == p.family && other.of.Cell == p.of.Cell }
		if slices.ContainsFunc(pairs[:i], same) {
			continue
		}
		if p.size > 0 { // called, not asked for
			if why := s.noMore(tier); why != "" {
				s.Progress.Say(fmt.Sprintf("%s: no CPU profile of v%d: %s; --profile-cpu %s@%d takes it", p.family.name(), p.of.Version, why, p.family.name(), p.of.Version))
				continue
			}
			s.profiledCalled++
		}
		row := s.profiled(ctx, l, families, p)
		if err := s.writer.Write(row); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// noMore says why no version is profiled any more only because it was called, or "".
func (s *session) noMore(tier int) string {
	switch elapsed := s.Now().Sub(s.started); {
	case s.profiledCalled >= mostCalled:
		return fmt.Sprintf("%d are enough for one run", mostCalled)
	case elapsed+2*profileFor(s.Profile)*profileWall+s.expected(after(s.Tiers, tier)) > s.budget.Limit:
		return fmt.Sprintf("there is no time left of the profile's %s", s.budget.Limit)
	}
	return ""
}

// profiled takes one, or says why not.
func (s *session) profiled(ctx context.Context, l *live, families []*familyState, p pair) record.Profile {
	row := record.Profile{Tier: p.family.tier, Family: p.family.name(), Why: p.why,
		Of: record.ProfileSide{Version: p.of.Version, Build: p.of.Build}, Against: record.ProfileSide{Version: p.against.Version, Build: p.against.Build}}
	s.Progress.Say(fmt.Sprintf("%s: CPU profile of %s", row.Family, row.Title()))
	b := &block{session: s, live: l, where: record.Where{Family: p.family.name(), Draw: profileDraw}, sides: s.sidesOf(p.family.tier)}
	two := *p.family
	two.row.Cells = []record.FamilyCell{p.of, p.against}
	b.f = &two
	var sides [2][]driver.Profiled
	var err error
	if p.missing != "" {
		err = errors.New(p.missing)
	} else {
		sides, err = b.profile(ctx, families)
	}
	if err == nil {
		err = s.writeProfiles(&row, sides, p.family)
	}
	if l != nil && p.missing == "" {
		err = errors.Join(err, l.dropFetchTopic(context.WithoutCancel(ctx), profileDraw))
	}
	if err != nil {
		row.Missing = strings.Join(strings.Fields(err.Error()), " ")
		row.Of.File, row.Against.File, row.Difference, row.Text, row.Top = "", "", "", "", nil
		s.Progress.Say(fmt.Sprintf("%s: no CPU profile: %s", row.Family, row.Missing))
	}
	return row
}

// profile opens the two versions as a block does, and profiles them in turns. Blocks are over: no batch of these is counted.
func (b *block) profile(ctx context.Context, families []*familyState) (sides [2][]driver.Profiled, err error) {
	defer b.end(ctx)
	for _, side := range b.sides {
		if !slices.Contains(side.hello.Abilities, driver.AbilityProfile) {
			return sides, fmt.Errorf("the worker lacks the ability %q", driver.AbilityProfile)
		}
	}
	if !b.f.declared || b.f.row.RequestsPerBatch < 1 {
		return sides, errors.New("the family was not measured, so nobody knows how many requests make a batch")
	}
	b.row = record.Block{Where: b.where}
	if err := b.prepareTopic(ctx, families); err != nil {
		return sides, err
	}
	b.content = b.contentOf()
	if err := b.makeMessages(); err != nil {
		return sides, err
	}
	if err := b.startWorkers(ctx); err != nil {
		return sides, err
	}
	b.opening = []int{0, 1}
	if err := b.open(ctx); err != nil {
		return sides, err
	}
	if err := b.warm(ctx); err != nil {
		return sides, err
	}
	if err := b.plant(ctx); err != nil {
		return sides, err
	}
	forNs := profileFor(b.Profile).Nanoseconds() / profileSlices
	for range profileSlices {
		for i, cell := range b.f.row.Cells {
			got, err := b.worker(i).Profile(ctx, driver.Profile{Cell: cell.Cell, Requests: b.f.row.RequestsPerBatch, ForNs: forNs})
			if err != nil {
				return sides, err
			}
			sides[i] = append(sides[i], got)
		}
	}
	return sides, nil
}
