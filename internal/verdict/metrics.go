package verdict

import (
	"math"
	"slices"

	"protocolbench/internal/record"
	"protocolbench/internal/stats"
)

// fillMetrics fills what a cell costs from all its batches. members are the cells that stand for the version: for the
// reference all its clients, so that the figure is the one the contrasts are taken against.
//
// CPU and wall time are trimmed means over batches, as the contrasts are. Tails are not trimmed: p99 is a mean over batches and the gap the
// longest of all.
func fillMetrics(cell *Cell, family record.FamilyRun, members []int) {
	var cpuPerRequest, cpuPerRecord, wallPerRequest, p50, p99 []float64
	var records, requests, wallNs, wireBytes, brokerNs, brokerRecords int64
	var gapNs int64
	for _, block := range family.BlockRuns {
		for b := range block.Counted() {
			if !slices.Contains(members, b.Cell) || family.Units(&b) <= 0 || b.Requests <= 0 {
				continue
			}
			cpuPerRequest = append(cpuPerRequest, float64(b.CPUNs)/float64(b.Requests))
			cpuPerRecord = append(cpuPerRecord, float64(b.CPUNs)/float64(family.Units(&b)))
			wallPerRequest = append(wallPerRequest, float64(b.WallNs)/float64(b.Requests))
			p50, p99 = append(p50, float64(b.RequestP50Ns)), append(p99, float64(b.RequestP99Ns))
			gapNs = max(gapNs, b.LongestGapNs)
			records += int64(family.Units(&b))
			wallNs += b.WallNs
			wireBytes += b.WireBytesIn + b.WireBytesOut
			// Codecs have no wire; there the client's own count is all there is.
			if family.Tier == 0 {
				requests += int64(b.Requests)
			} else {
				requests += int64(b.WireRequests)
			}
			if b.BrokerCPUNs >= 0 {
				brokerNs += b.BrokerCPUNs
				brokerRecords += int64(b.Records)
			}
		}
	}
	cell.CPUUsPerRequest = trimmed(cpuPerRequest) / 1e3
	cell.CPUNsPerRecord = trimmed(cpuPerRecord)
	cell.WallUsPerRequest = trimmed(wallPerRequest) / 1e3
	cell.P50Us, cell.P99Us, cell.LongestGapUs = trimmed(p50)/1e3, average(p99)/1e3, float64(gapNs)/1e3
	cell.RecordsPerSecond = ratio(float64(records)*1e9, float64(wallNs), 0)
	cell.WireBytesPerRecord = ratio(float64(wireBytes), float64(records), 0)
	cell.RequestsPer1000 = ratio(float64(requests)*1000, float64(records), 0)
	cell.BrokerCPUNsPerRecord = -1
	if family.Tier > 0 {
		cell.BrokerCPUNsPerRecord = ratio(float64(brokerNs), float64(brokerRecords), -1)
	}
	cell.AllocsPerRecord, cell.AllocBytesPerRecord = allocations(family, members)
	cell.SegmentsInPerRequest = segmentsIn(family, members)
}

func trimmed(xs []float64) float64 {
	m, _ := stats.TrimmedMean(xs, stats.Trim)
	return m
}

func average(xs []float64) float64 {
	m, _ := stats.TrimmedMean(xs, 0)
	return m
}

// ratio is a/b, or otherwise where there is no b.
func ratio(a, b, otherwise float64) float64 {
	if b <= 0 {
		return otherwise
	}
	return a / b
}

// allocations are counters: the value that most blocks agree on, not a mean that no block had.
func allocations(family record.FamilyRun, members []int) (perRecord, bytesPerRecord float64) {
	var counts, sizes []float64
	for _, block := range family.BlockRuns {
		for _, s := range block.Steadies {
			units := s.Records
			if family.Shape.Polls() {
				units = s.Requests
			}
			if slices.Contains(members, s.Cell) && units > 0 {
				counts = append(counts, float64(s.Allocs)/float64(units))
				sizes = append(sizes, float64(s.AllocBytes)/float64(units))
			}
		}
	}
	return mode(counts), mode(sizes)
}

// mode is the value that comes most often, the smallest of several; values count as alike in steps of 0.0001. Where all differ it is
// the median.
func mode(xs []float64) float64 {
	times := map[float64]int{}
	best, most := 0.0, 0
	for _, x := range slices.Sorted(slices.Values(xs)) {
		step := math.Round(x*1e4) / 1e4
		times[step]++
		if times[step] > most {
			best, most = step, times[step]
		}
	}
	if most < 2 {
		best, _ = stats.MedianOf(xs)
	}
	return best
}

// segmentsIn is the number of TCP data segments received per request between the two ends of the brackets, over all
// blocks; -1 where the platform has no such counter.
func segmentsIn(family record.FamilyRun, members []int) float64 {
	var segments, requests int64
	for _, block := range family.BlockRuns {
		if block.Open == nil || block.Close == nil {
			continue
		}
		for _, cell := range members {
			openSegments, openRequests, ok1 := received(block.Open, cell, family.Key)
			closeSegments, closeRequests, ok2 := received(block.Close, cell, family.Key)
			if ok1 && ok2 && closeSegments >= openSegments && closeRequests > openRequests {
				segments += closeSegments - openSegments
				requests += closeRequests - openRequests
			}
		}
	}
	return ratio(float64(segments), float64(requests), -1)
}

func received(e *record.Evidence, cell int, key int16) (segments, requests int64, ok bool) {
	for _, c := range e.CellSnapshots() {
		if c.Cell != cell {
			continue
		}
		for _, f := range c.Frames {
			if f.Key == key {
				requests += f.Count
			}
		}
		return c.DataSegsIn, requests, c.DataSegsIn >= 0
	}
	return 0, 0, false
}
