package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
)

// usesOfAPIs gives the example's tier 1 family clients that used more than the API under test, v11's another Metadata than the rest.
func usesOfAPIs(run *record.Run) record.FamilyRun {
	f := &run.Families[0]
	f.Cells, f.BlockRuns, f.Look = f.Cells[:0:0], f.BlockRuns[:2], nil
	for cell, version := range []int{11, 18, 18, 18} {
		f.Cells = append(f.Cells, record.FamilyCell{Cell: cell, Version: version, Role: record.RoleVersion})
	}
	for i := range f.BlockRuns {
		b := &f.BlockRuns[i]
		b.Open, b.Close = &record.Evidence{Where: b.Where, When: record.WhenOpen}, &record.Evidence{Where: b.Where, When: record.WhenClose}
		for _, c := range f.Cells {
			metadata := int16(12)
			if c.Version == 11 {
				metadata = 9
			}
			for e, n := range map[*record.Evidence]int64{b.Open: 7, b.Close: 237} {
				e.Worker.Cells = append(e.Worker.Cells, driver.CellSnapshot{Cell: c.Cell, Frames: []driver.Frames{{Key: 1, Version: int16(c.Version), Count: n + int64(c.Cell)}, {Key: 3, Version: metadata, Count: 2}}})
			}
		}
		b.Close.Worker.Cells[1].Frames = append(b.Close.Worker.Cells[1].Frames, driver.Frames{Key: 1, Version: 4, Count: 1})
		for e, n := range map[*record.Evidence]int64{b.Open: 3, b.Close: 5} {
			e.Worker.Cells = append(e.Worker.Cells, driver.CellSnapshot{Cell: -1, Frames: []driver.Frames{{Key: 2, Version: 8, Count: n}}})
		}
	}
	return *f
}

func TestTableOfAPIs(t *testing.T) {
	var rows []string
	for _, row := range apisTable(usesOfAPIs(exampleRun())).Rows {
		rows = append(rows, strings.Join(row, " | "))
	}
	want := []string{
		"Fetch v4 | v18 | 0 | 2", // not as pinned, so it stands by itself
		"Fetch, as pinned | v11, v18 | 14 to 20 | 460",
		"Metadata v9 | v11 | 4 | 0",
		"Metadata v12 | v18 | 4 | 0",
		"ListOffsets v8 | none: the worker itself | 6 | 4",
	}
	if fmt.Sprintf("%q", rows) != fmt.Sprintf("%q", want) {
		t.Errorf("rows\n%q\nwant\n%q", rows, want)
	}
	if empty := apisTable(record.FamilyRun{BlockRuns: make([]record.BlockRun, 2)}); len(empty.Rows) > 0 {
		t.Errorf("without evidence there is %v", empty.Rows)
	}
}

// Markdown and HTML have the table folded; a terminal can't fold, so it has none.
func TestTableOfAPIsIsFolded(t *testing.T) {
	run := exampleRun()
	usesOfAPIs(run)
	var text, markdown, html bytes.Buffer
	v := exampleVerdict()
	if err := Text(&text, v, run); err != nil {
		t.Fatal(err)
	}
	if err := Markdown(&markdown, v, run); err != nil {
		t.Fatal(err)
	}
	if err := HTML(&html, v, run); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(markdown.String(), "<details><summary>Every API that the clients used</summary>\n\n| API | clients of |") || !strings.Contains(markdown.String(), "| Metadata v9 | v11 | 4 | 0 |\n") {
		t.Error("Markdown has no such table")
	}
	if !strings.Contains(html.String(), `<details><summary class="small">Every API that the clients used</summary>`) || !strings.Contains(html.String(), `<td class="text">Metadata v9</td>`) {
		t.Error("HTML has no such table")
	}
	if strings.Contains(text.String(), "Every API") {
		t.Error("the terminal is filled with it")
	}
}

// What another broker answered in is in no figure, also not in those that are made from the record directly.
func TestVoidBlocksAreInNoFigure(t *testing.T) {
	run := exampleRun()
	f := &run.Families[0]
	f.Look, f.BlockRuns = nil, f.BlockRuns[:2]
	run.Brokers = []record.Broker{{Tier: 1, Provider: "attached", Release: "4.4.0", StartTimeMs: 1000}}
	lines := func(startTimeMs int64) int {
		f.BlockRuns[1].Close = &record.Evidence{When: record.WhenClose, Broker: &record.BrokerEvidence{StartTimeMs: startTimeMs}}
		var out bytes.Buffer
		if err := Bench(&out, exampleVerdict(), run); err != nil {
			t.Fatal(err)
		}
		return strings.Count(out.String(), "/v=18\t")
	}
	if same, restarted := lines(1000), lines(1001); same != 2 || restarted != 1 {
		t.Errorf("bench.txt has v18 %d times, and after a restart %d times; want 2 and 1", same, restarted)
	}
	if blocks := len(familyRun(run, f.Name).BlockRuns); blocks != 1 {
		t.Errorf("%d blocks are shown, want 1", blocks)
	}
}
