package worker

import (
	"slices"

	"protocolbench/internal/measure"
)

// leastSpins is how many iterations are burnt at once at least: about a microsecond. Fewer cost something else than as many in a row: leaving the loop is a branch that
// the processor guesses wrongly, and its beginning and end run beside the request's own work. Of 16 ns per request that made anything from half to one and a half (canaries of Fetch
// of one record, 32 to 60 ns, were found as 0.74 to 1.28 times themselves).
const leastSpins = 800

// burn gives out the iterations of a batch: what is short is saved up over requests.
type burn struct{ each, owed int64 }

// due is what is to be burnt after a request. With the last one of a batch nothing stays owed.
func (p *burn) due(last bool) int64 {
	p.owed += p.each
	if p.owed < leastSpins && !last {
		return 0
	}
	due := p.owed
	p.owed = 0
	return due
}

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
