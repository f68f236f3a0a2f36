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
// A contrast comes out so when its estimate lies below margin - reach(.95). With no difference the estimate is t times its standard
// error, so the chance is F((margin - reach)/SE); of its two standard errors the one that gives less counts. The floor
// solves product of chances = 0.9: the independent approximation. Contrasts share a reference and so come out together more often
// than that, which makes the floor a little too high, the safe side. (The usual (t.95 + t.80) SE of one contrast gives
// fourteen of them together a 3 % chance.)
//
// False where a contrast has no interval: then no margin would do.
func Floor(contrasts []Contrast) (float64, bool) {
	return smallestMargin(contrasts, func(slack []float64) float64 {
		chance := 1.0
		for i, c := range contrasts {
			chance *= min(c.Round.chanceBelow(slack[i]), c.Fork.chanceBelow(slack[i]))
		}
		return chance
	})
}

// sharedPoints is in how many equally likely values the shared part of FloorShared is taken apart.
const sharedPoints = 31

// FloorShared is Floor of contrasts that have a part of their error in common, beside one of each one's own: they come out together or not at all, and
// taking them for independent asked for a margin that is half as much again too wide.
func FloorShared(contrasts []Contrast, shared Error, own []Error) (float64, bool) {
	var values []float64
	for i := range sharedPoints {
		if shared.SE == 0 {
			values = []float64{0}
			break
		}
		values = append(values, shared.SE*tQuantile((float64(i)+0.5)/sharedPoints, shared.DF))
	}
	return smallestMargin(contrasts, func(slack []float64) float64 {
		var chance float64
		for _, value := range values {
			together := 1.0
			for i, c := range contrasts {
				together *= min(own[i].chanceBelow(slack[i]-value), c.Round.chanceBelow(slack[i]-value))
			}
			chance += together / float64(len(values))
		}
		return chance
	})
}

// smallestMargin finds the margin at which the chance, of what margins leave beyond each contrast's own reach, is enough.
func smallestMargin(contrasts []Contrast, chance func(slack []float64) float64) (float64, bool) {
	var widest float64
	reaches := make([]float64, len(contrasts))
	for i, c := range contrasts {
		if !c.Bounded {
			return 0, false
		}
		reaches[i] = c.reach(cmp.Or(c.UpperLevel, upperLevel))
		widest = max(widest, reaches[i])
	}
	if widest == 0 {
		return 0, true
	}
	passes := func(margin float64) bool {
		slack := make([]float64, len(reaches))
		for i, reach := range reaches {
			slack[i] = margin - reach
		}
		return chance(slack) >= floorPower
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

// chanceBelow is the probability that an estimate of no difference lies below x.
func (e Error) chanceBelow(x float64) float64 {
	switch {
	case e.SE > 0:
		return tCDF(x/e.SE, e.DF)
	case x >= 0:
		return 1
	default:
		return 0
	}
}
