package verdict

import (
	"math"

	"protocolbench/internal/stats"
)

// describe fills what a run of two builds shows beside its words.
func (b *builds) describe() {
	b.out.Builds.Layouts = b.alone()
	b.out.Builds.IdleShare = b.idleShare()
}

// alone asks each pair of layouts by itself, as somebody would who builds both once: what its rounds say, and whether they are sure of it.
func (b *builds) alone() Layouts {
	var l Layouts
	if len(b.base.versions) != len(b.versions) || b.newest < 0 || b.base.newest < 0 {
		return l
	}
	var levels []float64
	for _, f := range b.forks {
		var sum float64
		for i := range b.versions {
			alone := samples{forks: []forkRounds{f}}
			_, forks := alone.combine(b.widen, func(forkRounds) []term { return []term{{b.clients(i), 1}, {b.base.clients(i), -1}} })
			estimate, _ := stats.TrimmedMean(forks[0].D, stats.Trim)
			sum += estimate
			if low, high, ok := stats.OwnInterval(forks[0].D, b.widen, level); ok {
				l.Of++
				if low > 0 || high < 0 {
					l.Differ++
				}
			}
		}
		levels = append(levels, sum/float64(len(b.versions)))
	}
	l.Pairs = len(levels)
	for i, x := range levels {
		if ratio := asRatio(x); i == 0 {
			l.Low, l.High = ratio, ratio
		} else {
			l.Low, l.High = min(l.Low, ratio), max(l.High, ratio)
		}
	}
	l.SD = spread(levels)
	return l
}

// spread is the standard deviation of samples, 0 where there are fewer than two.
func spread(xs []float64) float64 {
	if len(xs) < 2 {
		return 0
	}
	m := average(xs)
	var squares float64
	for _, x := range xs {
		squares += (x - m) * (x - m)
	}
	return math.Sqrt(squares / float64(len(xs)-1))
}

// idleShare is what the worker that had nothing to do used, as a part of what the other one used meanwhile.
func (b *builds) idleShare() float64 {
	var idleNs, busyNs int64
	for _, block := range b.BlockRuns {
		for _, batch := range block.Batches {
			if batch.IdleCPUNs != nil {
				idleNs += *batch.IdleCPUNs
				busyNs += batch.CPUNs
			}
		}
	}
	return ratio(float64(idleNs), float64(busyNs), -1)
}
