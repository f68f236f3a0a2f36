package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/shape"
	"protocolbench/internal/verdict"
)

// Responses without records have no cost per record, and no column that says so.
func TestTableOfRequests(t *testing.T) {
	f := verdict.Family{Name: "tier0/fetch/empty=1/bare", API: "Fetch", Reference: 18, Unit: verdict.UnitRequest,
		Cells: []verdict.Cell{{Version: 18, Verdict: verdict.NotSlower, CPUUsPerRequest: 0.4, CPUNsPerRecord: 400, AllocsPerRecord: 3}}}
	table := familyTable(f, record.FamilyRun{})
	var head []string
	for _, c := range table.Head {
		head = append(head, c.Name)
	}
	if slices.Contains(head, "ns/rec") || slices.Contains(head, "rec/s") || !slices.Contains(head, "allocs/req") || len(table.Rows[0]) != len(head) {
		t.Errorf("%q\n%q", head, table.Rows)
	}
	if facts := familyFacts(f); !strings.Contains(facts, "cost is that of a request") {
		t.Errorf("%q", facts)
	}
	f.Unit = ""
	if table := familyTable(f, record.FamilyRun{}); !slices.ContainsFunc(table.Head, func(c column) bool { return c.Name == "ns/rec" }) || len(table.Rows[0]) != len(table.Head) {
		t.Errorf("a family of records: %+v", table.Head)
	}
}

func TestBenchOfRequests(t *testing.T) {
	line := func(s shape.Shape, records int) string {
		var out bytes.Buffer
		b := record.BlockRun{Batches: []record.Batch{{Batched: driver.Batched{CPUNs: 4000, WallNs: 5000, Requests: 10, Records: records}}}}
		benchLine(&out, record.Family{Name: "f", Shape: s}, record.FamilyCell{Version: 18}, b)
		return out.String()
	}
	polls := line(shape.Shape{Answer: shape.AnswerEmpty}, 0)
	if !strings.Contains(polls, "cpu-ns/request") || strings.Contains(polls, "cpu-ns/record") {
		t.Errorf("%q", polls)
	}
	if got := line(shape.Shape{}, 20); !strings.Contains(got, "200.00 cpu-ns/record") {
		t.Errorf("%q", got)
	}
	if got := line(shape.Shape{}, 0); got != "" {
		t.Errorf("no records where some belong: %q", got)
	}
}

func TestLeftOutVersionsAreNamed(t *testing.T) {
	said := remarks(verdict.Family{}, record.FamilyRun{Family: record.Family{LeftOut: "below v10 no response may carry zstd"}})
	if len(said) != 1 || !strings.Contains(said[0].Text, "not all versions: below v10") {
		t.Errorf("%+v", said)
	}
	if said := remarks(verdict.Family{}, record.FamilyRun{}); len(said) != 0 {
		t.Errorf("%+v", said)
	}
}
