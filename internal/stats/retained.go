package stats

import "math"

// HeapStep is by how much the live heap differs between the reading before a batch and the reading before the next, and what the batch was of.
type HeapStep struct {
	Of    int // version
	Bytes float64
}

// Retained is what a batch of one version leaves behind that is not let go again, with the error of that mean.
type Retained struct {
	Estimated
	Batches int
}

// retainedEffects of a version on the heap: in the step before its batch, of its batch, and after it.
const retainedEffects = 3

// RetainedBy takes steps in their order, one stretch per process and bracket, and gives what each version keeps.
//
// A step alone misleads. What is in a pool, or is held until the next request, is found alive by the collection after the batch, and is gone at the one after that; and
// a client that makes ready for a batch has fetched ahead before the collection that the batch begins with, in the step of the version before it: of two leaks of the
// same kind, 10 % were charged to whoever went before. So each version has an effect on three steps, all of them are solved for at once, and what it keeps is
// their sum: what is let go cancels to 0, what stays is counted once and by its own version. That takes orders in which nobody always follows the same version.
//
// It is a mean and not a median: a client that keeps one response of three has a median of 0. A jump that comes once is no finding for all that: of n batches with one
// jump the mean is one standard error above 0, whatever the jump.
func RetainedBy(stretches [][]HeapStep) map[int]Retained {
	effects := solveEffects(stretches)
	charges := map[int][]float64{}
	for _, stretch := range stretches {
		for i := range stretch {
			of := stretch[i].Of
			kept, noise, steps := 0.0, 0.0, 0.0
			for e := range retainedEffects {
				kept += effects[e][of]
				if k := i - 1 + e; k > 0 && k+1 < len(stretch) {
					noise += effects.left(stretch, k)
					steps++
				}
			}
			if steps == 0 {
				continue
			}
			noise *= math.Sqrt(retainedEffects / steps) // at a stretch's ends fewer steps are known, and would seem less noisy
			charges[of] = append(charges[of], kept+noise)
		}
	}
	retained := map[int]Retained{}
	for of, charged := range charges {
		if r, ok := meanRetained(charged, retainedEffects); ok {
			retained[of] = r
		}
	}
	return notTooSure(retained)
}

// notTooSure widens what is far more certain than others: of a handful of batches a few are alike by luck, and then their own spread says nothing.
func notTooSure(retained map[int]Retained) map[int]Retained {
	var spreads []float64
	for _, r := range retained {
		spreads = append(spreads, r.SE*math.Sqrt(float64(r.Batches)))
	}
	usual, _ := MedianOf(spreads)
	for of, r := range retained {
		r.SE = max(r.SE, usual/2/math.Sqrt(float64(r.Batches)))
		retained[of] = r
	}
	return retained
}

// Reach is how far a one-sided bound of the level lies from the estimate.
func (r Retained) Reach(level float64) float64 { return r.reach(level) }

// effects by version: [0] in the step before, [1] in its own, [2] in the step after.
type effects [retainedEffects]map[int]float64

// owner is whose effect e falls into step i: that of the next batch, of this one, of the one before.
func owner(stretch []HeapStep, i, e int) int { return stretch[i+1-e].Of }

// left is what no effect explains of a step that has neighbours on both sides.
func (f effects) left(stretch []HeapStep, i int) float64 {
	rest := stretch[i].Bytes
	for e := range retainedEffects {
		rest -= f[e][owner(stretch, i, e)]
	}
	return rest
}

// solveEffects is a least-squares fit, one effect after the other. Orders are nearly balanced, so each round leaves a small part of the error of the one before.
func solveEffects(stretches [][]HeapStep) effects {
	const times = 40
	f := effects{{}, {}, {}}
	for round := range retainedEffects * times {
		e := (round + 1) % retainedEffects // its own batch's first: it should explain what it can
		sums, counts := map[int]float64{}, map[int]float64{}
		for _, stretch := range stretches {
			for i := 1; i+1 < len(stretch); i++ {
				of := owner(stretch, i, e)
				sums[of] += f.left(stretch, i)
				counts[of]++
			}
		}
		for of, sum := range sums {
			f[e][of] += sum / counts[of]
		}
	}
	return f
}

// GrowthOf is by how much the heap grew in a step, whosever batches these were.
func GrowthOf(stretches [][]HeapStep) (Retained, bool) {
	var all []float64
	for _, stretch := range stretches {
		for _, s := range stretch {
			all = append(all, s.Bytes)
		}
	}
	return meanRetained(all, 1)
}

// meanRetained is a mean with its error, where so many parameters were taken out of the samples.
func meanRetained(bytes []float64, parameters int) (Retained, bool) {
	n, df := float64(len(bytes)), float64(len(bytes)-parameters)
	if df < 1 {
		return Retained{}, false
	}
	return Retained{Estimated{mean(bytes), Error{math.Sqrt(squares(bytes) / df / n), df}}, len(bytes)}, true
}
