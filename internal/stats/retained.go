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

// RetainedBy takes steps in their order, one stretch per process and bracket, and gives what each version keeps.
//
// A step alone misleads: what is in a pool, or is held until the next request, is found alive by the collection after the batch, and is gone at the one
// after that. So each batch is charged with its own step and with the next one's, less what the next one's version keeps: what is let go at once cancels
// to 0, what stays is counted once and by its own version, whoever follows. What the versions keep is therefore solved for all of them at once. None keeps less
// than nothing.
//
// It is a mean and not a median: a client that keeps one response of three has a median of 0. A jump that comes once is no finding for all that: of n batches with one
// jump the mean is one standard error above 0, whatever the jump.
func RetainedBy(stretches [][]HeapStep) map[int]Retained {
	keeps := solveRetained(stretches)
	retained := map[int]Retained{}
	for of, charged := range charge(stretches, keeps) {
		if r, ok := meanRetained(charged); ok {
			retained[of] = r
		}
	}
	return retained
}

// GrowthOf is by how much the heap grew in a step of all versions but some.
func GrowthOf(stretches [][]HeapStep, but map[int]bool) (Retained, bool) {
	var all []float64
	for _, stretch := range stretches {
		for _, s := range stretch {
			if !but[s.Of] {
				all = append(all, s.Bytes)
			}
		}
	}
	return meanRetained(all)
}

func meanRetained(bytes []float64) (Retained, bool) {
	n := float64(len(bytes))
	if n < 2 {
		return Retained{}, false
	}
	return Retained{Estimated{mean(bytes), Error{math.Sqrt(squares(bytes) / (n - 1) / n), n - 1}}, len(bytes)}, true
}

// Reach is how far a one-sided bound of the level lies from the estimate.
func (r Retained) Reach(level float64) float64 { return r.reach(level) }

// charge has what each version's batches are charged with where that is what their followers keep.
func charge(stretches [][]HeapStep, keeps map[int]float64) map[int][]float64 {
	charges := map[int][]float64{}
	for _, stretch := range stretches {
		for i := 0; i+1 < len(stretch); i++ {
			s, next := stretch[i], stretch[i+1]
			charges[s.Of] = append(charges[s.Of], s.Bytes+next.Bytes-keeps[next.Of])
		}
	}
	return charges
}

// solveRetained goes half of the way to what the charges say, again and again: all of it would swing for ever where two versions only follow each other. What is
// left after these is below a millionth, and all readings are whole bytes.
func solveRetained(stretches [][]HeapStep) map[int]float64 {
	const times = 60
	keeps := map[int]float64{}
	for range times {
		next := map[int]float64{}
		for of, charged := range charge(stretches, keeps) {
			next[of] = max(0, (keeps[of]+mean(charged))/2)
		}
		keeps = next
	}
	return keeps
}
