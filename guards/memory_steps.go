package guards

import (
	"protocolbench/internal/record"
	"protocolbench/internal/stats"
)

// heapSteps are the steps of the live heap in some blocks, and what their batches carried, by version.
type heapSteps struct {
	stretches                       [][]stats.HeapStep
	batches, requests, requestBytes map[int]float64
}

// stepsOf takes each block from the batch on that from names.
func stepsOf(f record.Family, blocks []record.BlockRun, from func(record.Family, []record.Batch) int) heapSteps {
	steps := heapSteps{batches: map[int]float64{}, requests: map[int]float64{}, requestBytes: map[int]float64{}}
	for _, b := range blocks {
		var stretch []stats.HeapStep
		for i := from(f, b.Batches); i+1 < len(b.Batches); i++ {
			this, next := b.Batches[i], b.Batches[i+1]
			if this.HeapLiveBytes == 0 || next.HeapLiveBytes == 0 || this.Requests < 1 {
				steps.stretches, stretch = append(steps.stretches, stretch), nil
				continue
			}
			v := versionOf(f, this.Cell)
			stretch = append(stretch, stats.HeapStep{Of: v, Bytes: float64(next.HeapLiveBytes) - float64(this.HeapLiveBytes)})
			for _, of := range []int{v, AllVersions} {
				steps.batches[of]++
				steps.requests[of] += float64(this.Requests)
				steps.requestBytes[of] += float64(max(this.WireBytesIn+this.WireBytesOut, this.Bytes))
			}
		}
		steps.stretches = append(steps.stretches, stretch)
	}
	return steps
}

// settled is the first batch after every cell has had one.
func settled(f record.Family, batches []record.Batch) int {
	seen := map[int]bool{}
	for i, b := range batches {
		if len(seen) == len(f.Cells) {
			return i
		}
		seen[b.Cell] = true
	}
	return len(batches)
}

// secondHalf of a block.
func secondHalf(f record.Family, batches []record.Batch) int {
	return max(settled(f, batches), len(batches)/2)
}

func (s heapSteps) kept(of int, r stats.Retained, level, late float64) kept {
	return kept{Retained: r, requests: s.requests[of] / s.batches[of], requestBytes: s.requestBytes[of] / s.requests[of], level: level, late: late}
}

// keptIn gives what each version kept in these blocks.
func keptIn(f record.Family, blocks []record.BlockRun, level float64) map[int]kept {
	steps, second := stepsOf(f, blocks, settled), stepsOf(f, blocks, secondHalf)
	late := stats.RetainedBy(second.stretches)
	found := map[int]kept{}
	for v, r := range stats.RetainedBy(steps.stretches) {
		perRequest := r.Value / (steps.requests[v] / steps.batches[v]) // where the second halves have too few batches of it, all of them have to do
		if l, ok := late[v]; ok {
			perRequest = l.Value / (second.requests[v] / second.batches[v])
		}
		found[v] = steps.kept(v, r, level, perRequest)
	}
	return found
}

// keptTogether is what the versions that aren't named already keep, taken for one, in the second halves of blocks: what every client keeps once is as many jumps as
// there are clients.
func keptTogether(f record.Family, blocks []record.BlockRun, named map[int]bool) kept {
	steps := stepsOf(f, blocks, secondHalf)
	r, ok := stats.GrowthOf(steps.stretches)
	if len(named) > 0 {
		r, ok = retainedByOthers(steps.stretches, named)
	}
	if !ok {
		return kept{}
	}
	return steps.kept(AllVersions, r, keptLevel, r.Value/(steps.requests[AllVersions]/steps.batches[AllVersions]))
}

// retainedByOthers takes all versions but the named ones for one.
func retainedByOthers(stretches [][]stats.HeapStep, named map[int]bool) (stats.Retained, bool) {
	for _, stretch := range stretches {
		for i := range stretch {
			if !named[stretch[i].Of] {
				stretch[i].Of = AllVersions
			}
		}
	}
	r, ok := stats.RetainedBy(stretches)[AllVersions]
	return r, ok
}
