package stats

import (
	"math"
	"slices"
)

// segmentations are the best segmentations of a row of levels into 1, 2, ... segments: those of the least weighted squares.
type segmentations struct {
	// squares[k][end] is the least weighted sum of squares of the first end levels in k+1 segments; from[k][end] is where the last of them begins.
	squares [][]float64
	from    [][]int
}

// segmentationsOf finds them all at once, up to most cuts, by dynamic programming: the best k+1 segments of the first levels are the best k segments of fewer, and one more
// (Bellman 1961). Exact, and at fifteen versions a few thousand additions; binary segmentation is no faster then, and misses a step that another one hides.
func segmentationsOf(levels, weights []float64, most int) segmentations {
	n := len(levels)
	cost := segmentCosts(levels, weights)
	s := segmentations{squares: [][]float64{make([]float64, n+1)}, from: [][]int{make([]int, n+1)}}
	for end := 1; end <= n; end++ {
		s.squares[0][end] = cost(0, end)
	}
	for k := 1; k <= most; k++ {
		squares, from := make([]float64, n+1), make([]int, n+1)
		for end := k + 1; end <= n; end++ {
			squares[end] = math.Inf(1)
			for at := k; at < end; at++ {
				if sum := s.squares[k-1][at] + cost(at, end); sum < squares[end] {
					squares[end], from[end] = sum, at
				}
			}
		}
		s.squares, s.from = append(s.squares, squares), append(s.from, from)
	}
	return s
}

// segmentCosts gives the weighted squares about the weighted mean of levels [from, end), by sums from the start on. The levels are centred, so little is lost
// in the difference.
func segmentCosts(levels, weights []float64) func(from, end int) float64 {
	n := len(levels)
	w, wx, wxx := make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)
	for i, x := range levels {
		w[i+1] = w[i] + weights[i]
		wx[i+1] = wx[i] + weights[i]*x
		wxx[i+1] = wxx[i] + weights[i]*x*x
	}
	return func(from, end int) float64 {
		sum := wx[end] - wx[from]
		return max(0, wxx[end]-wxx[from]-sum*sum/(w[end]-w[from]))
	}
}

// cuts are the places of the best k cuts, rising.
func (s segmentations) cuts(k int) []int {
	cuts := make([]int, 0, k)
	for end := len(s.squares[0]) - 1; k > 0; k-- {
		end = s.from[k][end]
		cuts = append(cuts, end)
	}
	slices.Reverse(cuts)
	return cuts
}

// count is the number of cuts by the criterion that Zhang and Siegmund (2007) made for change points, cut short: each cut has to take 3 ln n off the weighted
// squares, where weights are inverse variances of the levels over scale. The BIC's ln n per parameter begins with a cut in two of three flat rows of 15
// versions, 2 ln n in one of five, this in one of twenty, since a place that is looked for is more than a parameter. What it still lets through, significance
// over forks and bootstraps have to stop.
func (s segmentations) count(scale float64) int {
	n := len(s.squares[0]) - 1
	best, bestCost := 0, math.Inf(1)
	for k := range s.squares {
		if cost := scale*s.squares[k][n] + 3*float64(k)*math.Log(float64(n)); cost < bestCost {
			best, bestCost = k, cost
		}
	}
	return best
}
