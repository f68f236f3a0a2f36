package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// GrowthSizes is how many sizes a slope is taken over: the largest ones of an axis. A cost that grows with the square of the size shows at
// the largest alone, so every small size more pulls the slope towards 0.
const GrowthSizes = 3

// Estimated is a number with its standard error, to be added up with others that were measured independently.
type Estimated struct {
	Value float64
	Error
}

// Single has the one of a contrast's two standard errors that makes the wider 95 % interval.
func (c Contrast) Single() (Estimated, bool) {
	if !c.Bounded {
		return Estimated{}, false
	}
	if c.Round.reach(0.975) > c.Fork.reach(0.975) {
		return Estimated{c.Estimate, c.Round}, true
	}
	return Estimated{c.Estimate, c.Fork}, true
}

// Less is e - other. Where both share something, as two contrasts against one reference do, the error is too large, the safe side.
func (e Estimated) Less(other Estimated) Estimated {
	return Estimated{e.Value - other.Value, AddErrors(e.Error, other.Error)}
}

// Interval is the two-sided interval of a level.
func (e Estimated) Interval(level float64) (low, high float64) {
	half := e.reach(0.5 + level/2)
	return e.Value - half, e.Value + half
}

// PAbove is the one-sided p-value against "it is at most limit".
func (e Estimated) PAbove(limit float64) float64 { return e.pAbove(e.Value - limit) }

// Slope is that of the contrasts d, one per size, over ln size: by how much faster than the reference's the cost per record of a version
// grows. 0 grows as the reference does, 1 is quadratic where the reference is linear.
//
// The sizes weigh alike. Weights by the contrasts' errors were tried: what grows is no line in ln size (a quadratic share bends
// upwards), so the slope then depends on which size happens to be noisy, two runs estimate two different things, and a noisy
// largest size, the only one that shows anything, counts least.
//
// False for fewer than three sizes, or sizes that are not above 0 or not different.
func Slope(sizes []float64, d []Estimated) (Estimated, bool) {
	weights, ok := slopeWeights(sizes)
	if !ok || len(d) != len(sizes) {
		return Estimated{}, false
	}
	return weighted(d, weights)
}

// SlopeOf is Slope of plain numbers, such as the logarithms of the reference's own costs.
func SlopeOf(sizes, ys []float64) (float64, bool) {
	d := make([]Estimated, len(ys))
	for i, y := range ys {
		d[i].Value = y
	}
	slope, ok := Slope(sizes, d)
	return slope.Value, ok
}

// Excess is the part of a version's cost per record at the largest of three rising sizes, beyond the reference's, that the two smaller
// sizes don't foretell, in units of the reference's cost there. costs are the reference's per record at each size, in any unit.
//
// A version whose request costs a fixed amount more, or whose records each do, has a slope too: the one weighs most at small
// sizes and the other at large ones. On a broker, where a response of 4 KiB is nearly all fixed cost, 30 % more per record has
// the slope of a quadratic fifth. But whatever is a/n + b is known from two sizes, and only what is left at the third grows.
func Excess(sizes, costs []float64, d []Estimated) (Estimated, bool) {
	if len(sizes) != 3 || len(costs) != 3 || len(d) != 3 || !(0 < sizes[0] && sizes[0] < sizes[1] && sizes[1] < sizes[2]) {
		return Estimated{}, false
	}
	u1, u2, u3 := 1/sizes[0], 1/sizes[1], 1/sizes[2]
	// The line through the first two points over 1/size, taken off the third.
	weights := []float64{-(u3 - u2) / (u1 - u2), -(u1 - u3) / (u1 - u2), 1}
	extra := make([]Estimated, 3)
	for i := range extra {
		if !(costs[i] > 0) {
			return Estimated{}, false
		}
		ratio := math.Exp(d[i].Value)
		extra[i] = Estimated{ratio - 1, Error{ratio * d[i].SE, d[i].DF}}
		weights[i] *= costs[i] / costs[2]
	}
	return weighted(extra, weights)
}

// weighted is the sum of estimates times weights.
func weighted(d []Estimated, weights []float64) (Estimated, bool) {
	var sum Estimated
	for i, w := range weights {
		sum.Value += w * d[i].Value
		sum.Error = AddErrors(sum.Error, Error{math.Abs(w) * d[i].SE, d[i].DF})
	}
	return sum, finiteAll([]float64{sum.Value, sum.SE, sum.DF})
}

// slopeWeights has what each point counts in the slope of a regression over ln size: the slope of a point that alone is 1.
func slopeWeights(sizes []float64) ([]float64, bool) {
	if len(sizes) < GrowthSizes {
		return nil, false
	}
	x, unit := make([]float64, len(sizes)), make([]float64, len(sizes))
	for i, size := range sizes {
		if !(size > 0) {
			return nil, false
		}
		x[i] = math.Log(size)
	}
	weights := make([]float64, len(sizes))
	for i := range weights {
		clear(unit)
		unit[i] = 1
		_, weights[i] = stat.LinearRegression(x, unit, nil, false)
	}
	return weights, finiteAll(weights)
}
