package guards

import (
	"fmt"
	"slices"

	"protocolbench/internal/record"
)

// checkCompleteness asks whether everything that was planned was measured. Missing cells are a result, not noise: a deadlock on one
// version once hid behind "noisy".
func checkCompleteness(run *record.Run, f record.FamilyRun) []Finding {
	t := newTally(Completeness, f.Family, "every planned block has every batch of every cell, in the order that was drawn")
	cause := causeOf(run, f)
	if len(f.BlockRuns) < f.Blocks {
		missing := f.Blocks - len(f.BlockRuns)
		cause.say(t, record.Where{Family: f.Name}, fmt.Sprintf("%d of %d blocks are missing", missing, f.Blocks), map[string]any{"planned": f.Blocks, "taken": len(f.BlockRuns)})
	}
	for _, b := range f.BlockRuns {
		missing, faults := blockGaps(f.Family, b)
		switch {
		case len(faults) > 0:
			t.see(AllVersions, b.Where, Fail, faults[0]+"; the schedule was not followed, so position and version may be mixed up", map[string]any{"faults": len(faults)})
		case len(missing) > 0:
			cause.say(t, b.Where, fmt.Sprintf("%d batches are missing, first round %d, cell %d", len(missing), missing[0][0], missing[0][1]),
				map[string]any{"missing": len(missing), "taken": len(b.Batches)})
		default:
			t.pass(AllVersions, b.Where, map[string]any{"batches": int64(len(b.Batches))})
		}
	}
	for _, fault := range run.Faults {
		if fault.Family == f.Name && fault.What == record.FaultWorker && inLook(run, f, fault) {
			outcome, what := workersFault(fault)
			t.see(AllVersions, fault.Where, outcome, what+"; run this family alone with --only and look at the worker's log", map[string]any{"log": fault.Log})
		}
	}
	return t.findings()
}

// blockGaps gives the (round, cell) pairs that a block should have and hasn't, and what it has and shouldn't.
func blockGaps(f record.Family, b record.BlockRun) (missing [][2]int, faults []string) {
	taken := map[[2]int]int{}
	for _, batch := range b.Batches {
		if batch.Primes {
			continue // beside the schedule: how many are needed goes by whose turn it is
		}
		taken[[2]int{batch.Round, batch.Cell}]++
		if batch.Round < 0 || batch.Round >= len(b.Orders) || batch.Position < 0 || batch.Position >= len(b.Orders[batch.Round]) ||
			b.Orders[batch.Round][batch.Position] != batch.Cell {
			faults = append(faults, fmt.Sprintf("cell %d was measured in round %d at position %d, where the drawn order has another", batch.Cell, batch.Round, batch.Position))
		}
	}
	if len(b.Orders) < f.Rounds {
		faults = append(faults, fmt.Sprintf("%d rounds were ordered where %d are planned", len(b.Orders), f.Rounds))
	}
	for round, order := range b.Orders {
		for _, c := range f.Cells {
			pair := [2]int{round, c.Cell}
			switch {
			case !slices.Contains(order, c.Cell):
				faults = append(faults, fmt.Sprintf("round %d leaves cell %d out", round, c.Cell))
			case taken[pair] == 0:
				missing = append(missing, pair)
			case taken[pair] > 1:
				faults = append(faults, fmt.Sprintf("cell %d was measured %d times in round %d", c.Cell, taken[pair], round))
			}
		}
	}
	return missing, faults
}

// workersFault: a worker that failed is a result about its client. About the client under test nothing is known by the baseline's.
func workersFault(fault record.Fault) (Outcome, string) {
	if fault.Build == record.BuildBaseline {
		return Blind, "the baseline's worker failed, so there is nothing to compare with: " + fault.Text
	}
	return Fail, "the client's worker failed: " + fault.Text
}

// cause is why something is missing.
type cause struct {
	outcome Outcome
	text    string
}

func (c cause) say(t *tally, where record.Where, what string, numbers map[string]any) {
	t.see(AllVersions, where, c.outcome, what+": "+c.text, numbers)
}

// causeOf finds the most telling fault. A worker's is the client's and a failure. An interruption, a broker's end and a fault of this program
// say nothing about the client. With no fault at all the rows were lost, and nothing here can be trusted.
func causeOf(run *record.Run, f record.FamilyRun) cause {
	for _, fault := range run.Faults {
		if fault.Family == f.Name && fault.What == record.FaultWorker && fault.Build == "" && inLook(run, f, fault) {
			return cause{Fail, "the client's worker failed (" + fault.Text + "); that is a result"}
		}
	}
	for _, fault := range run.Faults {
		mine := fault.Family == f.Name && inLook(run, f, fault) || fault.Family == "" && (fault.Tier == f.Tier || fault.Tier == WholeRun || fault.What == record.FaultUser)
		if mine {
			return cause{Blind, fmt.Sprintf("%s (%s); run it again", fault.Text, fault.What)}
		}
	}
	switch {
	case run.Trailer == nil:
		return cause{Blind, "the run was killed before it ended; run it again"}
	case !run.Trailer.Complete:
		return cause{Blind, "the run ended early: " + run.Trailer.Reason}
	}
	return cause{Fail, "no fault explains it, so the record has lost rows; it can't be judged"}
}

// checkRunComplete asks about the run as a whole, and about workers that failed before their family was declared.
func checkRunComplete(run *record.Run) []Finding {
	f := Finding{Guard: Completeness, Tier: WholeRun, Version: AllVersions, Outcome: Pass, Why: "the run came to its planned end",
		Evidence: map[string]any{"families": len(run.Families), "faults": len(run.Faults)}}
	empty := slices.DeleteFunc(slices.Clone(run.Header.Tiers), func(tier int) bool {
		return slices.ContainsFunc(run.Families, func(f record.FamilyRun) bool { return f.Tier == tier })
	})
	switch {
	case run.Trailer == nil:
		f.Outcome, f.Why = Blind, "the record has no trailer: the run was killed before it ended; what it had found is judged"
	case !run.Trailer.Complete:
		f.Outcome, f.Why = Blind, "the run ended early: "+run.Trailer.Reason
	case len(empty) > 0:
		f.Outcome, f.Why = Blind, fmt.Sprintf("nothing was measured in tiers %v, which were asked for", empty)
	}
	findings := []Finding{f}
	for _, fault := range run.Faults {
		declared := slices.ContainsFunc(run.Families, func(f record.FamilyRun) bool { return f.Name == fault.Family })
		if declared || fault.What != record.FaultWorker {
			continue
		}
		outcome, what := workersFault(fault)
		findings = append(findings, Finding{Guard: Completeness, Tier: fault.Tier, Family: fault.Family, Version: AllVersions, Build: fault.Build, Outcome: outcome,
			Why:      what + "; that was before anything could be measured",
			Evidence: map[string]any{"log": fault.Log}})
	}
	return findings
}
