package guards

import (
	"slices"
	"testing"

	"protocolbench/internal/record"
)

// What a client does when a version is tried is a finding, whatever else the plan says of it.
func TestPreflights(t *testing.T) {
	fetch := func(run *record.Run) *record.Plan { return &run.Plans[3] } // of tier 1: v16-v18, and the client left alone
	try := func(run *record.Run, version int) *record.Try {
		i := slices.IndexFunc(fetch(run).Tries, func(t record.Try) bool { return t.Version == version })
		return &fetch(run).Tries[i]
	}
	silent := func(run *record.Run, version int) *record.Try {
		for i := range fetch(run).Answers {
			if fetch(run).Answers[i].Version == version {
				fetch(run).Answers[i].Took = record.TookSilent
			}
		}
		return try(run, version)
	}
	finding := func(text string) []string { return []string{text} }
	checkBreakages(t, []breakage{
		{"another version was sent", func(_ *testing.T, run *record.Run) { try(run, 16).Sent = map[int]int64{18: 1} }, finding("pin|tier1|16|fail"), "asked for Fetch v16, v18 was sent"},
		{"another version arrived", func(_ *testing.T, run *record.Run) { try(run, 17).Arrived = map[int]int64{16: 1} }, finding("pin|tier1|17|fail"), "v16 arrived"},
		{"the client's own word", func(_ *testing.T, run *record.Run) { try(run, 17).AnswerVersion = 18 }, finding("pin|tier1|17|fail"), "says that it spoke v18"},
		{"nothing was sent", func(_ *testing.T, run *record.Run) { try(run, 17).Sent = map[int]int64{} }, finding("pin|tier1|17|fail"), "no request left"},
		{"an error", func(_ *testing.T, run *record.Run) {
			try(run, 16).Outcome, try(run, 16).Error = record.TryRefused, "unknown field"
		}, finding("compatibility|tier1|16|fail"), "unknown field"},
		{"an error at a version that the broker does not answer", func(_ *testing.T, run *record.Run) { silent(run, 16).Outcome = record.TryRefused }, finding("compatibility|tier1|16|blind"), "nobody can tell"},
		{"another version at one that the broker does not answer", func(_ *testing.T, run *record.Run) { silent(run, 16).Sent = map[int]int64{15: 1} }, finding("pin|tier1|16|fail"), "v15 was sent"},
		{"it was not tried", func(_ *testing.T, run *record.Run) { fetch(run).Tries = fetch(run).Tries[1:] }, finding("compatibility|tier1|16|blind"), "not in the record"},
		{"nothing was left alone", func(_ *testing.T, run *record.Run) { fetch(run).Tries = fetch(run).Tries[:3] }, finding("compatibility|tier1|-1|blind"), "left alone"},
		{"it hides versions", func(_ *testing.T, run *record.Run) {
			try(run, -1).AnswerVersion, try(run, -1).Sent = 19, map[int]int64{19: 1}
		}, finding("pin|tier1|-1|fail"), "versions that it hides are not compared"},
		{"left alone it can't", func(_ *testing.T, run *record.Run) {
			try(run, -1).Outcome, try(run, -1).Error = record.TryHung, "no answer"
		}, finding("compatibility|tier1|-1|fail"), "left alone can't use Fetch"},
		{"a second build that was not tried", func(_ *testing.T, run *record.Run) { fetch(run).BaselineImplemented = &[2]int{15, 18} },
			[]string{"compatibility|tier1|16|blind", "compatibility|tier1|17|blind", "compatibility|tier1|18|blind", "compatibility|tier1|-1|blind"}, "every build"},
	})
}

func TestPreflightsOfARecordWithoutThem(t *testing.T) {
	run := goodRun()
	run.Header.Schema = 3
	for i := range run.Plans {
		run.Plans[i].Tries = nil
	}
	for _, f := range Check(run) {
		if f.Guard == Compatibility || f.Guard == PlanGuard && f.Outcome != Pass {
			t.Errorf("%s: %s", label(f), f.Why)
		}
	}
}

func TestPreflightOfTheBaselineSaysSo(t *testing.T) {
	plan := goodRun().Plans[3]
	plan.BaselineImplemented = &[2]int{15, 18}
	for _, t := range slices.Clone(plan.Tries) {
		t.Build = record.BuildBaseline
		plan.Tries = append(plan.Tries, t)
	}
	plan.Tries[4].Sent = map[int]int64{18: 1}
	got := preflights(plan)
	if len(got) != 1 || got[0].Build != record.BuildBaseline || got[0].Outcome != Fail || got[0].Why != aboutBaseline+"asked for Fetch v16, v18 was sent (1 request on the wire)" {
		t.Errorf("%+v", got)
	}
}

// A guard that is silent, or that says it doesn't apply where it could have been asked, has not passed.
func TestSilentGuards(t *testing.T) {
	run := goodRun()
	findings := Check(run)
	for _, f := range run.Families {
		if silent := Silent(run, f.Family, findings); silent != nil {
			t.Errorf("%s: %v", f.Name, silent)
		}
		for _, guard := range Due(run, f.Family) {
			without := slices.DeleteFunc(slices.Clone(findings), func(x Finding) bool { return x.Family == f.Name && x.Guard == guard })
			if silent := Silent(run, f.Family, without); !slices.Equal(silent, []string{guard}) {
				t.Errorf("%s without %s: %v", f.Name, guard, silent)
			}
			not := append(slices.Clone(without), Finding{Guard: guard, Tier: f.Tier, Family: f.Name, Outcome: NotApplicable})
			if silent := Silent(run, f.Family, not); (silent != nil) == MayNotApply(run, f.Family, guard) {
				t.Errorf("%s: %s does not apply, and silent are %v", f.Name, guard, silent)
			}
		}
	}
	live := run.Families[2].Family // Fetch on 4.x, which can't convert
	if live.Name != liveFetch || !MayNotApply(run, live, Conversions) || MayNotApply(run, run.Families[3].Family, Conversions) || MayNotApply(run, live, Pin) || MayNotApply(run, live, Log) {
		t.Error("what may not apply to a live family")
	}
}
