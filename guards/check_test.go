package guards

import (
	"encoding/json"
	"slices"
	"testing"

	"protocolbench/internal/record"
)

func TestGoodRunPassesEveryGuard(t *testing.T) {
	findings := Check(goodRun())
	passed := map[string]int{}
	for _, f := range findings {
		if f.Outcome != Pass && f.Outcome != NotApplicable {
			t.Errorf("%s: %s %v", label(f), f.Why, f.Evidence)
		}
		if f.Outcome == Pass {
			passed[f.Guard]++
		}
		if f.Why == "" {
			t.Errorf("%s has no explanation", label(f))
		}
	}
	for _, guard := range []string{Pin, Conversions, Log, Data, Identity, PlanGuard, Completeness, Clocks, Memory, Negotiation, KnownTruth} {
		if passed[guard] == 0 {
			t.Errorf("no finding of guard %q passes in a good run", guard)
		}
	}
}

func TestFindingsAreJSONInAFixedOrder(t *testing.T) {
	one, err := json.Marshal(Check(goodRun()))
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		two, err := json.Marshal(Check(goodRun()))
		if err != nil {
			t.Fatal(err)
		}
		if string(one) != string(two) {
			t.Fatalf("the same record gave\n%s\nand\n%s", one, two)
		}
	}
}

func TestFindingsComeByTierAndAreNotRepeated(t *testing.T) {
	findings := Check(goodRun())
	if !slices.IsSortedFunc(findings, func(a, b Finding) int { return a.Tier - b.Tier }) {
		t.Error("not in the order of tiers")
	}
	seen := map[string]bool{}
	for _, f := range findings {
		if key := label(f) + f.Why; seen[key] {
			t.Errorf("twice: %s", key)
		} else {
			seen[key] = true
		}
	}
}

// Records of runs that were cut off anywhere have to be judged, too.
func TestCheckBearsEveryTruncatedRun(t *testing.T) {
	cuts := map[string]func(*record.BlockRun){
		"no open":    func(b *record.BlockRun) { b.Open = nil },
		"no close":   func(b *record.BlockRun) { b.Close = nil },
		"no broker":  func(b *record.BlockRun) { b.Close.Broker = nil },
		"no cells":   func(b *record.BlockRun) { b.CellRows = nil },
		"no batches": func(b *record.BlockRun) { b.Batches = nil },
		"no orders":  func(b *record.BlockRun) { b.Orders = nil },
		"no counts":  func(b *record.BlockRun) { b.Open.Worker.Cells, b.Close.Worker.Cells = nil, nil },
		"nothing":    func(b *record.BlockRun) { *b = record.BlockRun{Block: record.Block{Where: b.Where}} },
	}
	for name, cut := range cuts {
		t.Run(name, func(t *testing.T) {
			run := goodRun()
			for f := range run.Families {
				for b := range run.Families[f].BlockRuns {
					cut(&run.Families[f].BlockRuns[b])
				}
			}
			if _, err := json.Marshal(Check(run)); err != nil {
				t.Error(err)
			}
		})
	}
	for _, empty := range []*record.Run{{}, {Header: record.Header{Tiers: []int{1}}}, {Families: []record.FamilyRun{{}}}} {
		if Check(empty)[0].Outcome == Pass {
			t.Error("an empty record passes")
		}
	}
}

func TestEvidenceQuotesBlocksAndCountsTheRest(t *testing.T) {
	run := goodRun()
	b := block(t, run, liveFetch, 1)
	for i := range b.Batches {
		b.Batches[i].Records--
	}
	for _, f := range Check(run) {
		if f.Guard != Data || f.Family != liveFetch || f.Version != 16 {
			continue
		}
		quoted := f.Evidence["fail"].([]map[string]any)
		if len(quoted) != shownSightings || f.Evidence["notShown"] != goodRounds-shownSightings {
			t.Errorf("%d quoted, %v not shown; %d batches were wrong", len(quoted), f.Evidence["notShown"], goodRounds)
		}
		if quoted[0]["fork"] != 1 {
			t.Errorf("the block is not named: %v", quoted[0])
		}
		return
	}
	t.Error("no finding")
}
