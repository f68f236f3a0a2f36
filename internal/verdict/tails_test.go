package verdict

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
	"protocolbench/seed"
)

// tailWorld is a standard run on a machine with bursts.
func tailWorld(seedValue uint64) world {
	w := quickWorld(seedValue)
	w.profile, w.margin = schedule.Standard, 0.05
	return w
}

// disturb multiplies the CPU time of batches, in order of measurement.
func disturb(family *record.FamilyRun, factor func(block record.BlockRun, b record.Batch) float64) {
	for i := range family.BlockRuns {
		block := &family.BlockRuns[i]
		for k := range block.Batches {
			b := &block.Batches[k]
			b.CPUNs = int64(float64(b.CPUNs) * factor(*block, *b))
		}
	}
}

// bursts hit a share of batches, in runs of 2 to 20, whoever has its turn.
func bursts(r *rand.Rand, share float64) func(record.BlockRun, record.Batch) float64 {
	left, factor := 0, 1.0
	return func(record.BlockRun, record.Batch) float64 {
		switch {
		case left > 0:
			left--
		case r.Float64() < share/11:
			left, factor = 1+r.IntN(19), 1.1+1.5*r.Float64()
		default:
			return 1
		}
		return factor
	}
}

// sometimes slows the clients of a version in a share of their batches.
func sometimes(r *rand.Rand, f record.Family, version int, share, factor float64, where func(record.Where) bool) func(record.BlockRun, record.Batch) float64 {
	return func(block record.BlockRun, b record.Batch) float64 {
		if f.Cells[b.Cell].Version == version && where(block.Where) && r.Float64() < share {
			return factor
		}
		return 1
	}
}

func everywhere(record.Where) bool { return true }

// judgeTails judges a family whose version is sometimes slow, on a machine with bursts in a fifth of batches.
func judgeTails(seedValue uint64, version int, share, factor float64, where func(record.Where) bool) Family {
	run := tailWorld(seedValue).run()
	r := seed.Stream(seedValue, "tails")
	family := &run.Families[0]
	disturb(family, bursts(r, 0.2))
	disturb(family, sometimes(r, family.Family, version, share, factor, where))
	return Judge(run, goodGuards(run), Options{}).Families[0]
}

func tailWarning(f Family) string {
	i := slices.IndexFunc(f.Warnings, func(w Warning) bool { return strings.Contains(w.Text, "far dearer than their neighbours") })
	if i < 0 {
		return ""
	}
	return f.Warnings[i].Text
}

// Slow in one of five batches by a half is 10 % in the mean, and found at a margin of 5 %: in an old version, in a middle one, and in the newest, whose
// three clients and canary all have it.
func TestSometimesSlowIsFound(t *testing.T) {
	for i, version := range []int{4, 11, 18} {
		for s := range uint64(5) {
			f := judgeTails(100*uint64(i+1)+s, version, 0.2, 1.5, everywhere)
			c := cellOf(f, version)
			if unusual := f.unusual(NotSlower); len(strings.Split(unusual, ",")) != 1 || c.Verdict != Slower {
				t.Errorf("v%d, seed %d: %q", version, s, unusual)
				continue
			}
			if c.Low > 0.10 || c.High < 0.09 || c.Low < 0.03 || c.P >= 0.05 || c.Differs || c.MoreRounds != 0 {
				t.Errorf("v%d, seed %d: %+v", version, s, c)
			}
			if !strings.Contains(c.Why, "in the mean") || !strings.Contains(c.Why, "far dearer than their neighbours") {
				t.Errorf("v%d, seed %d: %s", version, s, c.Why)
			}
			if tailWarning(f) != "" {
				t.Errorf("v%d, seed %d warns beside its word: %s", version, s, tailWarning(f))
			}
		}
	}
}

// What is real and doesn't suffice for the word is a warning that says why.
func TestSometimesSlowThatDoesNotSuffice(t *testing.T) {
	for _, test := range []struct {
		name          string
		share, factor float64
		where         func(record.Where) bool
		why           string
	}{
		{"below the margin", 0.2, 1.2, everywhere, "below the margin of 5.0 %"},
		{"in one draw", 0.35, 1.7, func(w record.Where) bool { return w.Draw == 1 }, "did not come back in every draw"},
		// in a single fork chance would give as many to one version of fifteen
		{"in one fork", 0.35, 3, func(w record.Where) bool { return w.Draw == 0 && w.Fork == 2 }, ""},
	} {
		f := judgeTails(7, 9, test.share, test.factor, test.where)
		if cellOf(f, 9).Verdict == Slower {
			t.Errorf("%s: %s", test.name, cellOf(f, 9).Why)
		}
		switch w := tailWarning(f); {
		case test.why == "" && w != "", test.why != "" && !(strings.HasPrefix(w, "v9: ") && strings.Contains(w, test.why)):
			t.Errorf("%s warns %q", test.name, w)
		}
	}
}

// The reference's other clients and the canary are the newest version, too: they are not among the cells that it is compared with.
func TestSometimesSlowNewestOfTen(t *testing.T) {
	w := tailWorld(5)
	w.versions = span(9, 18)
	run := w.run()
	disturb(&run.Families[0], sometimes(seed.Stream(5, "tails"), run.Families[0].Family, 18, 0.15, 1.6, everywhere))
	f := Judge(run, goodGuards(run), Options{}).Families[0]
	if unusual := f.unusual(NotSlower); unusual != "v18 slower" || !strings.Contains(cellOf(f, 18).Why, "(others: 0.") {
		t.Errorf("%q: %s", unusual, cellOf(f, 18).Why)
	}
}

// A level that is below the margin and far batches that add less than it are above it together.
func TestSometimesSlowAndElseSlowerToo(t *testing.T) {
	w := tailWorld(6)
	w.cost = func(version int) float64 {
		if version == 9 {
			return 1.03
		}
		return 1
	}
	run := w.run()
	disturb(&run.Families[0], sometimes(seed.Stream(6, "tails"), run.Families[0].Family, 9, 0.2, 1.22, everywhere))
	f := Judge(run, goodGuards(run), Options{}).Families[0]
	if c := cellOf(f, 9); f.unusual(NotSlower) != "v9 slower" || c.Low > 0.075 || c.High < 0.075 {
		t.Errorf("%q: %s; warns %q", f.unusual(NotSlower), c.Why, tailWarning(f))
	}
}

// One version is faster in its level by as much as its far batches cost it: it isn't slower in the mean.
func TestSometimesSlowAndElseFaster(t *testing.T) {
	w := tailWorld(3)
	w.cost = func(version int) float64 {
		if version == 9 {
			return 0.9
		}
		return 1
	}
	run := w.run()
	disturb(&run.Families[0], sometimes(seed.Stream(3, "tails"), run.Families[0].Family, 9, 0.2, 1.5, everywhere))
	f := Judge(run, goodGuards(run), Options{}).Families[0]
	if unusual := f.unusual(NotSlower); unusual != "" {
		t.Errorf("%s", unusual)
	}
	if warning := tailWarning(f); !strings.Contains(warning, "below the margin") {
		t.Errorf("warns %q", warning)
	}
}

// Bursts of the machine hit whoever has its turn, and never make a word or a warning: 2,000 families of equal versions, a quarter of them standard, with bursts in 10 to
// 30 % of batches. Each client also has a state of its own in each fork: it gets between none and twice as many far batches as others there.
func TestBurstsAccuseNobody(t *testing.T) {
	families := 2000
	if testing.Short() {
		families = 200
	}
	r := seed.Stream(11, "tails")
	belowLevel, called := 0, 0
	for n := range families {
		j := burstyFamily(r, n)
		far := j.farBatches()
		least := 1.0
		for i := range j.versions {
			tail := j.tailOf(i, fixed([]int{j.versions[i].Cell}, j.reference), far)
			chance := tail.chance()
			least = min(least, chance*float64(len(j.versions)))
			if chance < j.tailAlpha(1) && tail.doubt(j.margin) == "" {
				called++
				t.Errorf("family %d v%d: %s", n, j.versions[i].Version, tail.text())
			}
		}
		if least < rareAlpha {
			belowLevel++
		}
	}
	t.Logf("of %d clean families %d have a version below the level of the share alone, and %d one that is called", families, belowLevel, called)
	if belowLevel > families/100 {
		t.Errorf("%d of %d families have more far batches on a version than chance gives", belowLevel, families)
	}
}

// burstyFamily goes without a record: only the batches' costs are made, in drawn orders, and the clients' levels are known.
func burstyFamily(r *rand.Rand, number int) *judgement {
	const cells, newest = 18, 14
	draws, rounds, margin := 1, 9, 0.10
	if number%4 == 0 {
		draws, rounds, margin = 3, 18, 0.05
	}
	j := &judgement{margin: margin, layout: layout{reference: []int{newest, 15, 16}, canary: 17, newest: newest}}
	for v := range newest + 1 {
		j.versions = append(j.versions, record.FamilyCell{Cell: v, Version: v + 4})
	}
	hit := bursts(r, 0.1+0.2*r.Float64())
	for draw := range draws {
		for fork := range 4 {
			f := forkRounds{draw: draw, fork: fork, levels: map[int]float64{}}
			var own [cells]float64
			for c := range own {
				f.levels[c], own[c] = 0.005*r.NormFloat64(), 0.04*r.Float64()
			}
			for number := range rounds {
				round := wholeRound{number: number, lnCost: make(map[int]float64, cells), order: r.Perm(cells)}
				for _, c := range round.order {
					cost := hit(record.BlockRun{}, record.Batch{})
					if r.Float64() < own[c] {
						cost *= 1.5
					}
					round.lnCost[c] = f.levels[c] + 0.02*r.NormFloat64() + math.Log(cost)
				}
				f.rounds = append(f.rounds, round)
			}
			j.forks = append(j.forks, f)
		}
	}
	return j
}
