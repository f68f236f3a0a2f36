package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"protocolbench/internal/record"
	"protocolbench/internal/stats"
)

// records makes two runs of a quick world with other seeds, from what each world is told to be.
func records(changeA, changeB func(*world)) (a, b *record.Run) {
	runs := make([]*record.Run, 2)
	for i, change := range []func(*world){changeA, changeB} {
		w := quickWorld(uint64(300 + i))
		if change != nil {
			change(&w)
		}
		runs[i] = w.recorded()
	}
	return runs[0], runs[1]
}

// recorded is a run with what a comparison looks at beside the families.
func (w world) recorded() *record.Run {
	run := w.run()
	run.Header.Started = time.Unix(int64(w.seed), 0)
	run.Header.Machine = record.Machine{OS: "linux", Arch: "amd64", CPUModel: "Example CPU", CPUs: 2, GoVersion: "go1.26.8", WorkerCPUs: []int{1}}
	run.Header.ClientBuild = &record.Build{Spec: "franz-go", Version: "v1.22.3", ContentHash: strings.Repeat("a", 64), GoVersion: "go1.26.8", Flags: "-trimpath",
		Modules: []record.Module{{Path: "github.com/twmb/franz-go", Version: "v1.22.3", Sum: "h1:x"}}}
	return run
}

func compareGood(a, b *record.Run) Comparison {
	return Compare(a, b, goodGuards(a), goodGuards(b), Options{})
}

// Two runs with standard errors of 0.03 on 3 degrees of freedom and 0.04 on 5: their variances 0.0009 and 0.0016 add up to 0.0025, so 0.05; and
// Welch and Satterthwaite's degrees of freedom are 0.0025^2 / (0.0009^2/3 + 0.0016^2/5) = 6.25e-6 / 7.82e-7 = 7.992. The round errors are
// 0.003 and 0.004 on 50 each: 0.005 on 6.25e-10 / ((8.1e-11 + 2.56e-10)/50) = 92.73.
func TestChangeIsWelchs(t *testing.T) {
	a := stats.Contrast{Estimate: 0.10, Round: stats.Error{SE: 0.003, DF: 50}, Fork: stats.Error{SE: 0.03, DF: 3}, Bounded: true, Birge: 1, Forks: 4}
	b := stats.Contrast{Estimate: 0.25, Round: stats.Error{SE: 0.004, DF: 50}, Fork: stats.Error{SE: 0.04, DF: 5}, Bounded: true, Birge: 1, Forks: 6}
	c := changeOf(a, b)
	for _, check := range []struct {
		name      string
		got, want float64
	}{
		{"estimate", c.Estimate, 0.15}, {"fork error", c.Fork.SE, 0.05}, {"its degrees", c.Fork.DF, 7.9923}, {"round error", c.Round.SE, 0.005}, {"its degrees", c.Round.DF, 92.730},
		// t(.975) of 7.9923 is 2.3064; the fork error is the more careful one.
		{"low", low(c), 0.15 - 2.3064*0.05},
		// P(t > 3) on 7.9923 degrees
		{"p", c.PAbove(0), 0.00855},
	} {
		if math.Abs(check.got-check.want) > 1e-4*math.Max(1, math.Abs(check.want)) {
			t.Errorf("%s is %v, want %v", check.name, check.got, check.want)
		}
	}
	if b.Bounded = false; changeOf(a, b).Bounded {
		t.Error("one run without an interval leaves none to the difference")
	}
}

func low(c stats.Contrast) float64 {
	low, _, _ := c.Interval(level)
	return low
}

// Nothing but the one version that moved is said to have moved, whichever it is; the reference too.
func TestOneVersionMoved(t *testing.T) {
	for _, moved := range []int{4, 12, 17, 18} {
		a, b := records(nil, func(w *world) { w.cost = slow(moved, 1.25) })
		c := compareGood(a, b)
		if c.Verdict != Fail || c.ExitCode != ExitFail || !strings.Contains(c.Reason, "slower") {
			t.Fatalf("v%d: %s (%d): %s", moved, c.Verdict, c.ExitCode, c.Reason)
		}
		for _, cell := range c.Families[0].Cells {
			if slower := cell.Verdict == Slower; slower != (cell.Version == moved) {
				t.Errorf("v%d moved, and v%d is %s: %+v", moved, cell.Version, cell.Verdict, cell)
			}
			if cell.Faster {
				t.Errorf("v%d became slower, and v%d is called faster", moved, cell.Version)
			}
			if cell.Version == moved && (cell.Low > 0.25 || cell.High < 0.25) {
				t.Errorf("v%d: 25 %% is not in [%v, %v]", moved, cell.Low, cell.High)
			}
		}
	}
}

// A machine or a build that is slower for all versions alike is invisible, and a curve that both runs have is no change.
func TestWhatBothHaveIsNoChange(t *testing.T) {
	a, b := records(func(w *world) { w.cost = slow(12, 1.36) }, func(w *world) { w.cost = slow(12, 1.36); w.requestNs *= 1.4 })
	c := compareGood(a, b)
	if c.Verdict != Pass || c.ExitCode != ExitPass {
		t.Errorf("%s: %s", c.Verdict, c.Reason)
	}
	for _, cell := range c.Families[0].Cells {
		if cell.Version == 12 && (math.Abs(cell.CurveA-0.36) > 0.03 || math.Abs(cell.CurveB-0.36) > 0.03) {
			t.Errorf("v12 costs 36 %% more in both: %+v", cell)
		}
	}
}

// What became cheaper is no version's fault: not the neighbour's of the reference, nor an older group's.
func TestFasterIsNobodysFault(t *testing.T) {
	for name, cost := range map[string]func(int) float64{
		"neighbour": slow(17, 0.8), "oldest": slow(4, 0.8),
		"a minority of old ones": func(v int) float64 {
			if v < 9 {
				return 0.85
			}
			return 1
		},
	} {
		a, b := records(nil, func(w *world) { w.cost = cost })
		c := compareGood(a, b)
		faster := 0
		for _, cell := range c.Families[0].Cells {
			if cell.Faster {
				faster++
			}
		}
		if c.Verdict != Pass || faster == 0 {
			t.Errorf("%s: %s, %d faster: %s", name, c.Verdict, faster, c.Reason)
		}
	}
}

// Where more than half of the versions became cheaper than the reference and its group, nobody can tell which group moved, and the words say so.
func TestTwoGroupsAreSaidToBe(t *testing.T) {
	a, b := records(nil, func(w *world) {
		w.cost = func(v int) float64 {
			if v < 13 {
				return 0.8
			}
			return 1
		}
	})
	cells := compareGood(a, b).Families[0].Cells
	last := cells[len(cells)-1]
	if last.Verdict != Slower || !strings.Contains(last.Why, "v4 to v12") || !strings.Contains(last.Why, "or else those became faster") {
		t.Errorf("%s: %s", last.Verdict, last.Why)
	}
}

func TestNewestThatBothHaveIsTheReference(t *testing.T) {
	a, b := records(nil, func(w *world) { w.versions = span(6, 17) })
	f := compareGood(a, b).Families[0]
	if f.Reference != 17 || !slices.Equal(f.OnlyA, []int{4, 5, 18}) || len(f.OnlyB) > 0 || len(f.Cells) != 12 {
		t.Errorf("reference v%d, only in A %v, only in B %v, %d versions", f.Reference, f.OnlyA, f.OnlyB, len(f.Cells))
	}
	a, b = records(func(w *world) { w.cost = slow(17, 0.8) }, func(w *world) { w.versions = span(6, 17); w.cost = slow(17, 0.8) })
	if c := compareGood(a, b); c.Verdict != Pass {
		t.Errorf("the reference costs 20 %% less in both, and that is no change: %s", c.Reason)
	}
}

func TestCandidateOfTwoBuildsIsCompared(t *testing.T) {
	a, _ := records(func(w *world) { w.tier = 0 }, nil)
	w := quickBuilds(9)
	w.change = slow(10, 1.3) // of the candidate alone
	b := w.run()
	b.Header.Machine, b.Header.ClientBuild = a.Header.Machine, a.Header.ClientBuild
	c := Compare(a, b, nil, nil, Options{})
	if !c.B.Candidate || c.A.Candidate || c.Verdict != Fail || cellsThatAre(c, Slower) != "10" {
		t.Errorf("candidate %v, %s %q: %s", c.B.Candidate, c.Verdict, cellsThatAre(c, Slower), c.Reason)
	}
	for _, f := range b.Families {
		for i := range f.Cells { // swapped: now it is the baseline that is slow, and not looked at
			if f.Cells[i].Build == "" {
				f.Cells[i].Build = record.BuildBaseline
			} else {
				f.Cells[i].Build = ""
			}
		}
	}
	if c := Compare(a, b, nil, nil, Options{}); c.Verdict != Pass {
		t.Errorf("the baseline is left out: %s", c.Reason)
	}
}

func TestMarginOfAComparison(t *testing.T) {
	a, b := records(func(w *world) { w.margin = 0.05 }, nil)
	if f := compareGood(a, b).Families[0]; f.Margin != 0.10 {
		t.Errorf("the larger margin counts: %v", f.Margin)
	}
	if f := Compare(a, b, nil, nil, Options{Margin: 0.03}).Families[0]; f.Margin != 0.03 {
		t.Errorf("a narrower one was asked for: %v", f.Margin)
	}
	f := Compare(a, b, nil, nil, Options{Margin: 0.5}).Families[0]
	if f.Margin != 0.10 || !strings.Contains(f.Warnings[0].Text, "wider") {
		t.Errorf("a wider one could only excuse: %v, %+v", f.Margin, f.Warnings)
	}
}

// A family that one of the runs could not judge by itself can't be compared.
func TestOwnTroubles(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*world)
		why    string
	}{
		"canary": {func(w *world) { w.planted = 0 }, "in B: the canary"},
		"noise":  {func(w *world) { w.noise = 0.3 }, "floor"},
		"draws":  {func(w *world) { w.profile = "standard"; w.draw = oddDraw }, "in B draws disagree"},
	} {
		a, b := records(nil, c.change)
		got := compareGood(a, b)
		if got.Verdict != Inconclusive || got.ExitCode != ExitInconclusive || !strings.Contains(got.Reason, c.why) {
			t.Errorf("%s: %s (%d): %s", name, got.Verdict, got.ExitCode, got.Reason)
		}
	}
}

// cellsThatAre lists the versions with a word.
func cellsThatAre(c Comparison, word string) string {
	var list []int
	for _, f := range c.Families {
		for _, cell := range f.Cells {
			if cell.Verdict == word {
				list = append(list, cell.Version)
			}
		}
	}
	return strings.Trim(fmt.Sprint(list), "[]")
}
