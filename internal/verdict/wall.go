package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"protocolbench/internal/record"
	"protocolbench/internal/stats"
)

// WallMargin is the margin of the verdicts on wall time. It is one and wide: wall time has the broker and the machine in it, and what it is here for, a
// client that waits where it should work, is not a matter of a few per cent.
const WallMargin = 0.25

// wallAlpha is what a p-value has to be below, after Holm, before a version counts as slower in wall time. CPU time has a floor that keeps a noisy family from
// saying anything; here each version may speak for itself, since one that stalls makes its own noise, and the stricter level takes the floor's place.
const wallAlpha = rareAlpha

// wall judges the wall time of every version, beside its CPU time: a stall costs no CPU. It works on the cells that are made already, and after the checks of canary
// and position.
//
// Live tiers only. Tier 0 has nothing to wait for: its wall time is its CPU time and what the machine took away meanwhile, and the first of them has a verdict.
//
// The median and the 99th percentile of single requests are shown and decide nothing. What moves the median moves the batch. The 99th percentile of a batch of
// fewer than 100 requests, as most are, is its longest gap, for which there is a rule of its own; and versions that are alike differed in it by up to 136 % in
// quick runs of a clean client.
func (j *judgement) wall() {
	if j.Tier != 1 || j.newest < 0 {
		return
	}
	j.out.WallMargin = WallMargin
	rounds := samplesOf(timedByWall(j.FamilyRun))
	plateaus := j.plateaus(rounds.ofFirstLook(), WallMargin)
	cells := func(i int) func(forkRounds) (of, against []int) {
		if i == j.newest {
			return plateaus
		}
		return fixed([]int{j.versions[i].Cell}, j.reference)
	}
	contrasts := j.wallContrasts(rounds, cells)
	spoilt := j.wallSpoilt(rounds)
	for i := range j.out.Cells {
		c := contrasts[i]
		w := Wall{Difference: asRatio(c.Estimate)}
		w.Low, w.High, _ = bounds(c)
		w.Verdict, w.Why = j.wallWord(c, spoilt)
		w.P50 = j.medianRatio(cells(i), func(b record.Batch) int64 { return b.RequestP50Ns }) - 1
		w.P99 = j.medianRatio(cells(i), func(b record.Batch) int64 { return b.RequestP99Ns }) - 1
		w.Gap = j.medianRatio(cells(i), func(b record.Batch) int64 { return b.LongestGapNs })
		j.out.Cells[i].Wall = &w
	}
	j.stalls()
	j.warnOfWall()
}

// timedByWall is the family with wall time in the place of CPU time, so that rounds, contrasts and plateaus are those of the CPU's verdict.
func timedByWall(run record.FamilyRun) record.FamilyRun {
	run.BlockRuns = slices.Clone(run.BlockRuns)
	for i := range run.BlockRuns {
		batches := slices.Clone(run.BlockRuns[i].Batches)
		for k := range batches {
			batches[k].CPUNs = batches[k].WallNs
		}
		run.BlockRuns[i].Batches = batches
	}
	return run
}

// wallContrasts are made and steadied as those of CPU time are.
func (j *judgement) wallContrasts(s samples, cells func(i int) func(forkRounds) (of, against []int)) []cellContrast {
	made := make([]cellContrast, len(j.versions))
	all := make([]stats.Contrast, len(j.versions))
	for i := range j.versions {
		contrast, forks := s.contrast(j.widen, cells(i))
		made[i].name = contrastNewest
		if i == j.newest {
			made[i].name = contrastPlateau
		}
		p, apart, ok := stats.Disagreement(forks)
		made[i].apart = apart
		made[i].torn = ok && p < rareAlpha/float64(len(j.versions)) && apart >= math.Log1p(WallMargin)
		all[i] = contrast
	}
	stats.Moderate(all)
	ps := make([]float64, len(all))
	for i := range all {
		made[i].Contrast, ps[i] = all[i], all[i].PAbove(0)
	}
	for i, p := range stats.Holm(ps) {
		made[i].p = p
	}
	return made
}

// wallSpoilt says why a difference of the margin's size would prove nothing here, or "": the family's own controls say so, or clients of one version differ by as
// much. Wall time has no canary of its own: what is planted is CPU time, a few per cent of a request that waits. A floor of CPU time above its margin is no reason.
func (j *judgement) wallSpoilt(s samples) string {
	switch {
	case !j.out.Canary.Seen:
		return "the canary was missed, so the family's clocks or its plant are not to be trusted"
	case j.out.Position.Alarm:
		return "a batch's cost depends on its position in the round"
	}
	twins := j.twins(s, j.widen)
	ps := make([]float64, len(twins))
	for i, c := range twins {
		ps[i] = twoSided(c)
	}
	for i, p := range stats.Holm(ps) {
		if size := asRatio(math.Abs(twins[i].Estimate)); twins[i].Bounded && p < alpha && size >= WallMargin {
			return fmt.Sprintf("clients of the same version differ by %s in wall time", percent(size))
		}
	}
	return ""
}

// wallWord finds the word of one version. A difference of a quarter of a live request is material at any shape, so that is not asked.
func (j *judgement) wallWord(c cellContrast, spoilt string) (word, why string) {
	if len(j.nothing) > 0 {
		return Unresolved, strings.Join(j.nothing, "; ")
	}
	upperLn, ok := c.Upper(level)
	if !ok {
		return Unresolved, fmt.Sprintf("%d rounds in %d forks carry no interval: it needs %s", c.Rounds, c.Forks, c.Need)
	}
	if spoilt != "" {
		return Unresolvable, spoilt
	}
	if c.torn {
		return Unresolvable, fmt.Sprintf("draws disagree by %s in wall time", percent(asRatio(c.apart)))
	}
	low, high, _ := bounds(c)
	difference, upper := asRatio(c.Estimate), asRatio(upperLn)
	floor := floorOf([]cellContrast{c})
	switch {
	case c.p < wallAlpha && difference >= WallMargin:
		return Slower, fmt.Sprintf("%s [%s, %s] of wall time against the %s, margin %s", percent(difference), percent(low), percent(high), c.name, percent(WallMargin))
	case upper < WallMargin:
		return NotSlower, ""
	case floor > WallMargin:
		return Unresolvable, fmt.Sprintf("differences of wall time below %s can't be resolved here, the margin is %s", percent(floor), percent(WallMargin))
	default:
		return Unresolved, fmt.Sprintf("the upper bound of %s of wall time is not below the margin of %s", percent(upper), percent(WallMargin))
	}
}

// medianRatio is the median over a version's batches of the first look to that over those that it is compared with; 1 where there is nothing to divide. A second look has other
// cells in it, at another time: taken together, what the machine did then would stand beside what it did before.
func (j *judgement) medianRatio(cells func(forkRounds) (of, against []int), ns func(record.Batch) int64) float64 {
	var own, others []float64
	for _, block := range j.Looks()[0].BlockRuns {
		of, against := cells(forkRounds{draw: block.Draw, fork: block.Fork})
		for b := range block.Counted() {
			switch {
			case ns(b) <= 0:
			case slices.Contains(of, b.Cell):
				own = append(own, float64(ns(b)))
			case slices.Contains(against, b.Cell):
				others = append(others, float64(ns(b)))
			}
		}
	}
	a, aOK := stats.MedianOf(own)
	b, bOK := stats.MedianOf(others)
	if !aOK || !bOK {
		return 1
	}
	return min(Unbounded, a/b)
}

// warnOfWall counts the versions whose wall time has no answer. That alone keeps no run from passing: wall time has the disk and the scheduler of this machine in it,
// and a clean client on a busy one has to pass on the CPU that it uses. It has to be said, though.
func (j *judgement) warnOfWall() {
	var open []string
	for _, c := range j.out.Cells {
		if c.Wall.Verdict == Unresolved || c.Wall.Verdict == Unresolvable {
			open = append(open, fmt.Sprintf("v%d", c.Version))
		}
	}
	if len(open) > 0 && len(j.nothing) == 0 {
		j.warning(fmt.Sprintf("whether wall time differs by %s could not be told for %d of %d versions", percent(WallMargin), len(open), len(j.out.Cells)),
			"the verdict on CPU time stands by itself; for wall time run again on a quiet machine, or with a longer --profile")
	}
}

// wallFaults are what makes a run fail in a deciding family's wall time: versions that are slower, or that stall. A version whose CPU time is slower is named
// for that already; only a stall adds something to it.
func wallFaults(f Family) []string {
	var faults []string
	for _, c := range f.Cells {
		if !f.Deciding || c.Wall == nil {
			continue
		}
		words, figures := []string{}, ": "+c.Wall.Why
		if f.Embedded {
			figures = " (embedded broker: no figure)"
		}
		if c.Wall.Verdict == Slower && c.Verdict != Slower {
			words = append(words, "is slower in wall time")
		}
		if c.Wall.Stalls {
			words = append(words, "stalls")
		}
		if len(words) > 0 {
			faults = append(faults, fmt.Sprintf("%s v%d %s%s", f.Name, c.Version, strings.Join(words, " and "), figures))
		}
	}
	return faults
}
