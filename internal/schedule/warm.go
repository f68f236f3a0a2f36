package schedule

import (
	"math"
	"slices"
	"time"
)

// Warm-up: of the family's own shape, until two successive windows agree.
const (
	WarmWindow    = 5                // rounds
	QuickWindow   = 3                // rounds, in the quick profile
	WarmTolerance = 0.03             // relative
	WarmLimit     = 10 * time.Second // then the block is flagged `not warm` and measured all the same
)

// WarmEnough says whether two successive windows of rounds cost the same. Each value is one round's cost (of all its cells
// together: single cells are too noisy to wait for each). Medians are compared, since one hiccup of the machine in ten
// rounds says nothing about the client.
func WarmEnough(previous, current []float64, tolerance float64) bool {
	if len(previous) < QuickWindow || len(current) < QuickWindow {
		return false
	}
	before, after := middle(previous), middle(current)
	if !(before > 0) || !(after > 0) || math.IsInf(before, 0) || math.IsInf(after, 0) {
		return false
	}
	return math.Abs(after-before) <= tolerance*before
}

func middle(xs []float64) float64 {
	sorted := slices.Sorted(slices.Values(xs))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
