package verdict

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"protocolbench/guards"
	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/seed"
)

// The word of a version of two builds, case by case. Estimates and errors are in per cent.
func TestWordOfTwoBuilds(t *testing.T) {
	for _, c := range []struct {
		name               string
		between, betweenSE float64
		curve, curveSE     float64
		us                 float64 // cost of a request with the baseline
		curveBlind         bool
		want, why          string
	}{
		{"nothing", 0, 0.5, 0, 0.3, 100, false, NotSlower, ""},
		{"slower by the margin", 8, 0.5, 0, 0.3, 100, false, Slower, "against the baseline, margin 5.0 %"},
		{"slower, and immaterial", 8, 0.5, 8, 0.3, 5, false, NotSlower, "immaterial"},
		{"a little slower, out of its place by the curves' margin", 4, 0.5, 4, 0.3, 100, false, Slower, "against the reference version since the baseline"},
		{"a little slower, out of its place, and immaterial", 4, 0.5, 4, 0.3, 5, false, NotSlower, "immaterial: 4.0 % against the reference version"},
		{"perhaps a little slower, out of its place", 1, 0.8, 4, 0.3, 100, false, NotSlower, "left behind"},
		{"perhaps slower, out of its place", 3, 2, 4, 0.3, 100, false, Unresolved, "against the baseline the upper bound"},
		{"a little slower, with all others", 3, 0.5, 0, 0.3, 100, false, NotSlower, ""},
		{"overtaken by the others", 0, 0.5, 10, 0.3, 100, false, NotSlower, "left behind"},
		{"cheaper, and overtaken", -10, 0.5, 10, 0.3, 100, false, NotSlower, "left behind"},
		{"too wide against the baseline", 3, 2, 0, 0.3, 100, false, Unresolved, "against the baseline the upper bound"},
		{"too wide on a coarse floor", 3, 2, 0, 0.3, 100, false, Unresolvable, "the floor of 9.0 %"},
		{"slower on a coarse floor", 20, 2, 0, 0.3, 100, true, Slower, "against the baseline, margin 5.0 %"},
		{"cheaper on a coarse floor", -20, 4, 0, 0.3, 100, true, NotSlower, ""},
		{"too wide among the versions", 3, 0.5, 2, 1, 100, false, Unresolved, "against the reference version the upper bound"},
		{"cheap enough, whatever the curve", -5, 0.5, 2, 1, 100, false, NotSlower, ""},
		{"a curve that can't be resolved says nothing", 4, 0.3, 4, 0.3, 100, true, NotSlower, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			contrast := func(name string, estimate, se float64) cellContrast {
				x := cellContrast{name: name}
				x.Estimate, x.Bounded, x.Rounds, x.Forks = math.Log1p(estimate/100), true, 216, 12
				x.Fork.SE, x.Fork.DF = se/100, 11
				x.p = x.PAbove(0) * 15 // as Holm would at worst
				return x
			}
			b := builds{margin: 0.05, curveOK: !c.curveBlind}
			if strings.Contains(c.name, "on a coarse floor") {
				b.coarse = "the floor of 9.0 % is above the margin of 5.0 %"
			}
			b.newest = 14
			b.judgement.margin = 0.03
			b.versions = make([]record.FamilyCell, 15)
			b.between = []cellContrast{contrast(contrastBaseline, c.between, c.betweenSE)}
			b.curve = []cellContrast{contrast(contrastCurve, c.curve, c.curveSE)}
			cell := Cell{Difference: c.between / 100, Curve: differenceOf(b.curve[0]), Baseline: &Figures{CPUUsPerRequest: c.us}}
			cell.Low, cell.High, _ = bounds(b.between[0])
			if behind := b.leftBehind(0, cell); behind != (c.why == "left behind") && c.want == NotSlower {
				t.Errorf("left behind: %v", behind)
			}
			if word, why := b.word(0, cell); word != c.want || !strings.Contains(why, c.why) || (c.why == "" && why != "") {
				t.Errorf("%s (%s), want %s (%s)", word, why, c.want, c.why)
			}
		})
	}
}

func TestRunOfTwoBuildsNamesThem(t *testing.T) {
	w := standardBuilds(3)
	run := w.run()
	run.Header.ClientBuild = &record.Build{Spec: "franz-go=x", ContentHash: "aa", Revision: "v1-dirty"}
	run.Header.BaselineBuild = &record.Build{Spec: "franz-go@v1.19.0", ContentHash: "bb"}
	run.Trailer.Changed = []string{"franz-go=x: pkg/kgo/client.go was changed"}
	v := Judge(run, goodGuards(run), Options{Margin: 0.03})
	if v.Baseline == nil || v.Baseline.Spec != "franz-go@v1.19.0" || v.Baseline.ContentHash != "bb" || v.Client.Revision != "v1-dirty" || v.Client.Spec != "franz-go=x" {
		t.Errorf("client %+v, baseline %+v", v.Client, v.Baseline)
	}
	var texts []string
	for _, warning := range v.Warnings {
		texts = append(texts, warning.Text)
	}
	if all := strings.Join(texts, "\n"); !strings.Contains(all, "client.go was changed") || !strings.Contains(all, "builds are compared with a margin of 5.0 %") {
		t.Errorf("warnings: %s", all)
	}
	if f := v.Families[0]; f.Margin != 0.05 || f.Builds.CurveMargin != 0.03 {
		t.Errorf("judged with %v between builds and %v between curves", f.Margin, f.Builds.CurveMargin)
	}
}

// A dead baseline is the candidate's fault no more than a broker's is.
func TestBaselineThatDiedFailsNothing(t *testing.T) {
	run := standardBuilds(4).run()
	f := &run.Families[0]
	fault := record.Fault{Where: record.Where{Family: f.Name, Draw: 0, Fork: 1}, What: record.FaultWorker, Text: "baseline: killed", Build: record.BuildBaseline}
	run.Faults = append(run.Faults, fault)
	f.BlockRuns[1].Faults, f.BlockRuns[1].Batches = []record.Fault{fault}, nil
	blind := []guards.Finding{{Guard: guards.Completeness, Family: f.Name, Version: -1, Outcome: guards.Blind, Why: "the baseline's worker failed"}}
	if v := Judge(run, blind, Options{}); v.Verdict != Inconclusive {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
}

// Whatever is missing, there is a word for it, and it goes through JSON.
func TestOddRunsOfTwoBuilds(t *testing.T) {
	r := seed.Stream(1, "odd builds")
	for i := range 60 {
		w := quickBuilds(uint64(i))
		w.versions = span(4, 4+int(r.Uint64()%4))
		run := w.run()
		f := &run.Families[0]
		switch i % 10 {
		case 0:
			f.Cells = f.Cells[:len(f.Cells)/2] // no baseline
		case 1:
			f.Cells = f.Cells[len(f.Cells)/2:] // no candidate
		case 2:
			f.Cells[len(f.Cells)-4].Version = 99 // another version in the baseline
		case 3:
			f.BlockRuns = f.BlockRuns[:1]
		case 4:
			f.BlockRuns = nil
		case 5:
			for b := range f.BlockRuns {
				f.BlockRuns[b].Batches = f.BlockRuns[b].Batches[:len(f.Cells)/2]
			}
		case 6:
			zero(f, func(b *record.Batch) { b.CPUNs = 1000 })
		case 7:
			f.BuildMargin = math.SmallestNonzeroFloat64
		case 8:
			f.PlantNsPerRequest = 0
		}
		v := Judge(run, nil, Options{})
		if _, err := json.Marshal(v); err != nil {
			t.Fatalf("case %d: %v", i%10, err)
		}
		for _, c := range v.Families[0].Cells {
			if c.Verdict == "" || c.Verdict == Slower || c.Verdict != NotSlower && c.Why == "" {
				t.Errorf("case %d: v%d is %q because %q", i%10, c.Version, c.Verdict, c.Why)
			}
		}
	}
}

// What one worker used while the other worked is added up; a batch that primes a turn is no figure.
func TestIdleShareAndPrimes(t *testing.T) {
	run := quickBuilds(5).run()
	f := &run.Families[0]
	idleNs := int64(f.BlockRuns[0].Batches[0].CPUNs / 100)
	prime := f.BlockRuns[0].Batches[0]
	prime.Primes, prime.Position, prime.Batched = true, -1, driver.Batched{CPUNs: prime.CPUNs * 100, Records: prime.Records, Requests: prime.Requests}
	before := Judge(run, nil, Options{}).Families[0]
	f.BlockRuns[0].Batches[0].IdleCPUNs = &idleNs
	f.BlockRuns[0].Batches = append(f.BlockRuns[0].Batches, prime)
	after := Judge(run, nil, Options{}).Families[0]
	if got := after.Builds.IdleShare; math.Abs(got-0.01) > 1e-6 || before.Builds.IdleShare != -1 {
		t.Errorf("idle share %v, before %v; want 0.01 and unknown", got, before.Builds.IdleShare)
	}
	for i, c := range after.Cells {
		if c.CPUNsPerRecord != before.Cells[i].CPUNsPerRecord || c.Difference != before.Cells[i].Difference {
			t.Errorf("a priming batch moved v%d from %v to %v ns", c.Version, before.Cells[i].CPUNsPerRecord, c.CPUNsPerRecord)
		}
	}
}

// A build that its planted slowdown isn't seen in is no measure for the other one, whichever of the two it is.
func TestCanaryMissedInOneBuildSpoilsTheFamily(t *testing.T) {
	for build, why := range map[string]string{"": "the canary of", record.BuildBaseline: "baseline: the canary of"} {
		run := standardBuilds(8).run()
		f := &run.Families[0]
		l := layoutOfBuild(f.Family, build)
		for _, block := range f.BlockRuns {
			for b := range block.Batches {
				if batch := &block.Batches[b]; batch.Cell == l.canary {
					batch.CPUNs -= f.PlantNsPerRequest * int64(batch.Requests)
				}
			}
		}
		judged := Judge(run, goodGuards(run), Options{}).Families[0]
		if judged.unusual(Unresolvable) != "" || !strings.HasPrefix(judged.Cells[0].Why, why) {
			t.Errorf("missed in build %q: %s (%s)", build, judged.Cells[0].Verdict, judged.Cells[0].Why)
		}
	}
}

// Curves that can't be resolved spoil nothing: the family says so, and rests on what is known against the baseline.
func TestCurvesTooWideLeaveTheBaseline(t *testing.T) {
	run := standardBuilds(9).run()
	f := Judge(run, goodGuards(run), Options{Margin: 0.005}).Families[0]
	said := false
	for _, w := range f.Warnings {
		said = said || strings.Contains(w.Text, "only their difference to the baseline is judged")
	}
	if f.Builds.CurveFloor <= 0.005 || f.unusual(NotSlower) != "" || !said {
		t.Errorf("curve floor %v, said %v, %s: %s", f.Builds.CurveFloor, said, f.unusual(NotSlower), f.Cells[0].Why)
	}
}
