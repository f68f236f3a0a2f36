package verdict

import (
	"fmt"

	"protocolbench/internal/stats"

	"gonum.org/v1/gonum/stat/distuv"
)

// longGaps are the batches of one version that have a long gap, beside those of the calm cells.
type longGaps struct {
	draws     map[int]*drawGaps
	lengthsNs []float64 // the version's long gaps
}

// drawGaps are those of one draw. The halves of its forks have calm cells of their own.
type drawGaps struct {
	halves       [2]forkGaps
	forks, above int // forks in all, and those in which the version had the larger share
}

type forkGaps struct{ ownLong, own, calmLong, calm int }

func (f *forkGaps) count(own, long bool) {
	one := 0
	if long {
		one = 1
	}
	if own {
		f.own, f.ownLong = f.own+1, f.ownLong+one
	} else {
		f.calm, f.calmLong = f.calm+1, f.calmLong+one
	}
}

func (f *forkGaps) add(o forkGaps) {
	*f = forkGaps{f.ownLong + o.ownLong, f.own + o.own, f.calmLong + o.calmLong, f.calm + o.calm}
}

// excess is how much larger the version's share of batches with a long gap is.
func (f forkGaps) excess() float64 {
	return ratio(float64(f.ownLong), float64(f.own), 0) - ratio(float64(f.calmLong), float64(f.calm), 0)
}

func (g *longGaps) add(draw, half int, in forkGaps) {
	if in.own == 0 || in.calm == 0 {
		return
	}
	d := g.draws[draw]
	if d == nil {
		d = &drawGaps{}
		g.draws[draw] = d
	}
	d.halves[half].add(in)
	d.forks++
	if in.excess() > 0 {
		d.above++
	}
}

func (d *drawGaps) all() forkGaps {
	sum := d.halves[0]
	sum.add(d.halves[1])
	return sum
}

// drawsWithAStall counts the draws in which long gaps came back: in a share of batches that matters, in enough of the forks, and more often than by chance.
func (g *longGaps) drawsWithAStall() int {
	share := stallForks
	if len(g.draws) == 1 {
		share = 1
	}
	came := 0
	for _, d := range g.draws {
		if d.all().excess() >= stallShare && float64(d.above) >= share*float64(d.forks) && chanceOfAsMany(d.halves) < alpha {
			came++
		}
	}
	return came
}

// chance is that of as many long gaps on the version, over all draws, if they hit its batches no more than those of the calm cells.
func (g *longGaps) chance() float64 {
	var halves [2]forkGaps
	for _, d := range g.draws {
		for half, in := range d.halves {
			halves[half].add(in)
		}
	}
	return chanceOfAsMany(halves)
}

// chanceOfAsMany takes the long gaps as given and asks whose batches they hit: each hits the version's with the share that these have of all batches. The two
// halves have different shares, so the sum of two binomials it is. Where most batches have a long gap that makes the chance too large, the safe side: a batch is
// long once, however many hiccups it had (the exact distribution is hypergeometric, and narrower).
func chanceOfAsMany(halves [2]forkGaps) float64 {
	first, second := binomialOf(halves[0]), binomialOf(halves[1])
	found := float64(halves[0].ownLong + halves[1].ownLong)
	if first.N == 0 {
		return atLeast(second, found)
	}
	var chance float64
	for k := 0.0; k <= first.N; k++ {
		chance += first.Prob(k) * atLeast(second, found-k)
	}
	return min(1, chance)
}

func binomialOf(f forkGaps) distuv.Binomial {
	return distuv.Binomial{N: float64(f.ownLong + f.calmLong), P: ratio(float64(f.own), float64(f.own+f.calm), 0)}
}

// atLeast is P(X >= k). gonum's Survival is P(X > k), and gives NaN where N is 0, as its Prob does.
func atLeast(b distuv.Binomial, k float64) float64 {
	switch {
	case k <= 0:
		return 1
	case k > b.N:
		return 0
	default:
		return b.Survival(k - 1)
	}
}

// all are those of all draws.
func (g *longGaps) all() forkGaps {
	var sum forkGaps
	for _, d := range g.draws {
		sum.add(d.all())
	}
	return sum
}

func (g *longGaps) text(longFromNs int64) string {
	forks, above := 0, 0
	for _, d := range g.draws {
		forks, above = forks+d.forks, above+d.above
	}
	in := g.all()
	median, _ := stats.MedianOf(g.lengthsNs)
	return fmt.Sprintf("gaps above %.0f ms (half of them above %.0f ms) in %s of its batches, %s on the calm versions, in %d of %d forks; it came back in %d of %d draws",
		float64(longFromNs)/1e6, median/1e6, percent(float64(in.ownLong)/float64(in.own)), percent(float64(in.calmLong)/float64(in.calm)), above, forks, g.drawsWithAStall(), len(g.draws))
}
