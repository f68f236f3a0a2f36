package stats

import "math"

// Excesses tells of each batch how far it lies above its neighbours when the cells' levels are taken out (a logarithm), and how much that spreads
// (as a standard deviation, by the median of absolutes: half of all batches may be anything). It is what Levels leaves out: a fit that forgives bursts of the
// machine doesn't see a client that is slow in one batch of five, either.
//
// The neighbours are those of Levels, before and behind, and their middle is what the machine did meanwhile: a burst longer than a few batches is in all of them and
// falls out. The result has the form of stretches. A batch without two neighbours of other cells has 0: nothing is known of it.
func Excesses(stretches [][]Sample, levels []float64) (excesses [][]float64, spread float64) {
	var absolutes []float64
	for _, stretch := range stretches {
		found := make([]float64, len(stretch))
		for i, s := range stretch {
			var around []float64
			for k := max(0, i-neighbours); k < min(len(stretch), i+neighbours+1); k++ {
				if other := stretch[k]; other.Cell != s.Cell {
					around = append(around, other.Ln-levels[other.Cell])
				}
			}
			if middle, ok := MedianOf(around); ok && len(around) > 1 {
				found[i] = s.Ln - levels[s.Cell] - middle
				absolutes = append(absolutes, math.Abs(found[i]))
			}
		}
		excesses = append(excesses, found)
	}
	middle, _ := MedianOf(absolutes)
	return excesses, 1.4826 * middle
}

// FarFrom is from where on an excess is no noise of batches: the cutoff at which Levels leaves a pair out.
func FarFrom(spread float64) float64 { return cutoff * spread }
