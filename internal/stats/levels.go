package stats

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Sample is one batch: which cell's, by an index from 0 on, and the logarithm of its cost.
type Sample struct {
	Cell int
	Ln   float64
}

const (
	// neighbours is how many batches ahead each batch is compared with. Machines change within tens of milliseconds, and the next two batches
	// of 10 ms are still much the same machine. Of 1, 2, 3 and 4, two and three spread least on recorded runs.
	neighbours = 2
	// cutoff of Tukey's bisquare, in standard deviations of a neighbours' difference: a pair further off than that was torn apart by a burst and
	// has no weight. The textbook's 4.685 keeps 95 % of the precision on clean normal noise; recorded runs have 10-30 % of batches in bursts, and
	// there 3 spreads less.
	cutoff = 3
	refits = 40
	// The first refits are Huber's, which find the middle of the differences from any start; the bisquare then only has to leave out what is far from it. Five of them were
	// too few in one of 720 simulated forks with bursts: a level that began a third too low stayed there, and the bisquare left out whatever spoke against it.
	huberRefits = 15
	huberCutoff = 1.345
	// converged: levels that move less are the same.
	converged = 1e-7
)

// Levels finds each cell's level (the logarithm of its cost, about their common mean) from the batches of one fork, in order of
// measurement. Each element of stretches is a run of batches without a gap.
//
// What is compared are neighbours: batches that came within 20 ms of each other. Whatever the machine does for longer than that, to whichever cell, is in
// both and falls out; what hits one of the two pulls them apart, and the bisquare weight leaves the pair out. The levels are those that explain all
// differences best: one weighted least-squares fit, refitted until the weights stand still.
//
// Rejected, on the same recorded runs (METHODOLOGY.md has the figures): pairing within rounds and trimming (a round of 18 batches is 200 ms long, and a burst
// hits a part of it; its levels spread 1.3-2 times as much from fork to fork), low quantiles (they pay for the machine's drift), a running
// median as the machine's level (two robust fits one after the other: 10-20 % more).
//
// False where there is too little to compare, or a cell that nothing connects with the others.
func Levels(stretches [][]Sample, cells int) ([]float64, bool) {
	pairs := pairsOf(stretches)
	if cells < 2 || len(pairs) < cells {
		return nil, false
	}
	return fit(pairs, polished(stretches, cells), cells)
}

// fit refits levels until they stand still, from a first guess.
func fit(pairs []pair, levels []float64, cells int) ([]float64, bool) {
	for n := range refits {
		scale := spreadOf(pairs, levels)
		if scale == 0 { // half of all differences are explained to the last digit
			return centre(levels), finiteAll(levels)
		}
		weight := bisquare
		if n < huberRefits {
			weight = huber
		}
		next, ok := refit(pairs, levels, scale, weight, cells)
		if !ok {
			// The bisquare may leave out all that a cell has: one with two costs, half a batch's cost apart, has no pair near its level. Huber's weights are never 0, and
			// their levels stand.
			return levels, n >= huberRefits && finiteAll(levels)
		}
		moved := 0.0
		for i := range next {
			moved = max(moved, math.Abs(next[i]-levels[i]))
		}
		levels = next
		if n > huberRefits && moved < converged {
			break
		}
	}
	return levels, finiteAll(levels)
}

// pair is the difference of two neighbouring batches of different cells.
type pair struct {
	of, against int
	d           float64
}

func pairsOf(stretches [][]Sample) []pair {
	var pairs []pair
	for _, stretch := range stretches {
		for i, s := range stretch {
			for _, next := range stretch[i+1 : min(len(stretch), i+1+neighbours)] {
				if s.Cell != next.Cell {
					pairs = append(pairs, pair{next.Cell, s.Cell, next.Ln - s.Ln})
				}
			}
		}
	}
	return pairs
}

func (p pair) residual(levels []float64) float64 { return p.d - (levels[p.of] - levels[p.against]) }

// spreadOf is the pairs' standard deviation by the median of absolute residuals.
func spreadOf(pairs []pair, levels []float64) float64 {
	residuals := make([]float64, len(pairs))
	for i, p := range pairs {
		residuals[i] = math.Abs(p.residual(levels))
	}
	middle, _ := MedianOf(residuals)
	return 1.4826 * middle
}

// refit solves the normal equations of the weighted differences. They fix levels up to a constant; adding one to every entry fixes the mean at 0.
func refit(pairs []pair, levels []float64, scale float64, weight func(deviations float64) float64, cells int) ([]float64, bool) {
	normal := mat.NewSymDense(cells, nil)
	right := mat.NewVecDense(cells, nil)
	for i := range cells {
		for j := i; j < cells; j++ {
			normal.SetSym(i, j, 1)
		}
	}
	for _, p := range pairs {
		w := weight(p.residual(levels) / scale)
		normal.SetSym(p.of, p.of, normal.At(p.of, p.of)+w)
		normal.SetSym(p.against, p.against, normal.At(p.against, p.against)+w)
		normal.SetSym(p.of, p.against, normal.At(p.of, p.against)-w)
		right.SetVec(p.of, right.AtVec(p.of)+w*p.d)
		right.SetVec(p.against, right.AtVec(p.against)-w*p.d)
	}
	var factor mat.Cholesky
	if !factor.Factorize(normal) || factor.Cond() > 1e10 {
		return nil, false
	}
	var solved mat.VecDense
	if factor.SolveVecTo(&solved, right) != nil {
		return nil, false
	}
	return solved.RawVector().Data, true
}

func bisquare(deviations float64) float64 {
	u := deviations / cutoff
	if math.Abs(u) >= 1 {
		return 0
	}
	return (1 - u*u) * (1 - u*u)
}

func huber(deviations float64) float64 { return min(1, huberCutoff/math.Abs(deviations)) }

// polished gives the first guess: each cell's median about the medians of its stretch.
func polished(stretches [][]Sample, cells int) []float64 {
	byCell := make([][]float64, cells)
	for _, stretch := range stretches {
		values := make([]float64, len(stretch))
		for i, s := range stretch {
			values[i] = s.Ln
		}
		middle, _ := MedianOf(values)
		for _, s := range stretch {
			byCell[s.Cell] = append(byCell[s.Cell], s.Ln-middle)
		}
	}
	levels := make([]float64, cells)
	for i, values := range byCell {
		levels[i], _ = MedianOf(values)
	}
	return centre(levels)
}

func centre(xs []float64) []float64 {
	m := mean(xs)
	centred := make([]float64, len(xs))
	for i, x := range xs {
		centred[i] = x - m
	}
	return centred
}
