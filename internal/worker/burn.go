package worker

import (
	"slices"

	"protocolbench/internal/measure"
)

const (
	calibrationSpins = 400_000 // about half a millisecond: far above the clock's own cost, far below a time slice
	calibrations     = 15
)

// spin burns CPU in a chain of dependent multiplications: no memory, no allocation, nothing a compiler or a processor can run
// beside itself, so that twice the iterations cost twice the time.
//
//go:noinline
func spin(x uint64, iterations int64) uint64 {
	for ; iterations > 0; iterations-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

// spinsFor gives the iterations that cost cpuNs on this process's CPU clock. It is asked once per plant, never in a batch, and calibrates
// each time: the processor's frequency may have changed since the last one. The median of several, since an interrupt or
// the collector only ever adds.
func spinsFor(cpuNs int64) int64 {
	if cpuNs == 0 {
		return 0
	}
	costs := make([]int64, calibrations)
	sink := spin(1, calibrationSpins) // warm
	for i := range costs {
		start := measure.SelfCPUNs()
		sink = spin(sink, calibrationSpins)
		costs[i] = measure.SelfCPUNs() - start
	}
	slices.Sort(costs)
	cost := max(costs[calibrations/2], 1)
	return int64(float64(cpuNs) * calibrationSpins / float64(cost))
}
