package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// LevelRow is one fork's level, ln cost, of each version in order. What all versions of a fork share may still be in it.
type LevelRow struct {
	Draw   int
	Fork   int
	Levels []float64
}

// Step is a place in the row of versions at which the level changes.
type Step struct {
	At       int     // index of the first version with the new level
	Estimate float64 // level of the segment that begins here less that of the segment before, ln
	Low      float64 // 95 %
	High     float64
	P        float64 // two-sided, of this place alone
	Stays    float64 // share of bootstraps with a cut at this place
	// Before and After are the two segments' levels, both from the mean of all versions.
	Before, After float64
}

// Thresholds of Steps.
const (
	// stepAlpha is for all places together. Flat data shall show no step in 99 of 100 families, so it is .01 and not .05.
	stepAlpha  = 0.01
	stepStays  = 0.90 // of bootstraps over forks
	bootstraps = 300
	// stepForks: two forks make one difference of versions, and one difference can't say what of it stays.
	stepForks = 3
)

// Steps cuts the row of versions into segments of one level each, and gives the cuts that hold: significant over forks (two-sided, Bonferroni over
// places), of one sign in every draw, and at the same place in 90 % of bootstraps over forks. Cuts that don't hold are merged back. The segmentation is
// exact, by dynamic programming; how many cuts it begins with is Zhang and Siegmund's criterion (see count). Rows that have a NaN, an infinity or
// another length than the first are left out; with fewer than 3 left there is no step.
//
// The unit is the fork: a client keeps a state of its own for as long as it lives, so rounds of one fork don't tell a state from a version.
//
// A step that is there may go without a name: one of fewer than about five standard errors of the difference of two neighbouring versions is often significant
// but can't be told from one a version further on, and then no place is named rather than a wrong one.
func Steps(rows []LevelRow, r *rand.Rand) []Step {
	s, ok := newSegmenting(rows)
	if !ok {
		return nil
	}
	levels := s.levels(s.rows)
	best := segmentationsOf(levels, s.weights, len(levels)-1)
	var kept []Step
	// From the criterion's number of cuts down: a cut too many can keep a true one from standing still. Fewer are tried only while they would name more.
	for k := best.count(float64(len(s.rows))); k > len(kept); k-- {
		if steps := s.hold(levels, best.cuts(k), s.stays(k, r)); len(steps) > len(kept) {
			kept = steps
		}
	}
	return kept
}

// hold merges back the weakest cut that doesn't hold, until all do.
func (s segmenting) hold(levels []float64, cuts []int, stays []float64) []Step {
	for len(cuts) > 0 {
		steps := make([]Step, len(cuts))
		weakest := -1
		for i, at := range cuts {
			left, right := 0, len(levels)
			if i > 0 {
				left = cuts[i-1]
			}
			if i+1 < len(cuts) {
				right = cuts[i+1]
			}
			var oneSign bool
			steps[i], oneSign = s.contrast(levels, left, at, right)
			steps[i].Stays = stays[at]
			holds := oneSign && stays[at] >= stepStays && steps[i].P < stepAlpha/float64(len(levels)-1)
			if !holds && (weakest < 0 || steps[i].P > steps[weakest].P) {
				weakest = i
			}
		}
		if weakest < 0 {
			return steps
		}
		cuts = slices.Delete(slices.Clone(cuts), weakest, weakest+1)
	}
	return nil
}

// contrast is the mean of versions [at, right) less the mean of versions [left, at), per fork and over all.
func (s segmenting) contrast(levels []float64, left, at, right int) (step Step, oneSign bool) {
	perFork := make([]float64, len(s.rows))
	byDraw := map[int]float64{}
	for i, row := range s.rows {
		perFork[i] = mean(row.Levels[at:right]) - mean(row.Levels[left:at])
		byDraw[row.Draw] += perFork[i]
	}
	step = Step{At: at, Estimate: mean(perFork), Before: mean(levels[left:at]), After: mean(levels[at:right])}
	oneSign = step.Estimate != 0
	for _, sum := range byDraw {
		oneSign = oneSign && sum*step.Estimate > 0
	}
	e := s.errorOf(perFork, left, at, right)
	step.P = 2 * e.pAbove(math.Abs(step.Estimate))
	half := e.reach(0.975)
	step.Low, step.High = step.Estimate-half, step.Estimate+half
	return step, oneSign
}

// errorOf is the standard error of a contrast. It starts from the forks' own spread, which has in it whatever clients of one fork share, and is steadied by
// what the versions' spreads predict for clients that vary each for itself; it is never below that. The prediction counts for at most twice the forks, so that
// four forks whose versions do move together are heard.
func (s segmenting) errorOf(perFork []float64, left, at, right int) Error {
	n, df := float64(len(perFork)), float64(len(perFork)-1)
	var predicted float64
	for v := left; v < right; v++ {
		width := float64(right - at)
		if v < at {
			width = float64(at - left)
		}
		predicted += s.variances[v] / (width * width)
	}
	borrowed := min(s.borrowed, 2*df, float64(len(s.variances)-2)*df/2)
	own := squares(perFork) / df
	steadied := (borrowed*predicted + df*own) / (borrowed + df)
	return Error{SE: math.Sqrt(max(predicted, steadied) / n), DF: df + borrowed}
}

// stays gives, for each place, in which share of bootstraps over forks it is among the best k cuts. All places are open there, those merged back, too: else a
// cut next to a forbidden true one would look firm.
func (s segmenting) stays(k int, r *rand.Rand) []float64 {
	shares := make([]float64, len(s.variances))
	again := make([]LevelRow, len(s.rows))
	for range bootstraps {
		for i := range again {
			again[i] = s.rows[r.IntN(len(s.rows))]
		}
		for _, at := range segmentationsOf(s.levels(again), s.weights, k).cuts(k) {
			shares[at]++
		}
	}
	for at := range shares {
		shares[at] /= bootstraps
	}
	return shares
}
