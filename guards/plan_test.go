package guards

import (
	"strings"
	"testing"

	"protocolbench/internal/record"
	"protocolbench/internal/shape"
)

func TestPlan(t *testing.T) {
	one := []string{"plan|tier1|-1|fail"}
	fetch := func(run *record.Run) *record.Plan { return &run.Plans[3] } // of tier 1
	checkBreakages(t, []breakage{
		{"a version without an answer", func(_ *testing.T, run *record.Run) { fetch(run).Answers = fetch(run).Answers[1:] }, one, "v15 is implemented and has no answer"},
		{"a gap without a reason", func(_ *testing.T, run *record.Run) { fetch(run).Answers[0].Why = "" }, one, "v15 is not pinned and has no reason"},
		{"pinned and never accepted", func(_ *testing.T, run *record.Run) { fetch(run).Answers[1].Accepted = false }, one, "v16 is pinned, and the broker"},
		{"pinned and not", func(_ *testing.T, run *record.Run) { fetch(run).Pinned = []int{17, 18} }, one, "v16 is both"},
		{"a pinned version that has no cell", func(t *testing.T, run *record.Run) {
			fetch(run).Answers[0] = record.PlanAnswer{Version: 15, Advertised: true, Accepted: true, Pinned: true}
			fetch(run).Pinned = []int{15, 16, 17, 18}
			fetch(run).Tries = append(fetch(run).Tries, goodTry(15, 15))
		}, one, "measures versions [16 17 18] where [15 16 17 18] are pinned"},
		{"pinned beyond the client", func(_ *testing.T, run *record.Run) { fetch(run).Pinned = []int{16, 17, 18, 19} }, one, "v19 is pinned and not implemented"},
		{"left out for what the client did", func(_ *testing.T, run *record.Run) { drop(fetch(run), 16, "the client refuses it", "") }, one, "v16 is not pinned, has no reason, and no preflight failed at it"},
		{"left out for no reason that there is", func(_ *testing.T, run *record.Run) { drop(fetch(run), 16, "why not", "bad luck") }, one, `v16 is left out for "bad luck", which is no reason`},
		{"refused, and the broker answered", func(_ *testing.T, run *record.Run) { drop(fetch(run), 16, "refused", record.LeftRefused) }, one, `v16 is left out as refused, and what the broker did with a request of it is "answered"`},
		{"not advertised, and it is", func(_ *testing.T, run *record.Run) { drop(fetch(run), 16, "not advertised", record.LeftNotAdvertised) }, one, "the broker advertises it"},
		{"one build lacks it, and none does", func(_ *testing.T, run *record.Run) { drop(fetch(run), 16, "the baseline's", record.LeftOneBuild) }, one, "and none does"},
		{"pinned, and left out", func(_ *testing.T, run *record.Run) { fetch(run).Answers[1].Reason = record.LeftNotAsked }, one, "v16 is pinned, and left out"},
		{"no plan", func(_ *testing.T, run *record.Run) { fetch(run).Tier = 9 }, []string{"plan|tier1|-1|blind"}, "no plan of Fetch"},
	})
}

// drop takes a version out of a plan and of the families that have it, so that nothing but the reason is wrong.
func drop(plan *record.Plan, version int, why, reason string) {
	for i := range plan.Answers {
		if a := &plan.Answers[i]; a.Version == version {
			a.Pinned, a.Why, a.Reason = false, why, reason
		}
	}
	plan.Pinned = []int{17, 18}
}

func TestPlanNamesWhatTheBrokerAdvertisesAndRefuses(t *testing.T) {
	for _, f := range Check(goodRun()) {
		if f.Guard == PlanGuard && f.Tier == 1 && f.Evidence["api"] == produceAPI {
			if refused, _ := f.Evidence["refused"].([]string); f.Outcome != Pass || !strings.Contains(f.Why, "v10") || len(refused) != 1 {
				t.Errorf("%s: %s", f.Outcome, f.Why)
			}
			return
		}
	}
	t.Error("no finding")
}

// On a broker zstd leaves out the versions that can't carry it, and no other one.
func TestZstdLeavesOutWhatMayNotCarryIt(t *testing.T) {
	plan := record.Plan{API: produceAPI, Pinned: []int{5, 6, 7, 8}}
	for _, c := range []struct {
		name, compression, why string
		measured               []int
		faults                 int
	}{
		{"from v7 on", "zstd", "KIP-110", []int{7, 8}, 0},
		{"one that could carry it is missing", "zstd", "KIP-110", []int{8}, 1},
		{"no reason is given", "zstd", "", []int{7, 8}, 1},
		{"another codec has no such reason", "lz4", "KIP-110", []int{7, 8}, 1},
	} {
		f := record.Family{Tier: 1, API: produceAPI, Name: "f", LeftOut: c.why, Shape: shape.Shape{Compression: c.compression}}
		for i, v := range c.measured {
			f.Cells = append(f.Cells, record.FamilyCell{Cell: i, Version: v, Role: record.RoleVersion})
		}
		run := &record.Run{Families: []record.FamilyRun{{Family: f}}}
		if got := uncovered(run, 1, plan); len(got) != c.faults {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
