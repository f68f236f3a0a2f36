// Package stats has the estimators, intervals and tests behind a verdict. It works on plain numbers and imports nothing of
// ours. METHOD.md section 3 is its specification.
//
// No function gives NaN or an infinity: where the samples can't carry an answer, the answer says so (a second result, or
// Contrast.Bounded), since a record has to go through JSON and a reader has to see that it is no number.
package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Trim is the share that is cut from each end: half-way between a mean, which one interrupt moves, and a median, which
// throws away a third of the precision on clean samples.
const Trim = 0.2

// TrimmedMean is the mean of what is left when the share trim is cut off each end (the number cut is rounded down). The
// second result is false where there is no sample.
func TrimmedMean(xs []float64, trim float64) (float64, bool) {
	if len(xs) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(xs))
	cut := cutOf(len(xs), trim)
	return mean(sorted[cut : len(sorted)-cut]), true
}

// YuenSE is the standard error of the trimmed mean: the winsorised sum of squares over h(h-1), where h is the number of
// samples left (Yuen 1974), with h-1 degrees of freedom. False where fewer than two are left.
func YuenSE(xs []float64, trim float64) (se, df float64, ok bool) {
	n := len(xs)
	cut := cutOf(n, trim)
	h := float64(n - 2*cut)
	if h < 2 {
		return 0, 0, false
	}
	winsorised := slices.Sorted(slices.Values(xs))
	for i := range cut {
		winsorised[i] = winsorised[cut]
		winsorised[n-1-i] = winsorised[n-1-cut]
	}
	return math.Sqrt(squares(winsorised) / (h * (h - 1))), h - 1, true
}

// MedianOf is the textbook median: the middle sample, or the mean of the two middle ones. (gonum's stat.Quantile with
// LinInterp is another thing.)
func MedianOf(xs []float64) (float64, bool) {
	n := len(xs)
	if n == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(xs))
	return sorted[(n-1)/2]/2 + sorted[n/2]/2, true
}

func cutOf(n int, trim float64) int {
	cut := int(math.Floor(trim*float64(n) + 1e-9))
	return max(0, min(cut, (n-1)/2))
}

func mean(xs []float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	var sum float64
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// squares is the sum of squared deviations from the mean. Identical samples give exactly 0: rounding in the mean would
// leave a tiny number that later looks like a real standard error.
func squares(xs []float64) float64 {
	if len(xs) == 0 || slices.Min(xs) == slices.Max(xs) {
		return 0
	}
	m := mean(xs)
	var sum float64
	for _, x := range xs {
		sum += (x - m) * (x - m)
	}
	return sum
}

// tQuantile is Student's t; gonum panics for df <= 0, callers have checked that.
func tQuantile(p, df float64) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(p)
}

func tCDF(x, df float64) float64 {
	if math.IsInf(x, 0) {
		if x > 0 {
			return 1
		}
		return 0
	}
	return distuv.StudentsT{Sigma: 1, Nu: df}.CDF(x)
}

// fSurvival is the probability of an F at least x.
func fSurvival(x, between, within float64) float64 {
	if !(x > 0) {
		return 1
	}
	if math.IsInf(x, 1) {
		return 0
	}
	// By the incomplete beta of the other tail, which keeps its digits where 1-CDF would round to 0.
	return distuv.Beta{Alpha: within / 2, Beta: between / 2}.CDF(within / (within + between*x))
}
