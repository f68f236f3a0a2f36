package verdict

import (
	"math"
	"strings"
	"testing"

	"protocolbench/guards"
	"protocolbench/internal/record"
	"protocolbench/internal/synthetic"
	"protocolbench/seed"
)

func looksWorld(s uint64) synthetic.World {
	w := synthetic.Clean(s)
	w.Profile, w.Looks, w.Margin = "standard", 2, 0.05
	return w
}

// plateauOf is the newest version's left plateau after the first look.
func plateauOf(run *record.Run) []int { return Judge(run, nil, Options{}).Families[0].LeftPlateau }

// A position effect: with a second look, the test says nothing.
func TestPositionIsAskedOfEachLook(t *testing.T) {
	w := looksWorld(5)
	w.Position = func(p int) float64 { return 1 + 0.005*float64(p) }
	run := w.Run()
	before := Judge(run, nil, Options{}).Families[0]
	w.LookAgain(&run.Families[0], []int{9}, plateauOf(run))
	after := Judge(run, nil, Options{}).Families[0]
	if before.Position.Alarm && !after.Position.Alarm {
		t.Errorf("before the second look %+v (v12 %s), after it %+v (v12 %s)", before.Position, cellOf(before, 12).Verdict, after.Position, cellOf(after, 12).Verdict)
	}
}

// The machine is a third slower in wall time during the second look. Nothing differs between versions.
func TestWallFiguresAreOfOneLook(t *testing.T) {
	w := looksWorld(7)
	run := w.Run()
	w.LookAgain(&run.Families[0], []int{9}, plateauOf(run))
	for i := range run.Families[0].BlockRuns {
		b := &run.Families[0].BlockRuns[i]
		factor := 1.0
		if b.Look >= record.SecondLook {
			factor = 1.33
		}
		for k := range b.Batches {
			x := &b.Batches[k]
			x.RequestP50Ns, x.RequestP99Ns, x.LongestGapNs = int64(200e3*factor), int64(900e3*factor), int64(1e6*factor)
		}
	}
	f := Judge(run, nil, Options{}).Families[0]
	for _, c := range f.Cells {
		if math.Abs(c.Wall.P50) > 0.02 {
			t.Errorf("v%d: p50 %+.0f %%, p99 %+.0f %%, gap %.2f times the reference's, and all versions are alike", c.Version, 100*c.Wall.P50, 100*c.Wall.P99, c.Wall.Gap)
			break
		}
	}
}

// v12 is 15 % slower: the first look says so. A second look at v9 in which the canary burns too little takes the word back, and the run no longer fails.
func TestASecondLookTakesNoWordBack(t *testing.T) {
	w := looksWorld(8)
	w.Cost = func(v int) float64 {
		if v == 12 {
			return 1.15
		}
		return 1
	}
	run := w.Run()
	first := Judge(run, nil, Options{})
	again := w
	again.Planted = 0.05
	again.LookAgain(&run.Families[0], []int{9}, plateauOf(run))
	second := Judge(run, nil, Options{})
	a, b := cellOf(first.Families[0], 12), cellOf(second.Families[0], 12)
	if a.Verdict == Slower && b.Verdict != Slower {
		t.Errorf("v12 %s (exit %d) after the first look; %s (exit %d) after a second one at v9 alone: %s", a.Verdict, first.ExitCode, b.Verdict, second.ExitCode, b.Why)
	}
}

// Each version costs 0.6 % more than the one before it, so the newest is 4.5 % above its left plateau of all the others. A second look at the newest measures two of them,
// which is another quantity (0.9 %); the mean of both is judged.
func TestASecondLookAsksTheSameQuestion(t *testing.T) {
	w := looksWorld(9)
	w.State = 0.002
	w.Cost = func(v int) float64 { return math.Exp(0.006 * float64(v-18)) }
	run := w.Run()
	first := cellOf(Judge(run, nil, Options{}).Families[0], 18)
	w.LookAgain(&run.Families[0], []int{18}, plateauOf(run))
	second := cellOf(Judge(run, nil, Options{}).Families[0], 18)
	t.Logf("first  %s %+.4f [%+.4f, %+.4f] %s", first.Verdict, first.Difference, first.Low, first.High, first.Why)
	t.Logf("second %s %+.4f [%+.4f, %+.4f] %s", second.Verdict, second.Difference, second.Low, second.High, second.Why)
	if math.Abs(second.Difference-first.Difference) > 0.01 {
		t.Errorf("v18 against the left plateau: %+.1f %% in the first look, %+.1f %% with the second: the plateau became another one", 100*first.Difference, 100*second.Difference)
	}
}

// v16 and v17 are 2.2 % dearer (within half the margin, so they belong to the newest's plateau). The second look is at v17 alone: in its forks the newest's plateau is v17 alone, which
// is another quantity than in the first look's, and its disagreement of draws widens every version's interval by the pooled Birge ratio.
func TestOnlyWhatIsAskedIsPooled(t *testing.T) {
	simulates(t)
	var with, without, n float64
	for s := uint64(1); s <= 8; s++ {
		w := looksWorld(s)
		w.State = 0.003
		w.Cost = func(v int) float64 {
			if v == 17 {
				return 1.022
			}
			return 1
		}
		run := w.Run()
		w.LookAgain(&run.Families[0], []int{17}, plateauOf(run))
		f := run.Families[0]
		j := judgeFamily(f, f.Margin, runFacts{seed: s, families: 1, looks: 2})
		with += j.contrasts[j.newest-1].Birge
		raw, _ := j.samples.contrast(1, fixed([]int{j.versions[j.newest-1].Cell}, j.reference))
		plateau, _ := j.samples.contrast(1, j.plateaus(j.samples, j.margin))
		t.Logf("seed %d: v17 own draw ratio %.1f, the newest's %.1f, pooled Birge of v17 %.2f", s, raw.DrawRatio, plateau.DrawRatio, j.contrasts[j.newest-1].Birge)
		without += raw.Birge
		n++
	}
	if with/n > 1.1*without/n {
		t.Errorf("mean Birge ratio of v17 %.2f, its own is %.2f", with/n, without/n)
	}
}

// A worker dies in the second look: the first look's findings blame the first one, too.
func TestAFaultBelongsToItsLook(t *testing.T) {
	w := looksWorld(3)
	run := w.Run()
	w.LookAgain(&run.Families[0], []int{9}, plateauOf(run))
	f := &run.Families[0]
	last := &f.BlockRuns[len(f.BlockRuns)-1]
	fault := record.Fault{Where: last.Where, Tier: 1, What: record.FaultWorker, Text: "the worker died"}
	last.Faults, run.Faults = append(last.Faults, fault), append(run.Faults, fault)
	n := 0
	for _, x := range guards.Check(run) {
		if x.Guard == guards.Completeness && x.Family == f.Name && x.Outcome == guards.Fail {
			n++
			t.Logf("%s", x.Why)
		}
	}
	if n != 1 {
		t.Errorf("one fault makes %d findings of completeness", n)
	}
}

// v9 stalls in 30 % of its batches in both looks, and the machine hiccups in 3 % of all batches. Calm cells are chosen by counts, and what was measured again has four times the
// batches: none of the cells of the second look is calm, so its three draws are thrown away.
func TestStallsAreLookedForInBothLooks(t *testing.T) {
	w := looksWorld(11)
	run := w.Run()
	w.LookAgain(&run.Families[0], []int{9}, plateauOf(run))
	r := seed.Stream(11, "stalls")
	f := &run.Families[0]
	for i := range f.BlockRuns {
		for k := range f.BlockRuns[i].Batches {
			x := &f.BlockRuns[i].Batches[k]
			x.LongestGapNs = 1e6
			if c := f.Cells[x.Cell]; r.Float64() < 0.03 || c.Version == 9 && r.Float64() < 0.3 {
				x.LongestGapNs = 60e6
			}
		}
	}
	c := cellOf(Judge(run, nil, Options{}).Families[0], 9)
	t.Logf("%v %s", c.Wall.Stalls, c.Wall.Why)
	if !strings.Contains(c.Wall.Why, "of 6 draws") {
		t.Errorf("six draws were measured: %s", c.Wall.Why)
	}
}
