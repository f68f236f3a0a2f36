package report

import (
	"strings"
	"testing"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

// The shares are the reference's, and where a worker says nothing nothing is said.
func TestStagesAreToldOfTheReference(t *testing.T) {
	steady := func(cell int, staged, buffer, encode int64) record.Steady {
		return record.Steady{Cell: cell, Steadied: driver.Steadied{StagedNs: staged, BufferNs: buffer, EncodeNs: encode}}
	}
	run := record.FamilyRun{Family: record.Family{Cells: []record.FamilyCell{{Cell: 0, Version: 3}, {Cell: 1, Version: 13}}},
		BlockRuns: []record.BlockRun{{Steadies: []record.Steady{steady(0, 100, 10, 80), steady(1, 1000, 560, 260)}}, {Steadies: []record.Steady{steady(0, 100, 10, 80), steady(1, 2000, 1120, 520)}}}}
	f := verdict.Family{Reference: 13}
	got := stagesOf(f, run)
	if len(got) != 1 || got[0].Loud || !strings.Contains(got[0].Text, "56 % is handing records over and buffering them, 26 % encoding the request, 18 %") {
		t.Errorf("%+v", got)
	}
	for i := range run.BlockRuns {
		run.BlockRuns[i].Steadies[1] = steady(1, 0, 0, 0)
	}
	if got := stagesOf(f, run); got != nil {
		t.Errorf("a worker that can't say: %+v", got)
	}
}
