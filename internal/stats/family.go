package stats

import (
	"cmp"
	"math"
	"slices"
)

// Holm gives the p-values adjusted for all of a family (Holm 1979), in the order given: the smallest times m, the next times
// m-1, ..., never falling, at most 1. It holds whatever the contrasts share, and here they share a reference.
func Holm(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	adjusted := make([]float64, len(ps))
	var floor float64
	for rank, i := range order {
		floor = max(floor, min(1, ps[i]*float64(len(ps)-rank)))
		adjusted[i] = floor
	}
	return adjusted
}

// Levels of the floor.
const (
	floorPower = 0.90 // of all contrasts together
	upperLevel = 0.95 // of the bound that has to lie below the margin
)

// Floor is the smallest margin (as a difference of logarithms) at which all contrasts together would come out `not slower`
// with 90 % probability, if there were no difference.
//
// A contrast comes out so when estimate + t(.95) SE < margin; with no difference estimate/SE is t, so its chance is
// F(margin/SE - t.95). The floor solves product of chances = 0.9 with each contrast's own standard error: the
// independent approximation. Contrasts share a reference and so come out together more often than that, which makes the floor a
// little too high, the safe side. (The usual (t.95 + t.80) SE of one contrast gives fourteen of them together a 3 % chance.)
//
// False where a contrast has no interval: then no margin would do.
func Floor(contrasts []Contrast) (float64, bool) {
	var widest float64
	bounds := make([]float64, len(contrasts)) // t.95 of each
	for i, c := range contrasts {
		if !c.Bounded {
			return 0, false
		}
		widest = max(widest, c.SE)
		bounds[i] = tQuantile(upperLevel, c.DF)
	}
	if widest == 0 {
		return 0, true
	}
	passes := func(margin float64) bool {
		chance := 1.0
		for i, c := range contrasts {
			if c.SE > 0 {
				chance *= tCDF(margin/c.SE-bounds[i], c.DF)
			}
		}
		return chance >= floorPower
	}
	low, high := 0.0, widest
	for !passes(high) {
		low, high = high, 2*high
		if math.IsInf(high, 1) {
			return 0, false
		}
	}
	for range 40 { // to 12 digits
		if middle := low + (high-low)/2; passes(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high, true
}
