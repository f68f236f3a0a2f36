package guards

import (
	"fmt"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
)

// A live heap that is flat may still move: buffers that a client keeps settle in their size, and a reading may fall where a response and
// what was decoded of it are still held. Growth counts when it is more than a tenth, and more than 2 MiB and two responses. A leak
// is far above that: a block carries some fifty responses of 1 MiB and a thousand of 64 KiB.
const (
	heapShare   = 0.10
	heapBytes   = 2 << 20
	heldRecord  = 256 // bytes of a decoded record beside the response it points into
	heldAtATime = 2   // one being read, one fetched ahead
)

// allowance is by how many bytes two readings of a client that keeps nothing may differ.
func allowance(f record.Family) float64 {
	return heapBytes + heldAtATime*float64(f.Shape.FetchBytes+f.RecordsPerRequest*heldRecord)
}

// heap is the live heap of one worker process, at the last full collection before the first and the last reading.
type heap struct {
	pid                   int
	where                 record.Where
	readings              []uint64
	firstBytes, lastBytes float64
}

func (h heap) grows(allowed float64) bool {
	growth := h.lastBytes - h.firstBytes
	return growth > allowed && growth > heapShare*h.firstBytes
}

// checkMemory asks whether the client keeps what it should let go. Processes are told apart: each begins with an empty heap. A leak is in the
// code, so it shows in every process; growth in one of several is chance. Tier 2 has one cell, so all growth is its own; checkRetained has the versions of the others.
func checkMemory(run *record.Run, f record.FamilyRun) []Finding {
	if f.Tier != 2 {
		return checkRetained(run, f)
	}
	finding := Finding{Guard: Memory, Tier: f.Tier, Family: f.Name, Version: AllVersions}
	heaps := heapsOf(f)
	growing := 0
	var shown []map[string]any
	for _, h := range heaps {
		if h.grows(allowance(f.Family)) {
			growing++
		}
		shown = append(shown, map[string]any{"draw": h.where.Draw, "fork": h.where.Fork, "readings": len(h.readings), "firstBytes": uint64(h.firstBytes), "lastBytes": uint64(h.lastBytes)})
	}
	finding.Evidence = map[string]any{"processes": shown, "growing": growing, "allowedBytes": int64(allowance(f.Family))}
	switch {
	case len(heaps) == 0:
		finding.Outcome, finding.Why = Blind, "no worker process gave two readings of its live heap, so growth would not be seen"
	case growing == len(heaps):
		finding.Outcome = Fail
		finding.Why = fmt.Sprintf("the client's live heap grew in every process, in the first from %.1f to %.1f MiB: it keeps what it should let go; take a heap profile of a long run",
			heaps[0].firstBytes/(1<<20), heaps[0].lastBytes/(1<<20))
	default:
		finding.Outcome, finding.Why = Pass, "the client's live heap after a full collection stayed flat"
	}
	if run.Header.Schema >= 4 { // earlier records don't have these
		judgeGrowth(&finding, append(processOf(f), connectionsOf(f, driver.Unpinned)...), processAdvice)
	}
	return []Finding{finding}
}

// heapsOf gives the processes with at least two readings. First and last are means over the first and the last quarter of the readings.
func heapsOf(f record.FamilyRun) []heap {
	var all []heap
	index := map[int]int{}
	for _, b := range f.BlockRuns {
		for _, e := range []*record.Evidence{b.Open, b.Close} {
			if e == nil || e.Worker.HeapLiveBytes == 0 {
				continue
			}
			i, seen := index[b.WorkerPID]
			if !seen {
				i = len(all)
				index[b.WorkerPID] = i
				all = append(all, heap{pid: b.WorkerPID, where: b.Where})
			}
			all[i].readings = append(all[i].readings, e.Worker.HeapLiveBytes)
		}
	}
	var enough []heap
	for _, h := range all {
		if len(h.readings) < 2 {
			continue
		}
		quarter := max(1, len(h.readings)/4)
		h.firstBytes, h.lastBytes = mean(h.readings[:quarter]), mean(h.readings[len(h.readings)-quarter:])
		enough = append(enough, h)
	}
	return enough
}

func mean(values []uint64) float64 {
	var total float64
	for _, v := range values {
		total += float64(v)
	}
	return total / float64(len(values))
}
