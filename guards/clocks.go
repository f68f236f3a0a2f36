package guards

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"protocolbench/internal/record"
	"protocolbench/internal/stats"
)

// What a worker's clock and the parent's view of it may differ by.
const (
	// grainNs is what two readings of one clock from two processes may be apart.
	grainNs = 20_000
	// bracketShare and bracketNs bound the difference over a bracket. A snapshot and the parent's reading beside it are one answer apart,
	// which costs the worker up to some milliseconds of its own (a collection, the encoding).
	bracketShare = 0.02
	bracketNs    = 5_000_000
	// plantShare is the part of the canary's extra CPU that inside and outside may disagree on, beyond what chance makes in one of clockChance families.
	// Four standard errors for any number of pairs was the first way: with twelve pairs, on a busy machine, that accused a right clock.
	plantShare  = 0.3
	clockChance = 30_000
	// plantPairs is the least number of pairs that this is judged on.
	plantPairs = 8
)

// checkClocks compares the worker's CPU clock, from which every figure comes, with the parent's view of the same process.
func checkClocks(_ *record.Run, f record.FamilyRun) []Finding {
	t := newTally(Clocks, f.Family, "the worker's CPU clock and the parent's view of its process agree over every block, and no batch claims more CPU than the process used")
	for _, b := range f.BlockRuns {
		if !clocksReadable(b) {
			t.see(AllVersions, b.Where, Blind, "the worker's CPU clock could not be read from outside on this platform, so its own word stands alone; run on Linux", nil)
			continue
		}
		batchClocks(t, b)
		if !bracketed(b) {
			t.see(AllVersions, b.Where, Blind, whyOpen, nil)
			continue
		}
		bracketClocks(t, b)
	}
	plantFromOutside(t, f)
	return t.findings()
}

func clocksReadable(b record.BlockRun) bool {
	for _, batch := range b.Batches {
		if batch.OutsideCPUNs < 0 {
			return false
		}
	}
	return len(b.Batches) > 0 && (!bracketed(b) || b.Open.OutsideCPUNs >= 0 && b.Close.OutsideCPUNs >= 0)
}

// batchClocks: the timed part lies within what the parent brackets, so it can't have used more CPU than that.
func batchClocks(t *tally, b record.BlockRun) {
	for _, batch := range b.Batches {
		if batch.CPUNs > batch.OutsideCPUNs+grainNs {
			t.see(AllVersions, b.Where, Fail, fmt.Sprintf("a batch claims %d ns of CPU and the whole process used %d: the worker's clock is wrong", batch.CPUNs, batch.OutsideCPUNs),
				map[string]any{"cell": batch.Cell, "round": batch.Round, "insideNs": batch.CPUNs, "outsideNs": batch.OutsideCPUNs})
			return
		}
		if batch.CPUNs <= 0 {
			t.see(AllVersions, b.Where, Fail, "a batch claims to have used no CPU: the worker's clock is wrong", map[string]any{"cell": batch.Cell, "round": batch.Round})
			return
		}
	}
}

func bracketClocks(t *tally, b record.BlockRun) {
	inside, outside := b.Close.Worker.CPUNs-b.Open.Worker.CPUNs, b.Close.OutsideCPUNs-b.Open.OutsideCPUNs
	var timed int64
	for _, batch := range b.Batches {
		timed += batch.CPUNs
	}
	numbers := map[string]any{"insideNs": inside, "outsideNs": outside, "timedNs": timed}
	allowed := max(bracketShare*float64(outside), bracketNs)
	switch {
	case math.Abs(float64(outside-inside)) > allowed:
		t.see(AllVersions, b.Where, Fail, fmt.Sprintf("over a block the worker's clock says %.1f ms of CPU and the parent's view %.1f ms: every figure would be off by as much; correct the worker's clock",
			float64(inside)/1e6, float64(outside)/1e6), numbers)
	case timed > outside+grainNs:
		t.see(AllVersions, b.Where, Fail, "the batches together claim more CPU than the process used: the worker's clock is wrong", numbers)
	default:
		t.pass(AllVersions, b.Where, numbers)
	}
}

// plantFromOutside finds a worker whose batches report a part of their CPU while its process total is right. What a batch costs
// beside the timed part is the same for the canary and for the reference's clients, so the canary's extra CPU has to look the same from both sides. Trimmed, because a burst of
// the machine doubles what it hits: on a plain mean of pairs with one client, a worker that halves its CPU was missed in a run of twelve rounds.
func plantFromOutside(t *tally, f record.FamilyRun) {
	var inside, apart []float64
	for _, b := range f.BlockRuns {
		if !clocksReadable(b) {
			continue
		}
		canary, reference := byRound(f.Family, b, record.RoleCanary), byRound(f.Family, b, record.RoleVersion, record.RoleTwin)
		for _, round := range slices.Sorted(maps.Keys(canary)) {
			c, clients := canary[round][0], reference[round]
			if len(clients) == 0 {
				continue
			}
			var insideNs, besideNs float64
			for _, r := range clients {
				insideNs += float64(r.CPUNs) / float64(len(clients))
				besideNs += float64(r.OutsideCPUNs-r.CPUNs) / float64(len(clients))
			}
			inside = append(inside, float64(c.CPUNs)-insideNs)
			apart = append(apart, float64(c.OutsideCPUNs-c.CPUNs)-besideNs)
		}
	}
	if len(inside) < plantPairs {
		if len(inside) > 0 {
			t.see(AllVersions, record.Where{Family: f.Name}, Blind, fmt.Sprintf("only %d rounds have both canary and reference, %d are needed: a worker whose batches report a part of their CPU would not be found; take more rounds",
				len(inside), plantPairs), map[string]any{"pairs": len(inside)})
		}
		return
	}
	extra, _ := stats.TrimmedMean(inside, stats.Trim)
	difference, _ := stats.TrimmedMean(apart, stats.Trim)
	standardError, freedom, ok := stats.YuenSE(apart, stats.Trim)
	if !ok {
		return
	}
	chance := distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile(1-0.5/clockChance) * standardError
	if math.Abs(difference) > plantShare*math.Abs(extra) && math.Abs(difference) > chance {
		t.see(AllVersions, record.Where{Family: f.Name}, Fail, fmt.Sprintf("the planted slowdown costs %.0f us a batch by the worker's clock and %.0f us by the parent's: batches report only a part of their CPU; correct the worker's clock",
			extra/1e3, (extra+difference)/1e3), map[string]any{"pairs": len(inside), "insideUs": extra / 1e3, "outsideUs": (extra + difference) / 1e3})
	}
}

// byRound are the batches of the reference version's cells in some roles.
func byRound(f record.Family, b record.BlockRun, roles ...string) map[int][]record.Batch {
	rounds := map[int][]record.Batch{}
	for _, c := range f.Cells {
		if slices.Contains(roles, c.Role) && c.Version == f.Reference {
			for _, batch := range batchesOf(b, c.Cell) {
				if !batch.Primes {
					rounds[batch.Round] = append(rounds[batch.Round], batch)
				}
			}
		}
	}
	return rounds
}
