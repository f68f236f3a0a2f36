package guards

import (
	"fmt"
	"time"

	"protocolbench/internal/record"
)

// What makes a round a busy one. Readings have a grain of 10 ms and a round takes some 200 ms, so less than a quarter can't be told from nothing; and a quarter of the worker's CPU
// is what a single other program takes that runs at all.
const (
	busyShare = 0.25
	busyNs    = 30_000_000
	stealPart = 0.10
	// mostBusy is the share of a family's rounds beyond which what is left is no fair draw of the machine any more.
	mostBusy = 1.0 / 3
	// mostStall is the share of a block's time that tasks of the host may wait for memory.
	mostStall = 0.05
)

// Busy says why a round is not to be used, by what the parent saw of the machine alone, or "". What a worker says of itself (its involuntary switches, what a batch cost) is no
// part of it: a version could shed its dear rounds by it.
func Busy(r record.HostRound) string {
	switch {
	case r.OthersCPUNs >= busyNs && float64(r.OthersCPUNs) >= busyShare*float64(r.WallNs):
		return fmt.Sprintf("other programs had the worker's CPU for %d of %d ms", ms(r.OthersCPUNs), ms(r.WallNs))
	case r.StealNs >= busyNs && float64(r.StealNs) >= stealPart*float64(r.WallNs):
		return fmt.Sprintf("the hypervisor took the worker's CPU for %d of %d ms", ms(r.StealNs), ms(r.WallNs))
	}
	return ""
}

func ms(ns int64) int64 { return ns / int64(time.Millisecond) }

// BusyRounds gives those of a block, each with its reason.
func BusyRounds(b record.BlockRun) map[int]string {
	busy := map[int]string{}
	for _, r := range b.Rounds {
		if why := Busy(r); why != "" {
			busy[r.Round] = why
		}
	}
	return busy
}

// TooBusy says why a family's rounds are no fair draw of the machine, or "".
func TooBusy(f record.FamilyRun) string {
	busy, all := 0, 0
	for _, b := range f.BlockRuns {
		busy, all = busy+len(BusyRounds(b)), all+len(b.Rounds)
	}
	if float64(busy) <= mostBusy*float64(all) {
		return ""
	}
	return fmt.Sprintf("the machine was busy with something else in %d of %d rounds: close other programs and run again", busy, all)
}

// checkHost asks what else the machine did. Busy rounds are left out of the figures, whole, so that all versions lose the same; too many of them, or a host short of memory, make
// the guard blind: what is left proves nothing about a client that had the machine to itself.
func checkHost(run *record.Run, f record.FamilyRun) []Finding {
	finding := Finding{Guard: Host, Tier: f.Tier, Family: f.Name, Version: AllVersions, Evidence: map[string]any{}}
	say := func(outcome Outcome, why string) []Finding {
		finding.Outcome, finding.Why = outcome, why
		return []Finding{finding}
	}
	rounds, unknown, busy, first := 0, 0, 0, ""
	var othersNs, stealNs, wallNs, switches int64
	for _, b := range f.BlockRuns {
		for _, r := range b.Rounds {
			rounds++
			if r.OthersCPUNs < 0 {
				unknown++
				continue
			}
			othersNs, stealNs, wallNs = othersNs+r.OthersCPUNs, stealNs+r.StealNs, wallNs+r.WallNs
			if why := Busy(r); why != "" {
				if busy++; first == "" {
					first = fmt.Sprintf("draw %d, fork %d, round %d: %s", b.Draw, b.Fork, r.Round, why)
				}
			}
		}
		for _, batch := range b.Batches {
			switches += batch.InvoluntarySwitches
		}
	}
	finding.Evidence = map[string]any{"rounds": rounds, "busy": busy, "othersCpuNs": othersNs, "stealNs": stealNs, "wallNs": wallNs, "involuntarySwitches": switches}
	if len(run.Header.Machine.Siblings) > len(run.Header.Machine.WorkerCPUs) {
		finding.Evidence["siblings"] = run.Header.Machine.Siblings
	}
	if first != "" {
		finding.Evidence["first"] = first
	}
	stalled := stalledBlock(f)
	switch {
	case run.Header.SharedHost:
		return say(Blind, "the run had a lock file of its own (PROTOCOL_BENCH_LOCK), so others may have run beside it, and nobody looked; run it without")
	case rounds == 0:
		return say(NotApplicable, "this record has no readings of the host per round")
	case unknown == rounds:
		return say(NotApplicable, "nothing is pinned to a CPU here (one CPU, or no affinity on this platform), so others' share of it can't be told")
	case TooBusy(f) != "":
		return say(Blind, TooBusy(f)+"; the first was "+first)
	case stalled != "":
		return say(Blind, stalled)
	case busy > 0:
		return say(Pass, fmt.Sprintf("%d of %d rounds were busy, and are left out whole", busy, rounds))
	}
	return say(Pass, "nobody else had the worker's CPU for a quarter of any round")
}

// stalledBlock finds a block in which tasks waited for memory.
func stalledBlock(f record.FamilyRun) string {
	for _, b := range f.BlockRuns {
		if h := b.Host; h != nil && h.MemoryStallNs != nil && float64(*h.MemoryStallNs) > mostStall*float64(h.WallNs) {
			return fmt.Sprintf("in draw %d, fork %d tasks of this host waited for memory for %d of %d ms: close other programs, or give it more memory", b.Draw, b.Fork, ms(*h.MemoryStallNs), ms(h.WallNs))
		}
	}
	return ""
}
