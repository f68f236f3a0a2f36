package stats

import (
	"math"
	"testing"
)

func same(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(b)) }

func estimates(se, df float64, values ...float64) []Estimated {
	var list []Estimated
	for _, v := range values {
		list = append(list, Estimated{v, Error{se, df}})
	}
	return list
}

// Sizes in equal steps L of the logarithm: the slope is (d3 - d1) / 2L whatever d2 is, its variance that of d1 and d3 over 4 L^2. Two equal variances of 4
// degrees of freedom each have 8 together.
func TestSlopeOfThreeSizes(t *testing.T) {
	sizes := []float64{1, 10, 100}
	slope, ok := Slope(sizes, estimates(0.01, 4, 0.1, 7, 0.1+0.3*math.Log(100)))
	if !ok || !same(slope.Value, 0.3) || !same(slope.SE, 0.01*math.Sqrt2/math.Log(100)) || !same(slope.DF, 8) {
		t.Errorf("slope %+v, %v", slope, ok)
	}
	low, high := slope.Interval(0.95)
	if reach := 2.306004135 * slope.SE; math.Abs(low-(0.3-reach)) > 1e-9 || math.Abs(high-(0.3+reach)) > 1e-9 { // t.975 of 8
		t.Errorf("interval [%v, %v]", low, high)
	}
	// Unequal steps: 0, ln 100, ln 1000 in units of ln 10 are 0, 2, 3, their mean 5/3, the sum of squares 42/9, so the weights are -5, 1, 4 of 14.
	got, _ := SlopeOf([]float64{1, 100, 1000}, []float64{1, 10, 100})
	if want := (-5.0 + 10 + 400) / 14 / math.Ln10; !same(got, want) {
		t.Errorf("slope %v, want %v", got, want)
	}
}

// What costs a/n + b per record has no excess, however steep. What costs q n: the line over 1/n through sizes 1 and 10 gives 1.1 e2 - 0.1 e1 at 100, so
// 100 q - 11 q + 0.1 q are left.
func TestExcess(t *testing.T) {
	sizes := []float64{1, 10, 100}
	costs := []float64{50, 20, 17}
	d := func(extra func(n float64) float64) []Estimated {
		var list []Estimated
		for i, n := range sizes {
			list = append(list, Estimated{math.Log1p(extra(n) / costs[i]), Error{0.01, 4}})
		}
		return list
	}
	fixed, ok := Excess(sizes, costs, d(func(n float64) float64 { return 9/n - 0.7 }))
	if !ok || math.Abs(fixed.Value) > 1e-12 {
		t.Errorf("of a fixed cost and one per record %+v, %v", fixed, ok)
	}
	squared, ok := Excess(sizes, costs, d(func(n float64) float64 { return 0.02 * n }))
	if !ok || !same(squared.Value, 0.02*89.1/17) {
		t.Errorf("of a quadratic part %+v, %v; want %v", squared, ok, 0.02*89.1/17)
	}
	// Without a difference the error is that of 1 e3 - 1.1 e2 20/17 + 0.1 e1 50/17.
	none, _ := Excess(sizes, costs, estimates(0.01, 4, 0, 0, 0))
	if want := 0.01 * math.Sqrt(1+math.Pow(1.1*20/17, 2)+math.Pow(0.1*50/17, 2)); none.Value != 0 || !same(none.SE, want) {
		t.Errorf("without a difference %+v, want SE %v", none, want)
	}
}

func TestSingleTakesTheWiderError(t *testing.T) {
	// Three degrees of freedom reach 3.18 standard errors, a hundred 1.98.
	c := Contrast{Estimate: 1, Bounded: true, Round: Error{0.015, 100}, Fork: Error{0.01, 3}}
	if e, ok := c.Single(); !ok || e.Value != 1 || e.Error != c.Fork {
		t.Errorf("got %+v, %v, want the forks' error", e, ok)
	}
	c.Round.SE = 0.02
	if e, _ := c.Single(); e.Error != c.Round {
		t.Errorf("got %+v, want the rounds' error", e)
	}
	c.Bounded = false
	if _, ok := c.Single(); ok {
		t.Error("a contrast without an interval has an error")
	}
}

func TestGrowthNeedsThreeSizes(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, sizes := range [][]float64{nil, {1, 10}, {1, 10, 0}, {-1, 10, 100}, {10, 10, 10}, {1, 10, nan}, {1, 10, inf}} {
		d := make([]Estimated, len(sizes))
		if slope, ok := Slope(sizes, d); ok {
			t.Errorf("Slope over %v is %+v", sizes, slope)
		}
		if sizes == nil || !math.IsInf(sizes[len(sizes)-1], 1) {
			if excess, ok := Excess(sizes, make([]float64, len(sizes)), d); ok {
				t.Errorf("Excess over %v is %+v", sizes, excess)
			}
		}
	}
	sizes, costs := []float64{1, 10, 100}, []float64{3, 2, 1}
	for _, odd := range []float64{nan, inf, -inf, 1e300} {
		d := estimates(0.01, 4, 0, 0, odd)
		if slope, ok := Slope(sizes, d); ok && odd != 1e300 {
			t.Errorf("Slope of %v is %+v", odd, slope)
		}
		if excess, ok := Excess(sizes, costs, d); ok && odd != -inf {
			t.Errorf("Excess of %v is %+v", odd, excess)
		}
	}
	if excess, ok := Excess(sizes, []float64{0, 2, 1}, make([]Estimated, 3)); ok {
		t.Errorf("Excess of a cost of 0 is %+v", excess)
	}
	// Samples that are all alike have no error: the sign decides, and nothing divides by 0.
	slope, ok := Slope(sizes, estimates(0, 0, 0, 0, 1))
	if !ok || slope.PAbove(0) != 0 || slope.SE != 0 {
		t.Errorf("of exact contrasts %+v, %v", slope, ok)
	}
}
