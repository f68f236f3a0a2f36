package verdict

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
	"protocolbench/seed"
)

// waiting makes the time that batches wait for: hiccups of the machine, and whatever is planted.
type waiting struct {
	noise, state float64 // sd of ln wall, per batch and per client of a fork
	hiccups      float64 // share of batches that the machine holds up by hiccupNs
	hiccupNs     int64
	burst        int // hiccups come in so many batches one after the other
	slower       func(version int) float64
	stall        func(version, draw int) bool // 40 ms once in every third batch, drawn
}

func usualWaiting() waiting {
	return waiting{noise: 0.08, state: 0.02, hiccups: 0.02, hiccupNs: 20e6, burst: 1,
		slower: func(int) float64 { return 1 }, stall: func(int, int) bool { return false }}
}

// onto gives every batch of a family its wall time.
func (w waiting) onto(r *rand.Rand, f *record.FamilyRun) {
	left := 0
	for _, block := range f.BlockRuns {
		state := make([]float64, len(f.Cells))
		for i := range state {
			state[i] = w.state * r.NormFloat64()
		}
		for i := range block.Batches {
			b := &block.Batches[i]
			version := f.Cells[b.Cell].Version
			wall := 280e3 * w.slower(version) * math.Exp(state[b.Cell]+w.noise*r.NormFloat64())
			b.RequestP50Ns, b.LongestGapNs = int64(wall), int64(wall*(1.5+r.ExpFloat64()))
			b.WallNs = int64(wall) * int64(b.Requests)
			if left == 0 && r.Float64() < w.hiccups/float64(w.burst) {
				left = w.burst
			}
			held := int64(0)
			if left > 0 {
				held, left = w.hiccupNs, left-1
			}
			if w.stall(version, block.Draw) && r.Float64() < 1.0/3 {
				held = max(held, 40e6)
			}
			b.WallNs += held
			b.LongestGapNs += held
			b.RequestP99Ns = b.LongestGapNs
		}
	}
}

// wallJudgement judges the wall time of one made-up family whose CPU time gave no cause for doubt, and nothing else of it.
func wallJudgement(f record.FamilyRun) *judgement {
	return wallJudgementOf(f, Family{Canary: Canary{Seen: true}})
}

func wallJudgementOf(f record.FamilyRun, controls Family) *judgement {
	j := judgement{FamilyRun: f, layout: layoutOf(f.Family), samples: samplesOf(f), margin: f.Margin, widen: 1.3}
	j.out = Family{Tier: f.Tier, Name: f.Name, Reference: f.Reference, Deciding: f.Deciding, Warnings: []Warning{}, Canary: controls.Canary, Position: controls.Position}
	j.lookForEnough()
	for _, c := range j.versions {
		j.out.Cells = append(j.out.Cells, Cell{Version: c.Version})
	}
	j.wall()
	return &j
}

func waitingFamily(seedValue uint64, profile string, w waiting) *judgement {
	made := quickWorld(seedValue)
	made.profile = profile
	f := made.run().Families[0]
	w.onto(seed.Stream(seedValue, "waiting"), &f)
	return wallJudgement(f)
}

// wallOnly has the versions whose wall time is not simply "not slower", and why.
func wallOnly(f Family) (list []string) {
	for _, c := range f.Cells {
		if c.Wall.Verdict != NotSlower || c.Wall.Stalls {
			list = append(list, strings.TrimSpace(strings.Join([]string{c.Wall.Verdict, c.Wall.Why}, " ")))
		}
	}
	return list
}

// Clean clients on quiet and on bad machines: 50 ms in 5 % of all batches, also in bursts, and the worst that was recorded, where every fourth batch
// had a gap of 20 ms or more.
func TestNoVersionOfACleanClientStalls(t *testing.T) {
	simulates(t)
	for name, c := range map[string]struct {
		profile  string
		families int
		change   func(*waiting)
		open     int // versions without an answer, at most
	}{
		"quick":           {schedule.Quick, 200, func(*waiting) {}, 0},
		"quick, hiccups":  {schedule.Quick, 200, func(w *waiting) { w.hiccups, w.hiccupNs = 0.05, 50e6 }, 300},
		"quick, bursts":   {schedule.Quick, 200, func(w *waiting) { w.hiccups, w.hiccupNs, w.burst = 0.05, 50e6, 6 }, 300},
		"quick, very bad": {schedule.Quick, 200, func(w *waiting) { w.hiccups, w.hiccupNs, w.noise = 0.25, 50e6, 0.3 }, 3000},
		"standard":        {schedule.Standard, 40, func(w *waiting) { w.hiccups, w.hiccupNs = 0.05, 50e6 }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := usualWaiting()
			c.change(&w)
			open, below, versions := 0, 0, 0
			for i := range c.families {
				j := waitingFamily(uint64(5000+i), c.profile, w)
				open += len(wallOnly(j.out))
				if faults := wallFaults(j.out); len(faults) > 0 {
					t.Errorf("seed %d: %s", 5000+i, faults)
				}
				for v := range j.versions {
					versions++
					g := j.gapsOf(v, j.longFromNs())
					if g.chance() < 0.05 {
						below++
					}
				}
			}
			t.Logf("of %d versions %d without an answer, %d with chance below 5 %%", versions, open, below)
			if open > c.open {
				t.Errorf("%d of %d versions have no answer, want at most %d", open, versions, c.open)
			}
			// Versions share their calm cells and bursts are not independent batches, so the promise of 5 % gets some room.
			if below*100 > versions*7 {
				t.Errorf("%d of %d versions have as many long gaps by a chance below 5 %%", below, versions)
			}
		})
	}
}

// A stall in every third batch, on a machine with hiccups. A quick run has 9 batches of a version in a fork: that one of its four forks has no stall at all
// happens in 10 of 100 runs, and then it is only shown.
func TestAStallIsFound(t *testing.T) {
	simulates(t)
	one := func(v int) func(int) bool { return func(version int) bool { return version == v } }
	for name, c := range map[string]struct {
		profile          string
		stalls           func(int) bool
		families, missed int
	}{
		"one version":                       {schedule.Standard, one(9), 12, 0},
		"one version, quick":                {schedule.Quick, one(9), 60, 9},
		"the newest":                        {schedule.Standard, one(18), 12, 0},
		"the newest, quick":                 {schedule.Quick, one(18), 60, 0},
		"the reference and all down to v12": {schedule.Standard, func(version int) bool { return version >= 12 }, 12, 0},
		"all but the reference":             {schedule.Standard, func(version int) bool { return version < 18 }, 12, 0},
	} {
		t.Run(name, func(t *testing.T) {
			missed := 0
			for i := range c.families {
				w := usualWaiting()
				w.hiccups, w.hiccupNs = 0.05, 50e6
				w.stall = func(version, _ int) bool { return c.stalls(version) }
				j := waitingFamily(uint64(100+i), c.profile, w)
				for _, cell := range j.out.Cells {
					switch {
					case cell.Wall.Stalls == c.stalls(cell.Version):
					case cell.Wall.Stalls:
						t.Errorf("seed %d: v%d is said to stall: %+v", 100+i, cell.Version, *cell.Wall)
					default:
						missed++
						t.Logf("seed %d: v%d stalls: %s", 100+i, cell.Version, cell.Wall.Why)
					}
				}
			}
			if missed > c.missed {
				t.Errorf("%d stalls missed in %d families, want at most %d", missed, c.families, c.missed)
			}
		})
	}
}

// A stall that a version has in one draw of three is said, and is not held against it.
func TestAStallInOneDrawIsShown(t *testing.T) {
	for i := range 10 {
		w := usualWaiting()
		w.stall = func(version, draw int) bool { return version == 9 && draw == 1 }
		j := waitingFamily(uint64(200+i), schedule.Standard, w)
		wall := cellOf(j.out, 9).Wall
		if wall.Stalls || len(wallFaults(j.out)) > 0 {
			t.Errorf("seed %d: held against v9: %+v", 200+i, *wall)
		}
		if !strings.Contains(wall.Why, "came back in 1 of 3 draws") || len(j.out.Warnings) == 0 || !strings.HasPrefix(j.out.Warnings[0].Text, "v9: gaps above 10 ms") {
			t.Errorf("seed %d: not shown: %+v, %v", 200+i, *wall, j.out.Warnings)
		}
	}
}

func TestSlowerInWallTime(t *testing.T) {
	simulates(t)
	for name, c := range map[string]struct {
		version int
		factor  float64
		slower  bool
	}{
		"40 % on v9": {9, 1.4, true}, "10 % on v9": {9, 1.1, false}, "40 % on the newest": {18, 1.4, true}, "10 % on the newest": {18, 1.1, false},
	} {
		t.Run(name, func(t *testing.T) {
			const families = 30
			for i := range families {
				w := usualWaiting()
				w.slower = func(version int) float64 {
					if version == c.version {
						return c.factor
					}
					return 1
				}
				j := waitingFamily(uint64(300+i), schedule.Quick, w)
				for _, cell := range j.out.Cells {
					want := NotSlower
					if cell.Version == c.version && c.slower {
						want = Slower
					}
					if cell.Wall.Verdict != want {
						t.Errorf("seed %d: v%d is %q, want %q: %+v", 300+i, cell.Version, cell.Wall.Verdict, want, *cell.Wall)
					}
				}
				wall := cellOf(j.out, c.version).Wall
				if math.Abs(wall.Difference-(c.factor-1)) > 0.12 || math.Abs(wall.P50-(c.factor-1)) > 0.12 {
					t.Errorf("seed %d: planted %v, found %+v", 300+i, c.factor, *wall)
				}
			}
		})
	}
}

// The way to each of the other words.
func TestWallWords(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*record.FamilyRun)
		word   string
		why    string
	}{
		"one fork":  {func(f *record.FamilyRun) { f.BlockRuns = f.BlockRuns[:1] }, Unresolved, "only one fork"},
		"two forks": {func(f *record.FamilyRun) { f.BlockRuns = f.BlockRuns[:2] }, NotSlower, ""},
		"a twin that waits": {func(f *record.FamilyRun) { slowCell(f, 15, func(record.Batch) bool { return true }) }, Unresolvable,
			"clients of the same version differ by"},
	} {
		t.Run(name, func(t *testing.T) {
			f := quickWorld(1).run().Families[0]
			w := usualWaiting()
			w.hiccups = 0
			w.onto(seed.Stream(1, "waiting"), &f)
			c.change(&f)
			got := cellOf(wallJudgement(f).out, 9).Wall
			if got.Verdict != c.word || !strings.Contains(got.Why, c.why) {
				t.Errorf("got %q, %q; want %q, %q", got.Verdict, got.Why, c.word, c.why)
			}
		})
	}
	made := quickWorld(1)
	made.profile = schedule.Standard
	f := made.run().Families[0]
	usualWaiting().onto(seed.Stream(1, "waiting"), &f)
	slowCell(&f, 5, func(b record.Batch) bool { return b.Draw == 1 })
	if got := cellOf(wallJudgement(f).out, 9).Wall; got.Verdict != Unresolvable || !strings.Contains(got.Why, "draws disagree") {
		t.Errorf("draws that disagree: %+v", *got)
	}
	for why, controls := range map[string]Family{"canary": {}, "position": {Canary: Canary{Seen: true}, Position: Position{Alarm: true}}} {
		if got := cellOf(wallJudgementOf(f, controls).out, 9).Wall; got.Verdict != Unresolvable || !strings.Contains(got.Why, why) {
			t.Errorf("%s: %+v", why, *got)
		}
	}
	f = made.run().Families[0]
	f.Tier = 0
	if j := wallJudgement(f); j.out.Cells[0].Wall != nil || j.out.WallMargin != 0 {
		t.Error("tier 0 has nothing to wait for, and got a verdict on wall time")
	}
}

func slowCell(f *record.FamilyRun, cell int, when func(record.Batch) bool) {
	for _, block := range f.BlockRuns {
		for i := range block.Batches {
			if b := &block.Batches[i]; b.Cell == cell && when(*b) {
				b.WallNs *= 2
			}
		}
	}
}

func TestWallFaults(t *testing.T) {
	f := Family{Name: "tier1/fetch", Deciding: true, Cells: []Cell{
		{Version: 1}, {Version: 2, Wall: &Wall{Verdict: NotSlower}}, {Version: 3, Wall: &Wall{Verdict: Unresolvable, Why: "noise"}},
		{Version: 4, Wall: &Wall{Verdict: Slower, Why: "by much"}}, {Version: 5, Wall: &Wall{Verdict: Slower, Stalls: true, Why: "by much; gaps"}},
		{Version: 6, Verdict: Slower, Wall: &Wall{Verdict: Slower, Why: "by much"}}, {Version: 7, Verdict: Slower, Wall: &Wall{Verdict: Slower, Stalls: true, Why: "gaps"}}}}
	want := "tier1/fetch v4 is slower in wall time: by much|tier1/fetch v5 is slower in wall time and stalls: by much; gaps|tier1/fetch v7 stalls: gaps"
	if got := strings.Join(wallFaults(f), "|"); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	f.Embedded = true
	if got := strings.Join(wallFaults(f), "|"); strings.Contains(got, "much") || !strings.Contains(got, "no figure") {
		t.Errorf("a figure of an embedded broker: %q", got)
	}
	f.Deciding = false
	if got := wallFaults(f); len(got) > 0 {
		t.Errorf("a family that decides nothing: %v", got)
	}
}

// By hand. All 4 of the version's batches are long and none of the 12 calm ones: each of 4 hits it with 1/4. Two halves: 2 long of 4 batches, 2 of them its own;
// and 2 long of 4, 1 of them its own. As many as 3: 1/4 x (1 - (3/4)^2) + 1/2 x (1/4)^2.
func TestChanceOfAsMany(t *testing.T) {
	for _, c := range []struct {
		parts [2]forkGaps
		want  float64
	}{
		{[2]forkGaps{{ownLong: 4, own: 4, calmLong: 0, calm: 12}}, 1.0 / 256},
		{[2]forkGaps{{ownLong: 2, own: 2, calm: 2}, {ownLong: 1, own: 1, calmLong: 1, calm: 3}}, 9.0 / 64},
		{[2]forkGaps{{own: 4, calmLong: 3, calm: 12}, {}}, 1},
		{[2]forkGaps{{own: 4, calm: 12}, {own: 4, calm: 12}}, 1},
		{[2]forkGaps{}, 1},
	} {
		if got := chanceOfAsMany(c.parts[:]); !(math.Abs(got-c.want) < 1e-12) {
			t.Errorf("%+v: %v, want %v", c.parts, got, c.want)
		}
	}
}

// Whatever a record has in its times, no NaN and no infinity gets out.
func TestWallIsAlwaysJSON(t *testing.T) {
	r := seed.Stream(1, "odd waiting")
	odd := []int64{0, -1, 1, math.MaxInt64, math.MinInt64, 1e9}
	for i := range 200 {
		made := quickWorld(uint64(i))
		made.versions = span(4, 4+int(r.Uint64()%4))
		run := made.run()
		f := &run.Families[0]
		for range r.Uint64() % 60 {
			block := &f.BlockRuns[r.Uint64()%uint64(len(f.BlockRuns))]
			b := &block.Batches[r.Uint64()%uint64(len(block.Batches))]
			*[]*int64{&b.WallNs, &b.RequestP50Ns, &b.RequestP99Ns, &b.LongestGapNs}[r.Uint64()%4] = odd[r.Uint64()%6]
		}
		if i%3 == 0 {
			value := odd[r.Uint64()%6]
			zero(f, func(b *record.Batch) { b.WallNs, b.RequestP50Ns, b.LongestGapNs = value, value, value })
		}
		mangle(r.Uint64(), run)
		if _, err := json.Marshal(wallJudgement(*f).out); err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
	}
}
