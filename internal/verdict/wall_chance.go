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
	forks     []gapFork // one by one, as they were added
}

// drawGaps are those of one draw.
type drawGaps struct {
	parts        [4]forkGaps // by look and half of the forks: each has calm cells of its own, and so another share for chance to hit
	forks, above int         // forks in all, and those in which the version had the larger share
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

func (g *longGaps) add(draw, part int, in forkGaps) {
	if in.own == 0 || in.calm == 0 {
		return
	}
	d := g.draws[draw]
	if d == nil {
		d = &drawGaps{}
		g.draws[draw] = d
	}
	d.parts[part].add(in)
	d.forks++
	g.forks = append(g.forks, gapFork{draw, part, in})
	if in.excess() > 0 {
		d.above++
	}
}

func (d *drawGaps) all() forkGaps {
	var sum forkGaps
	for _, in := range d.parts {
		sum.add(in)
	}
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
		if d.all().excess() >= stallShare && float64(d.above) >= share*float64(d.forks) && chanceOfAsMany(d.parts[:]) < alpha {
			came++
		}
	}
	return came
}

// shows tells whether the version has more long gaps than chance gives one of so many versions; stalls, whether they came back in every draw, too.
func (g *longGaps) shows(versions int) bool { return g.chance() < rareAlpha/float64(versions) }

func (g *longGaps) stalls(versions int) bool {
	return g.drawsWithAStall() == len(g.draws) && g.shows(versions)
}

// chance is that of as many long gaps on the version, over all draws, if they hit its batches no more than those of the calm cells.
func (g *longGaps) chance() float64 {
	var parts [4]forkGaps
	for _, d := range g.draws {
		for part, in := range d.parts {
			parts[part].add(in)
		}
	}
	return chanceOfAsMany(parts[:])
}

// chanceOfAsMany takes the long gaps as given and asks whose batches they hit: each hits the version's with the share that these have of all batches. The
// parts have different shares, so a sum of binomials it is. Where most batches have a long gap that makes the chance too large, the safe side: a batch is
// long once, however many hiccups it had (the exact distribution is hypergeometric, and narrower).
func chanceOfAsMany(parts []forkGaps) float64 {
	found := 0
	chances := []float64{1} // of 0, 1, 2, ... on the version, in the parts so far
	for _, in := range parts {
		long := in.ownLong + in.calmLong
		if long == 0 {
			continue
		}
		found += in.ownLong
		hit := distuv.Binomial{N: float64(long), P: ratio(float64(in.own), float64(in.own+in.calm), 0)}
		sums := make([]float64, len(chances)+long)
		for k := range long + 1 {
			p := hit.Prob(float64(k))
			for n, chance := range chances {
				sums[n+k] += p * chance
			}
		}
		chances = sums
	}
	var chance float64
	for _, p := range chances[found:] {
		chance += p
	}
	return min(1, chance)
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
