package validate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"protocolbench/internal/record"
	"protocolbench/internal/synthetic"
	"protocolbench/internal/verdict"
)

// clean is what many clean runs come to.
type clean struct {
	runs, passes, looks int
	rest                map[string]int // reasons of runs that didn't pass
	families            []cleanFamily
	flat, stepped       int
	large, wrong        int // families of 15 versions, and those with a p-value below its level
	oneLook             int // with one look, and all of alpha for it
	all, allWrong       int // the same of families of any number of versions
	grown, growths      int
	slopes, slopesIn    int
	floors, whole       int
	slower              int
	versions, undecided int
	noises              [][]noise
}

// cleanFamily has the estimates of each version over all runs.
type cleanFamily struct {
	name      string
	estimates map[int][]float64
	halves    map[int][]float64
	intervals int
	covered   int
	floors    []float64
}

// floorRuns is in how many of the runs each family is judged again, with its own floor as the margin.
const floorRuns = 60

// noiseRuns is in how many of them the noise is looked at.
const noiseRuns = 10

func cleanRuns(o Options) *clean {
	c := &clean{rest: map[string]int{}, families: make([]cleanFamily, len(standardFamilies)), noises: make([][]noise, len(standardFamilies))}
	for i, f := range standardFamilies {
		c.families[i] = cleanFamily{name: f.name, estimates: map[int][]float64{}, halves: map[int][]float64{}}
	}
	for i := range o.Runs {
		var worlds []synthetic.World
		for _, f := range standardFamilies {
			worlds = append(worlds, f.world(o.Seed*1_000_000+uint64(i)))
		}
		c.add(makeRun(o.Seed*1_000_000+uint64(i), worlds...), i)
	}
	return c
}

func (c *clean) add(m made, number int) {
	first := judge(m.run)
	c.first(first)
	if number < noiseRuns {
		for i, f := range m.run.Families {
			c.noises[i] = append(c.noises[i], noiseOf(f))
		}
	}
	if number < floorRuns {
		for i, f := range first.Families {
			c.floors++
			if judgedWith(m.run.Families[i], f.Floor) {
				c.whole++
			}
		}
	}
	last := first
	if m.lookAgain(first, verdict.WorthALook) {
		c.looks++
		last = judge(m.run)
	}
	c.last(first, last)
}

// judgedWith tells whether every version is `not slower` by another margin than was declared.
func judgedWith(f record.FamilyRun, margin float64) bool {
	f.Margin = margin
	alone := synthetic.Record(1, "standard")
	alone.Header.Budget.Looks = 2
	alone.Families = []record.FamilyRun{f}
	return unlike(judge(alone).Families[0], verdict.NotSlower) == 0
}

// unlike counts the versions with another word.
func unlike(f verdict.Family, word string) int {
	n := 0
	for _, cell := range f.Cells {
		if cell.Verdict != word {
			n++
		}
	}
	return n
}

// first takes down what the first look shows: widths, floors, steps, growth.
func (c *clean) first(v verdict.Verdict) {
	for i, f := range v.Families {
		t := &c.families[i]
		t.floors = append(t.floors, f.Floor)
		for _, cell := range f.Cells {
			low, high, ok := logs(cell)
			if !ok {
				continue
			}
			t.intervals++
			if low <= 0 && 0 <= high {
				t.covered++
			}
			t.estimates[cell.Version] = append(t.estimates[cell.Version], math.Log1p(cell.Difference))
			t.halves[cell.Version] = append(t.halves[cell.Version], (high-low)/2)
		}
		c.flat++
		if len(f.Steps) > 0 {
			c.stepped++
		}
		if f.Growth != nil {
			c.growths++
			grows := false
			for _, cell := range f.Growth.Cells {
				grows = grows || cell.Grows
				if cell.Version == f.Reference {
					continue
				}
				c.slopes++
				if cell.Low <= 0 && 0 <= cell.High {
					c.slopesIn++
				}
			}
			if grows {
				c.grown++
			}
		}
	}
}

func logs(cell verdict.Cell) (low, high float64, ok bool) {
	if cell.Unbounded || cell.Low <= -1 {
		return 0, 0, false
	}
	return math.Log1p(cell.Low), math.Log1p(cell.High), true
}

// last takes down the words.
func (c *clean) last(first, last verdict.Verdict) {
	c.runs++
	if last.Verdict == verdict.Pass {
		c.passes++
	} else {
		c.rest[last.Verdict+": "+worstOf(last)]++
	}
	for i, f := range last.Families {
		wrong := falsely(first.Families[i], f)
		if len(f.Cells) == 15 {
			c.large++
			c.wrong += wrong
			if below(first.Families[i], verdict.Alpha) {
				c.oneLook++
			}
		}
		c.all++
		c.allWrong += wrong
		for _, cell := range f.Cells {
			c.versions++
			switch cell.Verdict {
			case verdict.Slower:
				c.slower++
			case verdict.Unresolved, verdict.Unresolvable:
				c.undecided++
			}
		}
	}
}

// falsely is 1 for a family of equal versions in which any p-value is below what its look may err by.
func falsely(first, last verdict.Family) int {
	one, two := verdict.LookAlphas()
	if below(first, one) {
		return 1
	}
	if last.Looks > 1 && below(last, two) {
		return 1
	}
	return 0
}

func below(f verdict.Family, level float64) bool {
	return slices.ContainsFunc(f.Cells, func(c verdict.Cell) bool { return c.P < level })
}

// worstOf says which families kept a run from passing, in few words.
func worstOf(v verdict.Verdict) string {
	var list []string
	for _, f := range v.Families {
		counts := map[string]int{}
		why := ""
		for _, cell := range f.Cells {
			if f.Deciding && cell.Verdict != verdict.NotSlower {
				counts[cell.Verdict]++
				why = cell.Why
			}
		}
		for _, word := range []string{verdict.Slower, verdict.Unresolvable, verdict.Unresolved} {
			if counts[word] > 0 {
				list = append(list, fmt.Sprintf("%s %s (%s)", f.Name, word, kindOf(why)))
			}
		}
	}
	if len(list) == 0 {
		return v.Reason
	}
	return strings.Join(list, ", ")
}

// kindOf is a reason without its figures.
func kindOf(why string) string {
	for _, kind := range []string{"canary", "draws disagree", "clients of the same version", "position", "order was not drawn", "batches are not alike", "floor", "upper bound"} {
		if strings.Contains(why, kind) {
			return kind
		}
	}
	return why
}

// print prints what was promised of clean clients.
func (c *clean) print(s *sheet) {
	c.printNoise(s)
	s.say("\nClean clients: %d runs of the standard profile, %d families each, all versions equal", c.runs, len(standardFamilies))
	intervals, covered, contrasts := 0, 0, 0
	var ratio float64
	for _, f := range c.families {
		intervals, covered = intervals+f.intervals, covered+f.covered
		r, n := f.ratio()
		ratio, contrasts = ratio+r*float64(n), contrasts+n
	}
	s.atLeast(covered, intervals, 0.93, "95 % intervals that have the true difference in them")
	s.check(ratio/float64(max(1, contrasts)) <= 1.3 || s.quick, "mean width of an interval, in widths of an oracle's that knows the estimate's true spread",
		fmt.Sprintf("%.3f", ratio/float64(max(1, contrasts))), "<= 1.3")
	s.atMost(c.oneLook, c.large, 0.05, "families of 15 versions in which any p-value is below its level, one look")
	s.atMost(c.wrong, c.large, 0.05, "the same with two looks, as a run takes them")
	s.atMost(c.allWrong, c.all, 0.05, "the same of all families")
	s.atMost(c.slower, c.versions, 0, "versions called slower")
	s.atLeast(c.flat-c.stepped, c.flat, 0.99, "families without a step")
	s.atMost(c.grown, c.growths, 0.01, "axes of sizes on which a version is said to grow")
	s.atLeast(c.slopesIn, c.slopes, 0.93, "95 % intervals of slopes that have the true one, 0, in them")
	s.atLeast(c.whole, c.floors, 0.90, "families that come out whole with the printed floor for a margin")
	s.atLeast(c.passes, c.runs, 0.90, "runs that pass")
	s.shown(c.looks, c.runs, "runs that take a second look at something")
	s.shown(c.undecided, c.versions, "versions without an answer")
	for _, why := range byCount(c.rest) {
		s.say("    %4d x %s", c.rest[why], why)
	}
	s.say("\n  %-45s %10s %10s %10s %12s %12s", "family", "covered", "width", "sd", "floor", "floor max")
	for i, f := range c.families {
		r, _ := f.ratio()
		s.say("  %-45s %8.1f %% %10.2f %8.2f %% %10.1f %% %10.1f %%  margin %.0f %%", f.name, 100*share(f.covered, f.intervals), r, 100*f.spread(), 100*middleOf(f.floors),
			100*slices.Max(f.floors), 100*standardFamilies[i].margin)
	}
}

// ratio is the mean of interval widths, each in widths of the oracle's for its version.
func (f cleanFamily) ratio() (float64, int) {
	var sum float64
	n := 0
	for version, estimates := range f.estimates {
		sd := sdOf(estimates)
		if sd == 0 {
			continue
		}
		for _, half := range f.halves[version] {
			sum += half / (oracle * sd)
			n++
		}
	}
	return sum / float64(max(1, n)), n
}

// oracle is how many standard deviations an interval of 95 % reaches that knows them.
const oracle = 1.96

// spread is the true standard deviation of a version's estimate, the middle one of all older versions.
func (f cleanFamily) spread() float64 {
	var sds []float64
	for _, estimates := range f.estimates {
		sds = append(sds, sdOf(estimates))
	}
	return middleOf(sds)
}

func (c *clean) printNoise(s *sheet) {
	s.say("Noise as simulated (of recorded runs: `validate records`); sds in %%: of a batch, and of a version's level from fork to fork, middle and largest; dear: %.2f times the fork's middle", dearFactor)
	s.say("  %-45s %8s %8s %8s %8s %8s %8s", "family", "batch", "dear", "lag 1", "lag 5", "forks", "largest")
	for i, list := range c.noises {
		printNoise(s, standardFamilies[i].name, list)
	}
}

func printNoise(s *sheet, name string, list []noise) {
	middle := func(of func(noise) float64) float64 {
		var xs []float64
		for _, n := range list {
			if n.ok {
				xs = append(xs, of(n))
			}
		}
		return middleOf(xs)
	}
	s.say("  %-45s %8.1f %8.2f %8.2f %8.2f %8.2f %8.2f", name, 100*middle(func(n noise) float64 { return n.batch }), middle(func(n noise) float64 { return n.dear }),
		middle(func(n noise) float64 { return n.lag1 }), middle(func(n noise) float64 { return n.lag5 }), 100*middle(func(n noise) float64 { return n.forks }),
		100*middle(func(n noise) float64 { return n.worst }))
}

// byCount are a map's keys, the most frequent first.
func byCount(counts map[string]int) []string {
	var keys []string
	for key := range counts {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	return keys
}
