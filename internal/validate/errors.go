package validate

import (
	"math"
	"slices"

	"protocolbench/internal/synthetic"
	"protocolbench/internal/verdict"
)

// live is the family that single questions are asked of: Fetch of 64 KiB, 15 versions, margin 5 %.
const live = "tier1/fetch/size=64KiB/bare"

// seedOf keeps the questions' made-up records apart.
func (o Options) seedOf(question string, i int) uint64 {
	n := uint64(0)
	for _, c := range question {
		n = n*31 + uint64(c)
	}
	return o.Seed*1_000_000_000 + n%1_000_000*1000 + uint64(i)
}

// twoLooks is the worst case for two looks: every family is measured again, all of its versions, whatever the first look showed.
func twoLooks(s *sheet, o Options) {
	wrong := 0
	for i := range o.Families {
		m := makeRun(o.seedOf("looks", i), named(live).world(o.seedOf("looks", i)))
		first := judge(m.run)
		m.lookAgain(first, func(f verdict.Family) []int {
			var versions []int
			for _, c := range f.Cells {
				versions = append(versions, c.Version)
			}
			return versions
		})
		wrong += falsely(first.Families[0], judge(m.run).Families[0])
	}
	s.say("\nEqual versions, %d families of 15", o.Families)
	s.atMost(wrong, o.Families, 0.05, "families with a p-value below its level, where every version of every family gets a second look")
}

// equivalence has every older version exactly the margin slower than the newest: the hardest case in which `not slower` is wrong.
func equivalence(s *sheet, o Options) {
	counts, after, versions := map[string]int{}, map[string]int{}, 0
	for i := range o.Families {
		w := named(live).world(o.seedOf("margin", i))
		newest := w.Versions[len(w.Versions)-1]
		w.Cost = func(version int) float64 {
			if version == newest {
				return 1
			}
			return 1 + w.Margin
		}
		m := makeRun(w.Seed, w)
		first := judge(m.run)
		last := first
		if m.lookAgain(first, verdict.WorthALook) {
			last = judge(m.run)
		}
		for k, c := range first.Families[0].Cells {
			if c.Version != newest {
				versions++
				counts[c.Verdict]++
				after[last.Families[0].Cells[k].Verdict]++
			}
		}
	}
	s.say("\nEvery older version exactly the margin (5 %%) slower than the newest, %d families", o.Families)
	s.atMost(counts[verdict.NotSlower], versions, 0.05, "versions called `not slower`, first look")
	s.atMost(after[verdict.NotSlower], versions, 0.05, "the same, second looks taken where a run takes them")
	s.shown(after[verdict.Slower], versions, "called `slower`")
	s.shown(after[verdict.Unresolved]+after[verdict.Unresolvable], versions, "without an answer")
}

// steps plants steps of some standard errors of a neighbour's difference, whose true size clean runs have shown.
func steps(s *sheet, o Options, c *clean) {
	n := max(4, o.Families/3)
	i := slices.IndexFunc(c.families, func(f cleanFamily) bool { return f.name == live })
	// An estimate is of one client against three, variance 1 + 1/3; that of two neighbours has 2.
	se := c.families[i].spread() * math.Sqrt(2/(1+1.0/3))
	s.say("\nSteps at v12 of 15 versions, %d families each; the true standard error of two neighbours' difference is %.2f %% (%s)", n, 100*se, live)
	for _, errors := range []float64{4, 5, 6, 8} {
		right, elsewhere := stepped(o, n, named(live), errors*se)
		text := "found at v12, and nothing else: " + sizeText(errors*se) + ", " + number(errors) + " standard errors"
		if errors >= 6 {
			s.atLeast(right, n, 0.95, text)
		} else {
			s.shown(right, n, text)
		}
		s.atMost(elsewhere, n, 0.05, "a step named elsewhere")
	}
	small := named("tier1/fetch/size=4KiB/bare")
	right, _ := stepped(o, n, small, math.Log(1.043))
	s.shown(right, n, "found at v12: 4.3 % at 4 KiB, with clients of v4-v11 that differ by 3 %")
	small.oldState = 0.012
	right, _ = stepped(o, n, small, math.Log(1.043))
	s.shown(right, n, "found at v12: 4.3 % at 4 KiB, with clients of v4-v11 that differ by 1.2 %")
}

func stepped(o Options, n int, f standardFamily, ln float64) (right, elsewhere int) {
	for i := range n {
		w := f.world(o.seedOf("steps", i))
		w.Cost = func(version int) float64 {
			if version >= 12 {
				return math.Exp(ln)
			}
			return 1
		}
		found := judge(makeRun(w.Seed, w).run).Families[0].Steps
		if len(found) == 1 && found[0].At == 12 {
			right++
		}
		if slices.ContainsFunc(found, func(s verdict.Step) bool { return s.At != 12 }) {
			elsewhere++
		}
	}
	return right, elsewhere
}

// axes are the rows of families that growth looks at.
var axes = []struct {
	name     string
	families []string
}{
	{"tier 0 Fetch, records", []string{"tier0/fetch/records=1/bare", "tier0/fetch/records=100/bare", "tier0/fetch/records=10000/bare"}},
	{"tier 1 Fetch, size", []string{"tier1/fetch/size=4KiB/bare", "tier1/fetch/size=64KiB/bare", "tier1/fetch/size=1MiB/bare"}},
	{"tier 1 Produce, records", []string{"tier1/produce/records=1,acks=all/bare", "tier1/produce/records=100,acks=all/bare", "tier1/produce/records=1000,acks=all/bare"}},
}

const (
	plantedShare = 0.20 // of the cost at the largest size
	plantedFrom  = 7    // the first of the versions that grow
	plantedTo    = 9
)

// growth plants a quadratic part in some versions.
func growth(s *sheet, o Options) {
	n := max(2, o.Families/6)
	s.say("\nA quadratic part of %.0f %% of the cost at the largest size in v%d-v%d, %d axes each", 100*plantedShare, plantedFrom, plantedTo, n)
	for _, axis := range axes {
		found, planted, others, clean, inside, slopes := 0, 0, 0, 0, 0, 0
		for i := range n {
			worlds, truth := quadratic(o.seedOf("growth", i), axis.families)
			for _, f := range judge(makeRun(worlds[0].Seed, worlds...).run).Families {
				if f.Growth == nil {
					continue
				}
				for _, c := range f.Growth.Cells {
					if c.Version == f.Reference {
						continue
					}
					slopes++
					slope := 0.0
					if grows(c.Version) {
						planted++
						slope = truth
						if c.Grows {
							found++
						}
					} else {
						clean++
						if c.Grows {
							others++
						}
					}
					if c.Low <= slope && slope <= c.High {
						inside++
					}
				}
			}
		}
		s.atLeast(found, max(planted, n*(plantedTo-plantedFrom+1)), 0.95, axis.name+": versions with it that are said to grow")
		s.atMost(others, clean, 0.01, axis.name+": versions without it that are")
		s.atLeast(inside, slopes, 0.93, axis.name+": slopes inside their interval")
	}
}

func grows(version int) bool { return version >= plantedFrom && version <= plantedTo }

// quadratic makes the families of an axis, and the true slope of the versions that grow.
func quadratic(seedValue uint64, families []string) (worlds []synthetic.World, slope float64) {
	largest := named(families[len(families)-1])
	part := plantedShare / (1 - plantedShare) * largest.us
	var x, y []float64
	for _, name := range families {
		f := named(name)
		size := f.size()
		extra := part * square(float64(f.records)/float64(largest.records)) / f.us
		w := f.world(seedValue)
		w.Cost = func(version int) float64 {
			if grows(version) {
				return 1 + extra
			}
			return 1
		}
		worlds = append(worlds, w)
		x, y = append(x, math.Log(size)), append(y, math.Log1p(extra))
	}
	return worlds, slopeOf(x, y)
}

func square(x float64) float64 { return x * x }

// size is where a family stands on its axis.
func (f standardFamily) size() float64 {
	if f.shape.FetchBytes > 0 {
		return float64(f.shape.FetchBytes)
	}
	return float64(f.shape.RecordsPerBatch)
}

// slopeOf is that of a straight line by least squares.
func slopeOf(x, y []float64) float64 {
	mx, my := meanOf(x), meanOf(y)
	var above, below float64
	for i := range x {
		above += (x[i] - mx) * (y[i] - my)
		below += (x[i] - mx) * (x[i] - mx)
	}
	return above / below
}
