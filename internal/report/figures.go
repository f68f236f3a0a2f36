package report

import (
	"fmt"
	"slices"
	"strconv"

	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

// table is rows under a head; a column is right-aligned unless it is said to be text.
type table struct {
	Head []column
	Rows [][]string
}

type column struct {
	Name string
	Text bool
}

// familyTable has one row per version. It fits 100 columns with the usual numbers: where there are pieces of responses to show, records per second give way, which
// say nothing that the time of a request does not say.
func familyTable(f verdict.Family, run record.FamilyRun) table {
	head := []column{{"version", true}, {"us/req", false}, {"ns/rec", false}, {"diff %", false}, {"interval %", false}, {"p50/p99 us", false}}
	allocs := "allocs"
	polls := f.Unit == verdict.UnitRequest
	if polls { // there are no records
		head, allocs = slices.Delete(head, 2, 3), "allocs/req"
	}
	pieces := trafficOf(f, run)
	if pieces == nil && !polls {
		pieces = []countedColumn{{column{"rec/s", false}, func(c verdict.Cell) string { return scaled(c.RecordsPerSecond) }}}
	}
	for _, p := range pieces {
		head = append(head, p.column)
	}
	t := table{Head: append(head, column{allocs, false}, column{"verdict", true})}
	perRequest, perRecord := 0.0, 0.0
	for _, c := range f.Cells {
		perRequest, perRecord = max(perRequest, c.CPUUsPerRequest), max(perRecord, c.CPUNsPerRecord)
	}
	for _, c := range f.Cells {
		row := []string{versionText(f, c), like(c.CPUUsPerRequest, perRequest)}
		if !polls {
			row = append(row, like(c.CPUNsPerRecord, perRecord))
		}
		row = append(row, signed(c.Difference), interval(c), short(c.P50Us)+"/"+short(c.P99Us))
		for _, p := range pieces {
			row = append(row, p.text(c))
		}
		t.Rows = append(t.Rows, append(row, allocations(c.AllocsPerRecord), wordOf(c)))
	}
	return t
}

// versionText marks the reference: its own difference is against the versions left of it.
func versionText(f verdict.Family, c verdict.Cell) string {
	if c.Version == f.Reference {
		return fmt.Sprintf("v%d ref", c.Version)
	}
	return fmt.Sprintf("v%d", c.Version)
}

func wordOf(c verdict.Cell) string {
	switch {
	case c.Differs:
		return c.Verdict + ", differs"
	case c.Faster:
		return wordFaster
	}
	return c.Verdict
}

func interval(c verdict.Cell) string {
	if c.Unbounded {
		return "none"
	}
	return fmt.Sprintf("[%s, %s]", signed(c.Low), signed(c.High))
}

// signed is a ratio in percent, without the sign of percent.
func signed(ratio float64) string { return fmt.Sprintf("%+.1f", 100*ratio) }

func percent(ratio float64) string { return strconv.FormatFloat(100*ratio, 'f', 1, 64) + " %" }

// floorText: no samples, no floor.
func floorText(floor float64) string {
	if floor >= verdict.Unbounded {
		return "none (too few samples)"
	}
	return percent(floor)
}

// figure has three or four digits that mean something, and never an exponent.
func figure(x float64) string { return like(x, x) }

// like writes x with as many decimals as the largest figure of its column gets, so that a column can be read downwards.
func like(x, largest float64) string {
	switch {
	case x < 0:
		return "unknown"
	case largest < 10:
		return strconv.FormatFloat(x, 'f', 2, 64)
	case largest < 1000:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

// short is for figures that only need to be roughly known.
func short(x float64) string {
	if x >= 100 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return figure(x)
}

func scaled(x float64) string {
	switch {
	case x >= 1e6:
		return strconv.FormatFloat(x/1e6, 'f', 2, 64) + " M"
	case x >= 1e3:
		return strconv.FormatFloat(x/1e3, 'f', 1, 64) + " k"
	}
	return figure(x)
}

// allocations per record: far below one for most shapes.
func allocations(x float64) string {
	switch {
	case x == 0:
		return "0"
	case x < 0.001:
		return "<0.001"
	case x < 10:
		return strconv.FormatFloat(x, 'f', 3, 64)
	}
	return figure(x)
}
