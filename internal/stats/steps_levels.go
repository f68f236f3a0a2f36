package stats

import (
	"math"
	"slices"
)

// clockGrain is a nanosecond of a batch of ten milliseconds: the least spread that levels can have. It keeps samples that are all alike from weighing
// infinitely much.
const clockGrain = 1e-7

// segmenting is what a row of versions is cut by.
type segmenting struct {
	rows []LevelRow // what a fork's versions share is taken out
	// variances of one version's level from fork to fork, steadied by each other; weights are their inverses.
	variances, weights []float64
	// borrowed is how many degrees of freedom the versions' common variance is worth.
	borrowed float64
}

func newSegmenting(rows []LevelRow) (segmenting, bool) {
	var s segmenting
	for _, row := range rows {
		if finiteAll(row.Levels) && len(row.Levels) == len(rows[0].Levels) {
			s.rows = append(s.rows, LevelRow{Draw: row.Draw, Fork: row.Fork, Levels: append([]float64(nil), row.Levels...)})
		}
	}
	if len(s.rows) < stepForks || len(s.rows[0].Levels) < 2 {
		return s, false
	}
	s.weights = make([]float64, len(s.rows[0].Levels))
	for v := range s.weights {
		s.weights[v] = 1
	}
	// Noisy versions should have little say in what a fork shares, and which are noisy shows only once that is taken out: in turns.
	for range 3 {
		s.takeOutForks()
		s.weigh()
	}
	return s, true
}

// takeOutForks takes out of each row its weighted mean.
func (s *segmenting) takeOutForks() {
	for _, row := range s.rows {
		var sum, weights float64
		for v, x := range row.Levels {
			sum += s.weights[v] * x
			weights += s.weights[v]
		}
		for v := range row.Levels {
			row.Levels[v] -= sum / weights
		}
	}
}

// weigh finds the versions' variances. Those of fetches of 4 KiB differ by a factor of 36 between old and new versions, those of most families don't differ
// at all; how much each is drawn to the common one is estimated, as in Moderate.
func (s *segmenting) weigh() {
	levels := s.levels(s.rows)
	df := float64(len(s.rows) - 1)
	var weights float64
	for _, w := range s.weights {
		weights += w
	}
	variances := make([]float64, len(levels))
	logs := make([]float64, len(levels))
	for v := range levels {
		var sum float64
		for _, row := range s.rows {
			sum += (row.Levels[v] - levels[v]) * (row.Levels[v] - levels[v])
		}
		// A row's weighted mean took the version's share of the weights with it.
		variances[v] = max(sum/(df*(1-s.weights[v]/weights)), clockGrain*clockGrain)
		logs[v] = math.Log(variances[v])
	}
	s.variances, s.borrowed = variances, 0
	if len(levels) >= 3 {
		common, borrowed := prior(logs, slices.Repeat([]float64{df}, len(logs)))
		s.borrowed = min(borrowed, float64(len(levels)-1)*df/2)
		for v := range variances {
			variances[v] = (s.borrowed*common + df*variances[v]) / (s.borrowed + df)
		}
	}
	for v := range variances {
		s.weights[v] = 1 / variances[v]
	}
}

// levels are the versions' means over rows.
func (s *segmenting) levels(rows []LevelRow) []float64 {
	sums := make([]float64, len(s.weights))
	for _, row := range rows {
		for v, x := range row.Levels {
			sums[v] += x
		}
	}
	for v := range sums {
		sums[v] /= float64(len(rows))
	}
	return sums
}
