package validate

import (
	"cmp"
	"math"
	"slices"

	"protocolbench/internal/record"
	"protocolbench/internal/stats"
	"protocolbench/internal/verdict"
)

// noise is what a family's figures are disturbed by, in a record of whatever origin: so that what is made up can be laid beside what was measured.
type noise struct {
	batch float64 // sd of ln cost of a batch, by the median difference of neighbours
	dear  float64 // share of batches that cost 1.15 times or more what the middle one of their fork does
	lag1  float64 // correlation of a batch's residual with the next one's
	lag5  float64
	forks float64 // sd of a version's level from fork to fork: median over versions
	worst float64 // and the largest
	ok    bool
}

const dearFactor = 1.15

func noiseOf(f record.FamilyRun) noise {
	forks := verdict.LevelsOf(f)
	if len(forks) < 2 {
		return noise{}
	}
	var differences, all, next, later, earlier []float64
	n := noise{ok: true}
	for _, fork := range forks {
		middle := middleOf(fork.Residuals)
		for i, r := range fork.Residuals {
			r -= middle
			all = append(all, r)
			if r > math.Log(dearFactor) {
				n.dear++
			}
			if i > 0 {
				differences = append(differences, math.Abs(fork.Residuals[i]-fork.Residuals[i-1]))
				next = append(next, r*(fork.Residuals[i-1]-middle))
			}
			if i >= 5 {
				later = append(later, r*(fork.Residuals[i-5]-middle))
			}
			earlier = append(earlier, r*r)
		}
	}
	n.batch = 1.4826 * middleOf(differences) / math.Sqrt2
	n.dear /= float64(len(all))
	n.lag1, n.lag5 = meanOf(next)/meanOf(earlier), meanOf(later)/meanOf(earlier)
	var spreads []float64
	for _, c := range f.Cells {
		if c.Role == record.RoleVersion {
			var levels []float64
			for _, fork := range forks {
				levels = append(levels, fork.Levels[c.Cell])
			}
			spreads = append(spreads, sdOf(levels))
		}
	}
	n.forks = middleOf(spreads)
	n.worst = slices.Max(spreads)
	return n
}

func meanOf(xs []float64) float64 {
	var sum float64
	for _, x := range xs {
		sum += x
	}
	return sum / float64(max(1, len(xs)))
}

// sdOf is 0 for fewer than two.
func sdOf(xs []float64) float64 {
	m, sum := meanOf(xs), 0.0
	for _, x := range xs {
		sum += (x - m) * (x - m)
	}
	return math.Sqrt(sum / float64(max(1, len(xs)-1)))
}

// middleOf is the median, 0 of nothing.
func middleOf(xs []float64) float64 {
	middle, _ := stats.MedianOf(xs)
	return middle
}

// quantile is the smallest value that at least a share of all lie at or below.
func quantile(xs []float64, share float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	sorted := slices.SortedFunc(slices.Values(xs), cmp.Compare[float64])
	return sorted[max(0, min(len(sorted)-1, int(math.Ceil(share*float64(len(sorted))))-1))]
}
