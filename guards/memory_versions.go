package guards

import (
	"fmt"
	"slices"

	"protocolbench/internal/record"
	"protocolbench/internal/stats"
)

// Versions take turns in one process, and each batch begins with a forced collection. So what the collection before the next batch finds more than the one before
// this batch is what this batch kept, and its version is charged with it. The median over a block's rounds is taken: a buffer that grows once, or a response that is held
// in one round and let go in another, moves few of them. A version fails where the median is above the margin in every block, since a leak is in the code.
//
// A pool survives one forced collection, so a version that pools more than its neighbours seems to keep that in every round, and the next to let it go. Then the heap
// as a whole stays: growth from a block's first batch to its last has to carry at least half of what its versions are charged with. (Two collections would
// empty pools, and make every batch pay for filling them.)
const (
	keptBytes    = 64    // per request
	keptShare    = 0.001 // of the bytes of a request
	carriedShare = 0.5
	fewestSteps  = 3 // of a version in a block
)

// kept is what a version kept per request, one median per block, beside what a request carries.
type kept struct {
	perRequest   []float64
	requestBytes float64
}

func (k kept) allowed() float64 { return max(keptBytes, keptShare*k.requestBytes) }

func (k kept) least() float64 { return slices.Min(k.perRequest) }

// checkRetained asks each version of a family of tiers 0 and 1 what it kept. Records before schema 4 have no readings, and are not asked.
func checkRetained(run *record.Run, f record.FamilyRun) []Finding {
	if run.Header.Schema < 4 {
		return nil
	}
	byVersion, carried := map[int]kept{}, true
	for _, b := range f.BlockRuns {
		carried = chargeBlock(f.Family, b, byVersion) && carried
	}
	var findings []Finding
	for _, v := range versionsOf(f.Family) {
		findings = append(findings, retained(f.Family, v, byVersion[v], carried))
	}
	return findings
}

// chargeBlock adds a block's medians, and tells whether the heap as a whole grew by enough of them.
func chargeBlock(f record.Family, b record.BlockRun, byVersion map[int]kept) (carried bool) {
	steps, bytes, batches := map[int][]float64{}, map[int]float64{}, map[int]int{}
	charged, grown, requests := 0.0, 0.0, map[int]int{}
	for i := 0; i+1 < len(b.Batches); i++ {
		this, next := b.Batches[i], b.Batches[i+1]
		if this.HeapLiveBytes == 0 || next.HeapLiveBytes == 0 || this.Requests < 1 {
			continue
		}
		step, n, v := float64(next.HeapLiveBytes)-float64(this.HeapLiveBytes), float64(this.Requests), versionOf(f, this.Cell)
		grown += step
		steps[v] = append(steps[v], step/n)
		bytes[v] += float64(max(this.WireBytesIn+this.WireBytesOut, this.Bytes)) / n
		batches[v]++
		requests[v] += this.Requests
	}
	for v, s := range steps {
		median, ok := stats.MedianOf(s)
		if !ok || len(s) < fewestSteps {
			continue
		}
		k := byVersion[v]
		k.perRequest, k.requestBytes = append(k.perRequest, median), bytes[v]/float64(batches[v])
		byVersion[v] = k
		if median > k.allowed() {
			charged += median * float64(requests[v])
		}
	}
	return grown >= carriedShare*charged
}

// retained is the answer about one version.
func retained(f record.Family, version int, k kept, carried bool) Finding {
	finding := Finding{Guard: Memory, Tier: f.Tier, Family: f.Name, Version: version, Evidence: map[string]any{"blocks": len(k.perRequest)}}
	if len(k.perRequest) == 0 {
		finding.Outcome = Blind
		finding.Why = fmt.Sprintf("in no block are there %d readings of the live heap on both sides of a batch of v%d, so what it keeps would not be seen; the worker has to give heapLiveBytes with each batch",
			fewestSteps, version)
		return finding
	}
	least, most := k.least(), slices.Max(k.perRequest)
	finding.Evidence["leastBytesPerRequest"], finding.Evidence["mostBytesPerRequest"], finding.Evidence["allowedBytesPerRequest"] = least, most, k.allowed()
	if least > k.allowed() && carried {
		finding.Outcome = Fail
		finding.Why = fmt.Sprintf("v%d keeps between %.0f and %.0f bytes per request, in each of %d blocks, of %.0f that a request carries: it keeps what it should let go; take a heap profile of this version alone",
			version, least, most, len(k.perRequest), k.requestBytes)
		return finding
	}
	finding.Outcome, finding.Why = Pass, "in some block no more than is allowed stayed alive from batch to batch"
	return finding
}
