package verdict

import (
	"math"
	"strings"
	"testing"

	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
	"protocolbench/internal/stats"
	"protocolbench/internal/synthetic"
)

// Rules of the verdict that a run meets rarely, each by itself: the good case beside the bad one.

// wide is a contrast of so much, with a standard error.
func wide(name string, difference, se float64) cellContrast {
	c := cellContrast{name: name, by: &grounds{}, alpha: alpha}
	c.Estimate, c.Bounded, c.Rounds, c.Forks, c.Draws, c.Weights, c.Birge = math.Log1p(difference), true, 216, 12, 3, 1, 1
	c.Fork = stats.Error{SE: se, DF: 11}
	c.p = c.PAbove(0)
	return c
}

func TestWordsOfWallTime(t *testing.T) {
	j := &judgement{}
	for _, c := range []struct {
		name       string
		contrast   cellContrast
		spoilt     string
		word, text string
	}{
		{"equal", wide(contrastNewest, 0, 0.02), "", NotSlower, ""},
		{"half as long again", wide(contrastNewest, 0.5, 0.02), "", Slower, "of wall time against the newest"},
		{"perhaps", wide(contrastNewest, 0.2, 0.04), "", Unresolved, "is not below the margin"},
		{"nobody can tell", wide(contrastNewest, 0.1, 0.3), "", Unresolvable, "can't be resolved here"},
		{"no interval", cellContrast{name: contrastNewest}, "", Unresolved, "carry no interval"},
		{"spoilt", wide(contrastNewest, 0.5, 0.02), "the canary was missed", Unresolvable, "the canary was missed"},
	} {
		if word, why := j.wallWord(c.contrast, c.spoilt); word != c.word || !strings.Contains(why, c.text) {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, word, why, c.word, c.text)
		}
	}
	j.nothing = []string{"it was not measured"}
	if word, _ := j.wallWord(wide(contrastNewest, 0.5, 0.02), ""); word != Unresolved {
		t.Errorf("not measured, and %s", word)
	}
}

func TestOneVersionStalls(t *testing.T) {
	w := usualWaiting()
	w.stall = func(version, _ int) bool { return version == 9 }
	j := waitingFamily(5, schedule.Quick, w)
	for _, c := range j.out.Cells {
		if c.Wall.Stalls != (c.Version == 9) {
			t.Errorf("v%d stalls: %v, %s", c.Version, c.Wall.Stalls, c.Wall.Why)
		}
	}
}

func TestWordsWithoutAnAnswer(t *testing.T) {
	j := judgeFamily(synthetic.Clean(1).Run().Families[0], 0.10, runFacts{seed: 1, families: 1})
	undecided := wide(contrastNewest, 0.08, 0.03)
	undecided.p = 1
	if word, why, more := j.word(undecided, Cell{Difference: 0.08}); word != Unresolved || more <= 1 || !strings.Contains(why, "times the rounds") {
		t.Errorf("%s (%s), %.1f times the rounds", word, why, more)
	}
	if word, why, _ := j.word(cellContrast{by: &grounds{}}, Cell{}); word != Unresolved || !strings.Contains(why, "carry no interval") {
		t.Errorf("no interval: %s (%s)", word, why)
	}
	undecided.by = &grounds{coarse: "the floor of 12 % is above the margin"}
	if word, why, _ := j.word(undecided, Cell{Difference: 0.08}); word != Unresolvable || !strings.HasPrefix(why, "the floor of 12 %") {
		t.Errorf("%s (%s)", word, why)
	}
}

// wordsOf are the distinct words of a family's cells, and the first reason.
func wordsOf(f Family) (words map[string]int, why string) {
	words = map[string]int{}
	for _, c := range f.Cells {
		words[c.Verdict]++
		if why == "" {
			why = c.Why
		}
	}
	return words, why
}

func TestWhatSpoilsAFamily(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(f *record.FamilyRun)
		word   string
		text   string
	}{
		{"nothing", func(*record.FamilyRun) {}, NotSlower, ""},
		{"no margin", func(f *record.FamilyRun) { f.Margin = 0 }, Unresolved, "no margin was declared"},
		{"no canary", func(f *record.FamilyRun) { f.PlantNsPerRequest = 0 }, Unresolvable, "no canary was planted"},
		{"a twin that is a third dearer", func(f *record.FamilyRun) {
			for i := range f.BlockRuns {
				for k := range f.BlockRuns[i].Batches {
					if b := &f.BlockRuns[i].Batches[k]; f.Cells[b.Cell].Role == record.RoleTwin && b.Cell == 15 {
						b.CPUNs += b.CPUNs / 3
					}
				}
			}
		}, Unresolvable, "clients of the same version differ"},
	} {
		run := synthetic.Clean(2).Run()
		c.change(&run.Families[0])
		if words, why := wordsOf(Judge(run, nil, Options{}).Families[0]); len(words) != 1 || words[c.word] == 0 || !strings.Contains(why, c.text) {
			t.Errorf("%s: %v, %q; want %s for %q", c.name, words, why, c.word, c.text)
		}
	}
}

// A position effect of the first look spoils what both looks decide, too, whatever the second one looks like.
func TestPositionAlarmOfTheFirstLookStays(t *testing.T) {
	w := looksWorld(5)
	w.Position = func(p int) float64 { return 1 + 0.005*float64(p) }
	run := w.Run()
	if f := Judge(run, nil, Options{}).Families[0]; !f.Position.Alarm {
		t.Fatalf("no alarm: %+v", f.Position)
	}
	calm := looksWorld(5)
	calm.LookAgain(&run.Families[0], []int{9}, nil)
	f := Judge(run, nil, Options{}).Families[0]
	if c := cellOf(f, 9); !f.Position.Alarm || c.Verdict != Unresolvable || !strings.Contains(c.Why, "position") {
		t.Errorf("%+v, v9 %s: %s", f.Position, c.Verdict, c.Why)
	}
}

func TestBuildsNeedTheSameVersions(t *testing.T) {
	cells := func(versions ...int) layout {
		var l layout
		for i, v := range versions {
			l.versions = append(l.versions, record.FamilyCell{Cell: i, Version: v})
		}
		l.newest = len(versions) - 1
		return l
	}
	for _, c := range []struct {
		mine, others []int
		nothing      string
	}{
		{[]int{4, 5}, []int{4, 5}, ""},
		{[]int{4, 5}, []int{4}, "don't have the same versions"},
		{[]int{4}, []int{4}, ""}, // two builds can be compared on one version
	} {
		b := builds{judgement: judgement{layout: cells(c.mine...)}, base: judgement{layout: cells(c.others...)}}
		if len(c.mine) == 1 {
			b.nothing = []string{onlyOneVersion}
		}
		b.lookForBoth()
		if got := strings.Join(b.nothing, "; "); (got == "") != (c.nothing == "") || !strings.Contains(got, c.nothing) {
			t.Errorf("%v and %v: %q, want %q", c.mine, c.others, got, c.nothing)
		}
	}
}

func TestWordsOfBuildsWithoutAnAnswer(t *testing.T) {
	made := func(between cellContrast) builds {
		b := builds{margin: 0.05, curveOK: true, between: []cellContrast{between}, curve: []cellContrast{wide(contrastCurve, 0, 0.003)}}
		b.judgement.margin, b.versions, b.newest = 0.03, make([]record.FamilyCell, 2), 1
		return b
	}
	cell := Cell{Baseline: &Figures{CPUUsPerRequest: 100}}
	b := made(wide(contrastBaseline, 0, 0.003))
	if word, why := b.word(0, cell); word != NotSlower {
		t.Errorf("equal builds: %s (%s)", word, why)
	}
	b.nothing = []string{"it was not measured"}
	if word, _ := b.word(0, cell); word != Unresolved {
		t.Errorf("not measured, and %s", word)
	}
	b = made(cellContrast{name: contrastBaseline})
	if word, why := b.word(0, cell); word != Unresolved || !strings.Contains(why, "carry no interval") {
		t.Errorf("%s (%s)", word, why)
	}
	torn := wide(contrastBaseline, 0, 0.003)
	torn.torn = true
	b = made(torn)
	if word, why := b.word(0, cell); word != Unresolvable || !strings.Contains(why, "draws disagree") {
		t.Errorf("%s (%s)", word, why)
	}
}

func TestCoarseFloorOfBuilds(t *testing.T) {
	for se, coarse := range map[float64]bool{0.002: false, 0.1: true} {
		b := builds{margin: 0.05, between: []cellContrast{wide(contrastBaseline, 0, se)}, curve: []cellContrast{wide(contrastCurve, 0, se)}}
		b.judgement.margin, b.versions, b.out = 0.03, make([]record.FamilyCell, 1), Family{Builds: &Builds{}}
		b.own = []stats.Error{{SE: se, DF: 11}}
		b.layouts = stats.Error{SE: se, DF: 11}
		b.checkFloors()
		if (b.coarse != "") != coarse {
			t.Errorf("a standard error of %.1f %%: %q, floor %.3f", 100*se, b.coarse, b.out.Floor)
		}
	}
}

// What fails a run beside a version that is slower: one that grows, and one that waits.
func TestGrowthAndWaitingFailARun(t *testing.T) {
	equal := func() Family {
		return Family{Tier: 1, Name: "tier1/fetch/size=64KiB/bare", Deciding: true, Cells: []Cell{{Version: 4, Verdict: NotSlower, Wall: &Wall{Verdict: NotSlower}}},
			Growth: &Growth{Axis: "size", Sizes: []float64{1, 16, 256}, Cells: []GrowthCell{{Version: 4}}}}
	}
	run := &record.Run{Trailer: &record.Trailer{Complete: true}}
	for _, c := range []struct {
		name   string
		change func(*Family)
		code   int
		text   string
	}{
		{"nothing", func(*Family) {}, ExitPass, "no version is materially slower"},
		{"it grows", func(f *Family) { f.Growth.Cells[0].Grows, f.Growth.Cells[0].Slope = true, 0.3 }, ExitFail, "the cost per record grows with size"},
		{"it waits", func(f *Family) { f.Cells[0].Wall.Verdict = Slower }, ExitFail, "is slower in wall time"},
		{"it stalls", func(f *Family) { f.Cells[0].Wall.Stalls = true }, ExitFail, "stalls"},
		{"it grows, and decides nothing", func(f *Family) { f.Growth.Cells[0].Grows, f.Deciding = true, false }, ExitInconclusive, "nothing that decides"},
	} {
		f := equal()
		c.change(&f)
		if _, code, reason := outcome(run, &Verdict{Families: []Family{f}}); code != c.code || !strings.Contains(reason, c.text) {
			t.Errorf("%s: exit %d, %s; want %d for %q", c.name, code, reason, c.code, c.text)
		}
	}
}
