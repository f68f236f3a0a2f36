package stats

import "math"

// PoolBirge gives all contrasts of a family one Birge ratio, from the mean of what their draws say. Three draws know the ratio hardly better than by its
// order of magnitude: of fifteen versions one always has draws that differ by twice what their forks explain, by chance, and its width was then the floor
// of the whole family. A version whose draws really disagree has an alarm of its own (Disagreement).
func PoolBirge(contrasts []Contrast) {
	var sum, n float64
	for _, c := range contrasts {
		if c.Bounded {
			sum += c.DrawRatio
			n++
		}
	}
	if n == 0 {
		return
	}
	pooled := math.Sqrt(max(1, sum/n))
	for i := range contrasts {
		if c := &contrasts[i]; c.Bounded {
			c.Fork.SE *= pooled / c.Birge
			c.Round.SE *= pooled / c.Birge
			c.Birge = pooled
		}
	}
}
