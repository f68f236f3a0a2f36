package verdict

import (
	"math"
	"slices"

	"protocolbench/seed"
)

// limitTrials is how often a hypothetical version is judged for one limit; one in a hundred of them may be missed.
const limitTrials = 400

// gapFork is one fork as the rule on stalls counts it.
type gapFork struct {
	draw, part int
	in         forkGaps
}

// stallLimit asks the rule on stalls itself: hypothetical versions, whose batches are as many as those of a real one and stand beside the calm cells' recorded ones, wait in
// a drawn part of their batches, and the rarest wait that the rule finds in 99 of 100 of them is the limit.
//
// The real version is the one with the fewest batches, and of these the one whose calm cells have the most long gaps. Only one version may wait: what all of them do has no
// calm version to stand out from.
func (j *judgement) stallLimit(runSeed uint64) *StallLimit {
	if j.Tier != 1 || j.newest < 0 {
		return nil
	}
	long := j.longFromNs()
	limit := &StallLimit{Ms: math.Ceil(float64(long)/1e5) / 10}
	forks := j.leastForks(long)
	requests := j.fewestRequests()
	if len(j.nothing) > 0 || long <= 0 || len(forks) == 0 || requests <= 0 {
		return limit
	}
	found := func(share float64) bool {
		r := seed.Stream(runSeed, "limits/stalls/"+j.Name) // the same numbers for each share: a larger one finds no less
		missed := 0
		for range limitTrials {
			if g := hypothetical(forks, share, r); !g.stalls(len(j.versions)) {
				missed++
			}
			if float64(missed) > (1-foundAlways)*limitTrials {
				return false
			}
		}
		return true
	}
	if !found(1) {
		return limit
	}
	low, high := 0.0, 1.0
	for range 9 {
		if middle := (low + high) / 2; found(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	// high = 1-(1-1/N)^requests
	limit.OneIn = max(1, int(1/-math.Expm1(math.Log1p(-min(high, 1-1e-9))/float64(requests))))
	return limit
}

// hypothetical counts a version's forks anew, as if each of its batches had a long gap with this probability, and no other.
func hypothetical(forks []gapFork, share float64, r interface{ Float64() float64 }) longGaps {
	g := longGaps{draws: map[int]*drawGaps{}}
	for _, f := range forks {
		in := f.in
		in.ownLong = 0
		for range in.own {
			if r.Float64() < share {
				in.ownLong++
			}
		}
		g.add(f.draw, f.part, in)
	}
	return g
}

// leastForks are those of the version of which the rule knows least.
func (j *judgement) leastForks(long int64) []gapFork {
	var least []gapFork
	var leastAll forkGaps
	for i := range j.versions {
		g := j.gapsOf(i, long)
		all := g.all()
		fewer := all.own < leastAll.own || all.own == leastAll.own && all.calmLong > leastAll.calmLong
		if all.own > 0 && (least == nil || fewer) {
			least, leastAll = g.forks, all
		}
	}
	return slices.Clone(least)
}

// fewestRequests is how many responses the smallest counted batch has.
func (j *judgement) fewestRequests() int {
	fewest := 0
	for _, block := range j.BlockRuns {
		for b := range block.Counted() {
			if b.Requests > 0 && (fewest == 0 || b.Requests < fewest) {
				fewest = b.Requests
			}
		}
	}
	return fewest
}
