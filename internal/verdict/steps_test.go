package verdict

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
)

// stepsIn judges a made-up world's families as far as steps need it.
func stepsIn(w world) [][]Step {
	run := w.run()
	var all [][]Step
	for _, f := range run.Families {
		j := judgementOf(f, w.margin)
		all = append(all, j.steps(run.Header.Seed))
	}
	return all
}

func judgementOf(f record.FamilyRun, margin float64) judgement {
	j := judgement{FamilyRun: f, layout: layoutOf(f.Family), samples: samplesOf(f), margin: margin, widen: 1}
	j.lookForEnough()
	return j
}

func standardWorld(seedValue uint64) world {
	w := quickWorld(seedValue)
	w.profile = schedule.Standard
	return w
}

func versionsOf(steps []Step) string {
	var at []int
	for _, s := range steps {
		at = append(at, s.At)
	}
	return fmt.Sprint(at)
}

// The step of METHOD.md section 6 and a bit more, with its noise: from v12 on fetches cost 3 % more.
func TestStepIsFoundNamedAndMeasured(t *testing.T) {
	for name, w := range map[string]world{"quick": quickWorld(1), "standard": standardWorld(2)} {
		w.families = 40
		w.cost = func(v int) float64 {
			if v >= 12 {
				return 1.03
			}
			return 1
		}
		right := 0
		for _, steps := range stepsIn(w) {
			if versionsOf(steps) != "[12]" {
				continue
			}
			right++
			s := steps[0]
			// The step is 3 % of a request before it, 228 us.
			if math.Abs(s.Difference-0.03) > 0.01 || s.Low >= s.Difference || s.High <= s.Difference || math.Abs(s.UsPerRequest-228*s.Difference) > 0.03*228*s.Difference {
				t.Errorf("%s: %+v", name, s)
			}
			if !s.Material || !strings.Contains(s.Change, "flexible") {
				t.Errorf("%s: %+v", name, s)
			}
		}
		t.Logf("%s: v12 and nothing else in %d of %d", name, right, w.families)
		if right < w.families*95/100 {
			t.Errorf("%s: v12 and nothing else in %d of %d", name, right, w.families)
		}
	}
}

func TestNoStepOnFlatFamilies(t *testing.T) {
	simulates(t)
	for name, w := range map[string]world{"quick": quickWorld(3), "quick Produce": quickWorld(4), "standard": standardWorld(5)} {
		if name == "quick Produce" {
			w.versions = span(3, 13)
		}
		w.families = 60
		found := 0
		for _, steps := range stepsIn(w) {
			if steps == nil {
				t.Errorf("%s: null", name)
			}
			found += min(1, len(steps))
		}
		if found > 1 {
			t.Errorf("%s: steps in %d of %d flat families", name, found, w.families)
		}
	}
}

// Down is a step, too; one of 2 us that is .9 % of the cost isn't material.
func TestStepDownAndImmaterialStep(t *testing.T) {
	w := standardWorld(6)
	w.noise, w.state = 0.002, 0.001
	w.cost = func(v int) float64 {
		switch {
		case v >= 13:
			return 1.009 * 0.97
		case v >= 7:
			return 1.009
		default:
			return 1
		}
	}
	steps := stepsIn(w)[0]
	if versionsOf(steps) != "[7 13]" {
		t.Fatalf("steps at %s, want v7 and v13: %+v", versionsOf(steps), steps)
	}
	up, down := steps[0], steps[1]
	if up.Material || up.UsPerRequest < 1 || !strings.Contains(up.Change, "sessions") {
		t.Errorf("v7: %+v", up)
	}
	if !down.Material || down.Difference > -0.02 || down.UsPerRequest > -5 || down.High >= 0 {
		t.Errorf("v13: %+v", down)
	}
}

// One batch in five takes half as long again, in no order that versions have: that makes no step, and hides none.
func TestDisturbedBatchesMakeAndHideNoStep(t *testing.T) {
	disturbed := func(step float64) []Step {
		w := standardWorld(7)
		w.cost = func(v int) float64 {
			if v >= 9 {
				return 1 + step
			}
			return 1
		}
		run := w.run()
		f := run.Families[0]
		n := 0
		for b := range f.BlockRuns {
			for i := range f.BlockRuns[b].Batches {
				if n++; n*n%101 < 20 { // one number in five has such a square
					f.BlockRuns[b].Batches[i].CPUNs = f.BlockRuns[b].Batches[i].CPUNs * 3 / 2
				}
			}
		}
		j := judgementOf(f, w.margin)
		return j.steps(w.seed)
	}
	if steps := disturbed(0); len(steps) > 0 {
		t.Errorf("steps by disturbed batches: %+v", steps)
	}
	if steps := disturbed(0.03); versionsOf(steps) != "[9]" {
		t.Errorf("steps at %s, want v9", versionsOf(steps))
	}
}

func TestStepsAreTheSameEachTime(t *testing.T) {
	w := standardWorld(8)
	w.cost = func(v int) float64 { return 1 + 0.006*float64(v%5) }
	first, second := stepsIn(w), stepsIn(w)
	if fmt.Sprint(first) != fmt.Sprint(second) {
		t.Errorf("%v and %v", first, second)
	}
}

func TestFamilyThatCannotBeJudgedHasAnEmptyListOfSteps(t *testing.T) {
	cut := func(change func(f *record.FamilyRun)) []Step {
		w := standardWorld(9)
		w.cost = func(v int) float64 { return 1 + 0.1*float64(v/12) }
		f := w.run().Families[0]
		change(&f)
		j := judgementOf(f, w.margin)
		return j.steps(w.seed)
	}
	if steps := cut(func(*record.FamilyRun) {}); len(steps) != 1 {
		t.Fatalf("whole family: %+v", steps)
	}
	for name, change := range map[string]func(f *record.FamilyRun){
		"no fork":   func(f *record.FamilyRun) { f.BlockRuns = nil },
		"one fork":  func(f *record.FamilyRun) { f.BlockRuns = f.BlockRuns[:1] },
		"two forks": func(f *record.FamilyRun) { f.BlockRuns = f.BlockRuns[:2] },
		"one version": func(f *record.FamilyRun) {
			f.Cells = slices.DeleteFunc(f.Cells, func(c record.FamilyCell) bool { return c.Version != 18 })
		},
		"a fault": func(f *record.FamilyRun) {
			f.BlockRuns[3].Faults = append(f.BlockRuns[3].Faults, record.Fault{What: record.FaultWorker, Text: "killed"})
		},
	} {
		if text, err := json.Marshal(cut(change)); err != nil || string(text) != "[]" {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
}
