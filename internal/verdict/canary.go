package verdict

import (
	"fmt"
	"slices"
)

// calibrationError widens the canary's interval: the planted loop is timed to about that share of itself.
const calibrationError = 0.15

// liveOvershoot is how many times its plant a canary may cost in a live tier. A client that burns CPU between requests lets the socket fill, is woken otherwise and
// writes in other pieces, and pays for that, too: recorded runs have 1.0 to 1.2 times the plant with acks all and up to 64 KiB, 1.3 to 1.5 at 1 MiB and 1.0 to 1.8 with acks 0, by the worker's
// clock and by the parent's alike. A real slowdown of that size would cost as much. What a family must not do is see less than was planted.
const liveOvershoot = 2

// checkCanary looks for the planted slowdown. A family that doesn't find it could not have found a real one of that size.
func (j *judgement) checkCanary() {
	if j.layout.canary < 0 || j.PlantNsPerRequest <= 0 {
		if len(j.forks) > 0 {
			j.spoilt = append(j.spoilt, "no canary was planted, so nothing shows that a slow version would be seen")
		}
		return
	}
	low, high, ok := j.canary.Interval(level)
	referenceNs := j.referenceNsPerRequest()
	if !ok || referenceNs <= 0 {
		return // lookForEnough has said why
	}
	planted := float64(j.PlantNsPerRequest) / referenceNs
	slack := calibrationError * planted
	found := Canary{Planted: planted, Found: asRatio(j.canary.Estimate), Low: asRatio(low), High: asRatio(high)}
	most := planted + slack
	if j.Tier > 0 {
		most = max(most, liveOvershoot*planted)
	}
	found.Seen = found.Low > 0 && found.Low <= most && planted <= found.High+slack
	j.out.Canary = found
	if !found.Seen {
		j.spoilt = append(j.spoilt, fmt.Sprintf("the canary of %s was missed: found %s [%s, %s]",
			percent(planted), percent(found.Found), percent(found.Low), percent(found.High)))
		j.warning("the planted slowdown was not found as planted", "close other programs and run again; if it stays, the worker's clock or its plant is wrong")
	}
}

// referenceNsPerRequest is what a request of the reference version costs, over all its clients.
func (j *judgement) referenceNsPerRequest() float64 {
	var costs []float64
	for _, block := range j.BlockRuns {
		for b := range block.Counted() {
			if b.CPUNs > 0 && b.Requests > 0 && slices.Contains(j.reference, b.Cell) {
				costs = append(costs, float64(b.CPUNs)/float64(b.Requests))
			}
		}
	}
	return trimmed(costs)
}
