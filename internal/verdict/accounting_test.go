package verdict

import (
	"math/rand"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"protocolbench/guards"
	"protocolbench/internal/driver"
	"protocolbench/internal/record"
)

// scoped is a clean run of schema 4, with a plan and a scope: v4-v18 of one family, and v0-v3 that the client implements besides.
func scoped(change func(*record.Run)) *record.Run {
	run := quickWorld(21).run()
	f := &run.Families[0]
	run.Header.Schema = record.Schema
	run.Header.Tiers = []int{1}
	run.Header.Client.Implemented = []driver.Range{{API: f.API, Key: f.Key, Min: 0, Max: 18}}
	plan := record.Plan{Tier: 1, API: f.API, Key: f.Key, Implemented: [2]int{0, 18}, Advertised: [2]int{0, 18}, Negotiated: 18}
	for v := range 19 {
		a := record.PlanAnswer{Version: v, Advertised: true, Accepted: true, Took: record.TookAnswered, Pinned: v >= 4}
		if v < 4 {
			a.Reason, a.Why = record.LeftOlderFormat, "older than record batches of format v2"
		} else {
			plan.Pinned = append(plan.Pinned, v)
			plan.Tries = append(plan.Tries, record.Try{Version: v, Outcome: record.TryOpened, AnswerVersion: v, Sent: map[int]int64{v: 1}})
		}
		plan.Answers = append(plan.Answers, a)
	}
	run.Plans = []record.Plan{plan}
	run.Scopes = []record.Scope{{Tier: 1, Families: []record.ScopeFamily{{Name: f.Name, API: f.API}}}}
	if change != nil {
		change(run)
	}
	return run
}

// takeOut leaves a version's cells out of a family as if they had never been declared.
func takeOut(f *record.FamilyRun, version int) {
	gone := map[int]bool{}
	f.Cells = slices.DeleteFunc(f.Cells, func(c record.FamilyCell) bool {
		gone[c.Cell] = gone[c.Cell] || c.Version == version
		return c.Version == version
	})
	for i := range f.BlockRuns {
		b := &f.BlockRuns[i]
		b.Batches = slices.DeleteFunc(b.Batches, func(batch record.Batch) bool { return gone[batch.Cell] })
		for round, order := range b.Orders {
			b.Orders[round] = slices.DeleteFunc(slices.Clone(order), func(cell int) bool { return gone[cell] })
		}
	}
}

func judgeScoped(run *record.Run, more ...guards.Finding) Verdict {
	return Judge(run, append(goodGuards(run), more...), Options{})
}

// addsUp tells whether every count's parts are what was planned.
func addsUp(a Accounting) bool {
	c, b, r, l, g := a.Cells, a.Blocks, a.Rounds, a.Looks, a.Guards
	missing := c.Missing + b.Missing + r.Missing + g.Silent
	return c.Planned == c.Judged+c.Failed+c.LeftOut+c.Missing && b.Planned == b.Judged+b.Void+b.Missing && r.Planned == r.Judged+r.Busy+r.Missing &&
		l.Due == l.Taken+l.NotTaken && g.Due == g.Answered+g.Silent && (missing > 0) == (len(a.Missing) > 0)
}

func TestJudgedAndLeftOutIsThePlan(t *testing.T) {
	v := judgeScoped(scoped(nil))
	if v.Verdict != Pass || v.Accounting.Cells != (CellCount{Planned: 19, Judged: 15, LeftOut: 4}) || !addsUp(v.Accounting) || len(v.LeftOut) != 4 {
		t.Errorf("%s: %s, %+v, left out %v", v.Verdict, v.Reason, v.Accounting, v.LeftOut)
	}
	failed := guards.Finding{Guard: guards.Pin, Tier: 1, Version: 9, Outcome: guards.Fail, Why: "asked for Fetch v9, v18 was sent", Evidence: map[string]any{"api": "Fetch", "preflight": true, "sent": 18}}
	without9 := func(run *record.Run) {
		run.Plans[0].Answers[9].Pinned, run.Plans[0].Answers[9].Why = false, "asked for Fetch v9, v18 was sent"
		run.Plans[0].Pinned = slices.DeleteFunc(run.Plans[0].Pinned, func(v int) bool { return v == 9 })
		takeOut(&run.Families[0], 9)
	}
	for _, c := range []struct {
		name   string
		change func(*record.Run)
		more   []guards.Finding
		word   string
		reason string
		cells  CellCount
	}{
		{"a version that failed when it was tried", without9, []guards.Finding{failed}, Fail, "the pin guard failed in tier 1: asked for Fetch v9, v18 was sent", CellCount{19, 14, 1, 4, 0}},
		{"the same, and nobody objects", without9, nil, Inconclusive, "tier1/fetch/size=0/bare v9 was to be judged, and is not", CellCount{19, 14, 0, 4, 1}},
		{"a version without an answer", func(run *record.Run) {
			run.Plans[0].Answers = slices.Delete(run.Plans[0].Answers, 9, 10)
		}, nil, Inconclusive, "v9 was to be judged", CellCount{19, 14, 0, 4, 1}},
		{"a family that was never begun", func(run *record.Run) {
			run.Scopes[0].Families = append(run.Scopes[0].Families, record.ScopeFamily{Name: "tier1/fetch/size=1/bare", API: "Fetch"})
		}, nil, Inconclusive, "tier1/fetch/size=1/bare v4, v5", CellCount{38, 15, 0, 8, 15}},
		{"a family that is left out", func(run *record.Run) {
			run.Scopes[0].Families = append(run.Scopes[0].Families, record.ScopeFamily{Name: "tier1/fetch/size=1/bare", API: "Fetch", Reason: record.LeftAbility, Why: "the worker lacks it"})
		}, nil, Pass, "", CellCount{38, 15, 0, 23, 0}},
		{"a tier that was never begun", func(run *record.Run) {
			run.Scopes = append(run.Scopes, record.Scope{Tier: 2, Families: []record.ScopeFamily{{Name: "tier2/fetch/size=1/alone", API: "Fetch"}}})
		}, nil, Inconclusive, "tier2/fetch/size=1/alone was to be tried, and was not", CellCount{20, 15, 0, 4, 1}},
		{"a version that its family leaves out", func(run *record.Run) {
			takeOut(&run.Families[0], 9)
			run.Families[0].Left = []record.LeftVersions{{Versions: []int{9}, Reason: record.LeftUnchanged, Why: "its schema did not change"}}
		}, nil, Pass, "", CellCount{19, 14, 0, 5, 0}},
		{"a cell less than the plan has", func(run *record.Run) {
			takeOut(&run.Families[0], 9)
		}, nil, Inconclusive, "v9 was to be judged", CellCount{19, 14, 0, 4, 1}},
		{"interrupted", func(run *record.Run) {
			run.Faults, run.Trailer.Complete = []record.Fault{{What: record.FaultUser, Tier: -1, Text: "interrupted"}}, false
			run.Scopes[0].Families = append(run.Scopes[0].Families, record.ScopeFamily{Name: "tier1/fetch/size=1/bare", API: "Fetch"})
			run.Families[0].BlockRuns = run.Families[0].BlockRuns[:3]
		}, nil, Inconclusive, "interrupted", CellCount{38, 15, 0, 8, 15}},
	} {
		v := judgeScoped(scoped(c.change), c.more...)
		if v.Verdict != c.word || !strings.Contains(v.Reason, c.reason) || v.Accounting.Cells != c.cells || !addsUp(v.Accounting) {
			t.Errorf("%s: %s: %s; %+v", c.name, v.Verdict, v.Reason, v.Accounting)
		}
	}
}

// Every version that failed in one way is named in one sentence.
func TestVersionsThatIgnoreTheirPinAreAllNamed(t *testing.T) {
	var all []guards.Finding
	for version := 4; version < 18; version++ {
		all = append(all, guards.Finding{Guard: guards.Pin, Tier: 1, Version: version, Outcome: guards.Fail, Why: "one by one", Evidence: map[string]any{"api": "Fetch", "preflight": true, "sent": 18}})
	}
	baseline := all[2]
	baseline.Build = record.BuildBaseline
	broken := guards.Finding{Guard: guards.Compatibility, Tier: 1, Version: 5, Outcome: guards.Fail, Why: "the client can't speak Produce v5", Evidence: map[string]any{"api": "Produce", "preflight": true}}
	faults := preflightFaults(&Verdict{Guards: append(all, baseline, broken)})
	if len(faults) != 3 || faults[0].words != "the pin guard failed in tier 1: asked for Fetch v4-v17, v18 was sent" || faults[1].words != "the pin guard failed in tier 1: one by one" ||
		faults[2].words != "the compatibility guard failed in tier 1: the client can't speak Produce v5" {
		t.Errorf("%+v", faults)
	}
	embedded := &Verdict{Guards: append(all, broken), Brokers: []Broker{{Tier: 1, Provider: providerEmbedded}}}
	if got := preflightFaults(embedded); got[0].isHeld || !got[1].isHeld {
		t.Errorf("what left on the wire is the client's on any broker, what failed on an embedded one need not be: %+v", got)
	}
}

// Whatever is taken out of a record, the sum holds, and the run doesn't pass when anything is missing.
func TestNothingThatIsMissingPasses(t *testing.T) {
	random := rand.New(rand.NewSource(16))
	whole := judgeScoped(scoped(nil))
	for range 300 {
		what := ""
		run := scoped(func(run *record.Run) {
			f := &run.Families[0]
			block := &f.BlockRuns[random.Intn(len(f.BlockRuns))]
			switch random.Intn(8) {
			case 0:
				what, f.BlockRuns = "a block", slices.Delete(f.BlockRuns, 1, 2)
			case 1:
				i := random.Intn(len(block.Batches))
				what, block.Batches = "a batch", slices.Delete(slices.Clone(block.Batches), i, i+1)
			case 2:
				what, run.Families = "the family", nil
			case 3:
				i := random.Intn(len(run.Plans[0].Answers))
				what, run.Plans[0].Answers = "an answer of the plan", slices.Delete(run.Plans[0].Answers, i, i+1)
			case 4:
				version := 4 + random.Intn(15)
				what = "a version's cells"
				takeOut(f, version)
			case 5:
				i := random.Intn(len(block.Batches))
				what, block.Batches[i].CPUNs = "a batch's CPU", 0
			case 6:
				what, run.Trailer = "the trailer", nil
			case 7:
				i := 4 + random.Intn(15)
				what, run.Plans[0].Answers[i].Pinned = "a pin", false
			}
		})
		v := judgeScoped(run)
		if v.Verdict == Pass || !addsUp(v.Accounting) {
			t.Errorf("without %s: %s (%s), %+v", what, v.Verdict, v.Reason, v.Accounting)
		}
	}
	if whole.Verdict != Pass {
		t.Errorf("nothing is missing, and yet: %s", whole.Reason)
	}
}

// The recorded runs of every kind: passed, failed, undecided, interrupted, with a dead worker, a dead broker.
func TestTheSumHoldsInRecordedRuns(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "testdata", "records", "*", record.FileName))
	if err != nil || len(paths) < 5 {
		t.Fatalf("%d records, %v", len(paths), err)
	}
	for _, path := range paths {
		run, err := record.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		v := Judge(run, guards.Check(run), Options{})
		if a := v.Accounting; !addsUp(a) || a.Cells.Planned == 0 || v.Verdict == Pass && len(a.Missing) > 0 {
			t.Errorf("%s: %s, %+v", path, v.Verdict, a)
		}
	}
}
