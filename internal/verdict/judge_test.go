package verdict

import (
	"math"
	"strings"
	"testing"

	"protocolbench/guards"
	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
	"protocolbench/internal/stats"
)

func judge(w world) Verdict { return judgeGood(w.run(), Options{}) }

func slow(version int, factor float64) func(int) float64 {
	return func(v int) float64 {
		if v == version {
			return factor
		}
		return 1
	}
}

func TestCleanRunPasses(t *testing.T) {
	for _, profile := range []string{schedule.Quick, schedule.Standard} {
		w := quickWorld(1)
		w.profile, w.families = profile, 3
		v := judge(w)
		if v.Verdict != Pass || v.ExitCode != 0 || !strings.Contains(v.Reason, "3 deciding families") {
			t.Errorf("%s: %s (%d): %s", profile, v.Verdict, v.ExitCode, v.Reason)
		}
		for _, f := range v.Families {
			if u := f.unusual(NotSlower); u != "" || !f.Canary.Seen || f.Floor <= 0 || f.Floor > 0.1 || len(f.Warnings) != 0 {
				t.Errorf("%s: %s, canary %+v, floor %v, warnings %v", f.Name, u, f.Canary, f.Floor, f.Warnings)
			}
		}
	}
}

func TestSlowVersionIsFound(t *testing.T) {
	w := quickWorld(2)
	w.cost = slow(9, 1.2)
	v := judge(w)
	f := v.Families[0]
	if u := f.unusual(NotSlower); u != "v9 slower" {
		t.Errorf("words: %s", u)
	}
	if c := cellOf(f, 9); math.Abs(c.Difference-0.2) > 0.01 || c.Contrast != "newest" || c.P > 0.05 {
		t.Errorf("v9 is 20 %% slower: %+v", c)
	}
	if v.Verdict != Fail || v.ExitCode != 3 || !strings.Contains(v.Reason, f.Name+" v9 is slower by") {
		t.Errorf("%s (%d): %s", v.Verdict, v.ExitCode, v.Reason)
	}
}

func TestNewestCanBeTheSlowOne(t *testing.T) {
	w := quickWorld(3)
	w.cost = slow(18, 1.2)
	f := judge(w).Families[0]
	if u := f.unusual(NotSlower); u != "v18 slower" {
		t.Errorf("words: %s", u)
	}
	if c := cellOf(f, 18); c.Contrast != "left plateau" || math.Abs(c.Difference-0.2) > 0.01 {
		t.Errorf("v18 is 20 %% slower than what is left of it: %+v", c)
	}
}

// The plateau ends at a step: v4-v11 cost 30 % less, which is not the newest one's doing.
func TestPlateauEndsAtAStep(t *testing.T) {
	w := quickWorld(4)
	w.cost = func(v int) float64 {
		if v < 12 {
			return 0.7
		}
		return 1
	}
	f := judge(w).Families[0]
	if u := f.unusual(NotSlower); u != "" {
		t.Errorf("words: %s", u)
	}
	if c := cellOf(f, 18); math.Abs(c.Difference) > 0.02 {
		t.Errorf("v18 against v12-v17 differs by %v, truth 0", c.Difference)
	}
	if c := cellOf(f, 4); math.Abs(c.Difference+0.3) > 0.02 {
		t.Errorf("v4 against v18 differs by %v, truth -0.3", c.Difference)
	}
}

// A plateau judged by the forks that test it would be the same for both halves; here each half sees what the other doesn't.
func TestPlateauIsFixedByTheOtherForks(t *testing.T) {
	w := quickWorld(5)
	w.noise, w.state = 1e-6, 0
	run := w.run()
	for b, block := range run.Families[0].BlockRuns {
		for i := range block.Batches {
			if batch := &block.Batches[i]; block.Fork%2 == 0 && batch.Cell < 12 { // v4-v15 dearer in even forks only
				batch.CPUNs = batch.CPUNs * 3 / 2
			}
		}
		run.Families[0].BlockRuns[b] = block
	}
	j := judgement{FamilyRun: run.Families[0], layout: layoutOf(run.Families[0].Family), samples: samplesOf(run.Families[0])}
	cells := j.plateaus(j.samples, 0.1)
	_, even := cells(forkRounds{fork: 0})
	_, odd := cells(forkRounds{fork: 1})
	if len(even) != 14 || len(odd) != 2 {
		t.Errorf("even forks test %d versions and odd ones %d; want all 14 and v16-v17, as the other half sees them", len(even), len(odd))
	}
}

func TestRealButSmallDifferenceIsNoted(t *testing.T) {
	w := quickWorld(6)
	w.cost = slow(7, 1.04)
	f := judge(w).Families[0]
	if c := cellOf(f, 7); c.Verdict != NotSlower || !c.Differs {
		t.Errorf("+4 %% below a margin of 10 %%: %+v", c)
	}
}

func TestImmaterialIsNotSlower(t *testing.T) {
	w := quickWorld(7)
	w.tier, w.requestNs, w.cost = 0, 2000, slow(5, 1.3) // 0.6 us
	v := judge(w)
	if c := cellOf(v.Families[0], 5); c.Verdict != NotSlower || !c.Differs || !strings.Contains(c.Why, "immaterial") {
		t.Errorf("0.6 us per request is immaterial: %+v", c)
	}
	w.requestNs = 20000 // 6 us
	if c := cellOf(judge(w).Families[0], 5); c.Verdict != Slower {
		t.Errorf("6 us per request is material: %+v", c)
	}
}

func TestUnresolvable(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*world)
		why    string
	}{
		"canary burns nothing":   {func(w *world) { w.planted = 0 }, "canary"},
		"canary burns too much":  {func(w *world) { w.planted = 1.5 * liveOvershoot }, "canary"},
		"noise above the margin": {func(w *world) { w.noise = 0.3 }, "floor"},
		"clients of their own":   {func(w *world) { w.state = 0.1 }, "floor"},
		"position costs":         {func(w *world) { w.position = func(p int) float64 { return 1 + 0.01*float64(p) } }, "position"},
		"an odd draw":            {func(w *world) { w.profile = schedule.Standard; w.draw = oddDraw }, "draws disagree"},
	} {
		w := quickWorld(8)
		c.change(&w)
		v := judge(w)
		found := false
		for _, cell := range v.Families[0].Cells {
			found = found || cell.Verdict == Unresolvable && strings.Contains(cell.Why, c.why)
			if cell.Verdict == Slower {
				t.Errorf("%s: v%d is called slower", name, cell.Version)
			}
		}
		if !found || v.Verdict != Inconclusive || v.ExitCode != 4 {
			t.Errorf("%s: no version is unresolvable for %q; %s (%d): %s", name, c.why, v.Verdict, v.ExitCode, v.Reason)
		}
	}
}

// oddDraw: v6 is 20 % dearer in one of three draws.
func oddDraw(version, draw int) float64 {
	if version == 6 && draw == 1 {
		return 1.2
	}
	return 1
}

func TestUnresolvableGoesBeforeSlower(t *testing.T) {
	w := quickWorld(9)
	w.cost, w.planted = slow(9, 1.5), 0
	if v := judge(w); v.Verdict != Inconclusive || cellOf(v.Families[0], 9).Verdict != Unresolvable {
		t.Errorf("with a missed canary nothing can be slower: %s: %s", v.Verdict, v.Reason)
	}
}

func TestUnresolved(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*record.FamilyRun)
		why    string
	}{
		"one fork":     {func(f *record.FamilyRun) { f.BlockRuns = f.BlockRuns[:1] }, "only one fork"},
		"not measured": {func(f *record.FamilyRun) { f.BlockRuns = nil }, "not measured"},
		"worker died": {func(f *record.FamilyRun) {
			f.BlockRuns[2].Faults = []record.Fault{{What: record.FaultWorker, Text: "exit status 9"}}
		}, "exit status 9"},
		"no reference":   {func(f *record.FamilyRun) { f.Reference = 99 }, "no cell of the reference version"},
		"one version":    {func(f *record.FamilyRun) { f.Cells = f.Cells[14:] }, "only one version"},
		"zero CPU":       {func(f *record.FamilyRun) { zero(f, func(b *record.Batch) { b.CPUNs = 0 }) }, "not measured"},
		"a cell missing": {func(f *record.FamilyRun) { f.Cells[3].Cell = 77 }, "not measured"},
	} {
		run := quickWorld(10).run()
		c.change(&run.Families[0])
		v := Judge(run, goodGuards(run), Options{})
		for _, cell := range v.Families[0].Cells {
			if cell.Verdict != Unresolved || !strings.Contains(cell.Why, c.why) {
				t.Errorf("%s: v%d is %s: %q, want unresolved with %q", name, cell.Version, cell.Verdict, cell.Why, c.why)
			}
		}
		if v.Verdict != Inconclusive || v.ExitCode != 4 || v.Reason == "" {
			t.Errorf("%s: %s (%d): %q", name, v.Verdict, v.ExitCode, v.Reason)
		}
	}
}

func zero(f *record.FamilyRun, change func(*record.Batch)) {
	for _, b := range f.BlockRuns {
		for i := range b.Batches {
			change(&b.Batches[i])
		}
	}
}

// An upper bound that straddles the margin while the floor lies below it: +9 % with a margin of 10 %, and noise.
func TestStraddlingTheMarginIsUnresolved(t *testing.T) {
	w := quickWorld(11)
	w.cost, w.state = slow(9, 1.075), 0.015
	f := judge(w).Families[0]
	if c := cellOf(f, 9); c.Verdict != Unresolved || !strings.Contains(c.Why, "upper bound") {
		t.Errorf("floor %v: %+v", f.Floor, c)
	}
}

func TestDroppedRoundsAreListedAndUseless(t *testing.T) {
	run := quickWorld(12).run()
	block := &run.Families[0].BlockRuns[1]
	block.Batches[20].CPUNs = -5
	v := Judge(run, goodGuards(run), Options{})
	f := v.Families[0]
	if f.Rounds != 35 || len(f.Warnings) != 1 || !strings.Contains(f.Warnings[0].Text, "draw 0 fork 1 round 1") {
		t.Errorf("%d rounds, warnings %v; want 35 and the dropped one", f.Rounds, f.Warnings)
	}
	// Only the parent's readings of the machine may leave a round out of a run that passes: what the worker says of its CPU must not.
	if v.Verdict != Inconclusive || !strings.Contains(v.Reason, "1 of 36 rounds") || v.Accounting.Rounds != (RoundCount{Planned: 36, Judged: 35, Missing: 1}) {
		t.Errorf("one dropped round of 36: %s: %s, %+v", v.Verdict, v.Reason, v.Accounting.Rounds)
	}
}

// A margin chosen after the figures are known may only be a stricter one.
func TestMarginOnlyNarrows(t *testing.T) {
	for _, c := range []struct {
		factor, asked float64
		margin        float64
		word          string
		warned        bool
	}{
		{1.12, 0, 0.10, Fail, false},
		{1.12, 0.30, 0.10, Fail, true},
		{1.12, 0.10, 0.10, Fail, false},
		{1.07, 0, 0.10, Pass, false},
		{1.07, 0.06, 0.06, Fail, false},
	} {
		w := quickWorld(13)
		w.families, w.cost = 2, slow(9, c.factor)
		w.noise, w.state = 0.003, 0.001
		v := judgeGood(w.run(), Options{Margin: c.asked})
		if v.Families[0].Margin != c.margin || v.Verdict != c.word {
			t.Errorf("a factor of %v, declared 10 %%, asked %v: margin %v, %s: %s; want %v, %s", c.factor, c.asked, v.Families[0].Margin, v.Verdict, v.Reason, c.margin, c.word)
		}
		if warned := len(v.Warnings) == 1 && strings.Contains(v.Warnings[0].Text, "30.0 % that was asked for is wider"); warned != c.warned || !c.warned && len(v.Warnings) != 0 {
			t.Errorf("asked %v: warnings %v", c.asked, v.Warnings)
		}
	}
}

// A run that was started with a margin of its own has it in each family.
func TestMarginOfTheRunIsNotWider(t *testing.T) {
	w := quickWorld(13)
	w.margin = 0.30
	run := w.run()
	run.Header.Margin = 0.30
	if v := Judge(run, goodGuards(run), Options{Margin: run.Header.Margin}); v.Families[0].Margin != 0.30 || len(v.Warnings) != 0 {
		t.Errorf("margin %v, warnings %v", v.Families[0].Margin, v.Warnings)
	}
}

// t of 3 degrees of freedom exceeds 2.0 either way with probability 0.1393 (tables). The fork's error decides, whichever twin is dearer.
func TestTwoSided(t *testing.T) {
	for _, estimate := range []float64{0.1, -0.1} {
		c := stats.Contrast{Estimate: estimate, Round: stats.Error{SE: 0.05, DF: 100}, Fork: stats.Error{SE: 0.05, DF: 3}, Bounded: true}
		if p := twoSided(c); math.Abs(p-0.1393) > 0.0001 {
			t.Errorf("estimate %v: p %v, want 0.1393", estimate, p)
		}
	}
	if p := twoSided(stats.Contrast{Round: stats.Error{SE: 1, DF: 5}, Fork: stats.Error{SE: 1, DF: 5}, Bounded: true}); p != 1 {
		t.Errorf("no difference: p %v, want 1", p)
	}
}

func TestWarnings(t *testing.T) {
	run := quickWorld(14).run()
	f := &run.Families[0]
	f.BlockRuns = f.BlockRuns[:3]
	f.BlockRuns[0].Warm = false
	f.BlockRuns[1].Batches[3].GCCycles = 2
	run.Warnings = []string{"a torn last line"}
	v := Judge(run, goodGuards(run), Options{})
	for _, word := range []string{"1 of 3 blocks were not warm", "collector ran in 1 of", "only 3 forks"} {
		found := false
		for _, w := range v.Families[0].Warnings {
			found = found || strings.Contains(w.Text, word) && w.Remedy != ""
		}
		if !found {
			t.Errorf("no warning with %q and a remedy in %v", word, v.Families[0].Warnings)
		}
	}
	if len(v.Warnings) != 1 || v.Warnings[0].Text != "a torn last line" {
		t.Errorf("the reader's warnings are lost: %v", v.Warnings)
	}
}

// Clocks that agree to the last digit: no 0/0 anywhere, and a warning.
func TestIdenticalSamples(t *testing.T) {
	w := quickWorld(15)
	run := w.run()
	zero(&run.Families[0], func(b *record.Batch) { b.CPUNs = 1e7 })
	v := Judge(run, goodGuards(run), Options{})
	if f := v.Families[0]; !strings.Contains(cellOf(f, 9).Why, "canary") || f.Floor != 0 || len(f.Warnings) == 0 {
		t.Errorf("identical samples: %+v", f)
	}
}

// 228 us a request of 580 records, two times that on the wall; the rest from batchOf: 65,636 bytes and 1,000 ns of broker a
// request; two allocations and ten bytes a record; three segments a request.
func TestMetrics(t *testing.T) {
	w := quickWorld(16)
	w.noise, w.state = 0.001, 0
	for _, version := range []int{9, 18} {
		c := cellOf(judge(w).Families[0], version)
		for name, pair := range map[string][2]float64{
			"cpuUsPerRequest": {c.CPUUsPerRequest, 228}, "cpuNsPerRecord": {c.CPUNsPerRecord, 228e3 / 580}, "wallUsPerRequest": {c.WallUsPerRequest, 456},
			"p50Us": {c.P50Us, 200}, "p99Us": {c.P99Us, 400}, "longestGapUs": {c.LongestGapUs, 900}, "recordsPerSecond": {c.RecordsPerSecond, 580 / 456e-6},
			"allocs": {c.AllocsPerRecord, 2}, "allocBytes": {c.AllocBytesPerRecord, 10}, "wireBytes": {c.WireBytesPerRecord, 65636.0 / 580},
			"requestsPer1000": {c.RequestsPer1000, 1000.0 / 580}, "brokerCpu": {c.BrokerCPUNsPerRecord, 1000.0 / 580}, "segments": {c.SegmentsInPerRequest, 3},
		} {
			if math.Abs(pair[0]/pair[1]-1) > 0.03 {
				t.Errorf("v%d %s is %v, want %v", version, name, pair[0], pair[1])
			}
		}
	}
}

func TestUnknownMetricsAreNotZero(t *testing.T) {
	run := quickWorld(17).run()
	f := &run.Families[0]
	zero(f, func(b *record.Batch) { b.BrokerCPUNs = -1 })
	for _, b := range f.BlockRuns {
		for i := range b.Close.Worker.Cells {
			b.Close.Worker.Cells[i].DataSegsIn = -1
		}
	}
	if c := Judge(run, goodGuards(run), Options{}).Families[0].Cells[0]; c.BrokerCPUNsPerRecord != -1 || c.SegmentsInPerRequest != -1 {
		t.Errorf("unknown: broker %v, segments %v, want -1", c.BrokerCPUNsPerRecord, c.SegmentsInPerRequest)
	}
}

func TestMode(t *testing.T) {
	for _, c := range []struct {
		xs   []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{2, 2.00001, 9, 9.5}, 2}, {[]float64{1, 2, 30}, 2}, {[]float64{5, 5, 4, 4}, 4}} {
		if got := mode(c.xs); got != c.want {
			t.Errorf("mode(%v) = %v, want %v", c.xs, got, c.want)
		}
	}
}

func TestTierTwoIsSanity(t *testing.T) {
	run := quickWorld(18).run()
	f := run.Families[0]
	f.Family = record.Family{Tier: 2, Name: "tier2/fetch/size=64KiB/shipped", API: "Fetch", Reference: -1, Mode: driver.ModeShipped, Deciding: true,
		Cells: []record.FamilyCell{{Cell: 0, Version: driver.Unpinned, Role: record.RoleAlone}}}
	f.BlockRuns[0].CellRows = []record.Cell{{Cell: 0, AnswerVersion: 7}}
	f.BlockRuns[3].Close.Worker.HeapLiveBytes = 99
	run.Families = []record.FamilyRun{f}
	run.Plans = []record.Plan{{Tier: 1, API: "Fetch", Negotiated: 18}, {Tier: 2, API: "Fetch", Negotiated: 7}, {Tier: 1, API: "Produce", Negotiated: -1}}
	v := Judge(run, goodGuards(run), Options{})
	if v.Verdict != Pass || len(v.Families) != 0 || len(v.Sanity) != 1 {
		t.Fatalf("%s: %s, %d families, %d sanity", v.Verdict, v.Reason, len(v.Families), len(v.Sanity))
	}
	s := v.Sanity[0]
	if s.Version != 7 || s.Records != 4*9*18*26680 || s.LiveHeapFirstBytes != 1<<20 || s.LiveHeapLastBytes != 99 || math.Abs(s.SanityCPUNsPerRecord/393-1) > 0.2 {
		t.Errorf("%+v", s)
	}
	if len(v.Negotiated) != 2 || v.Negotiated[0] != (Negotiated{1, "Fetch", 18}) || v.Negotiated[1] != (Negotiated{2, "Fetch", 7}) {
		t.Errorf("negotiated %v", v.Negotiated)
	}
	failing := append(goodGuards(run), guards.Finding{Guard: guards.Memory, Tier: 2, Family: f.Name, Version: -1, Outcome: guards.Fail, Why: "live heap grew"})
	if v := Judge(run, failing, Options{}); v.ExitCode != ExitFail {
		t.Errorf("tier 2 has gates: %s", v.Reason)
	}
}
