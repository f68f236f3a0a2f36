package report

import (
	"slices"

	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

// countedColumn is a column of the table whose figures are counts.
type countedColumn struct {
	column
	text func(verdict.Cell) string
}

// trafficOf has the columns that say in how many pieces a response came: nil where that was not counted, and for anything but Fetch from a broker. What
// answers a Produce is one small piece, and codecs have no wire.
func trafficOf(f verdict.Family, run record.FamilyRun) []countedColumn {
	if f.Tier != 1 || f.API != "Fetch" {
		return nil
	}
	var columns []countedColumn
	if slices.ContainsFunc(f.Cells, func(c verdict.Cell) bool { return c.SegmentsInPerRequest > 0 }) {
		columns = append(columns, countedColumn{column{"segs", false}, func(c verdict.Cell) string { return figure(c.SegmentsInPerRequest) }})
	}
	reads := func(c verdict.Cell) float64 { return readsPerResponse(run, c.Version) }
	if slices.ContainsFunc(f.Cells, func(c verdict.Cell) bool { return reads(c) > 0 }) {
		columns = append(columns, countedColumn{column{"reads", false}, func(c verdict.Cell) string { return figure(reads(c)) }})
	}
	return columns
}

// readsPerResponse is how many read calls a version's clients made per request of the API between the ends of the brackets, over all blocks; -1 where nobody counted.
// The reference's is that of all its clients, as its other figures are.
func readsPerResponse(run record.FamilyRun, version int) float64 {
	var reads, requests int64
	for _, b := range run.BlockRuns {
		if b.Open == nil || b.Close == nil {
			continue
		}
		for _, c := range run.Cells {
			if c.Version != version || c.Build != "" || c.Role != record.RoleVersion && c.Role != record.RoleTwin {
				continue
			}
			before, requestsBefore := readsAt(b.Open, c.Cell, run.Key)
			after, requestsAfter := readsAt(b.Close, c.Cell, run.Key)
			if after > before && requestsAfter > requestsBefore {
				reads, requests = reads+after-before, requests+requestsAfter-requestsBefore
			}
		}
	}
	if requests == 0 {
		return -1
	}
	return float64(reads) / float64(requests)
}

// readsAt are a client's read calls and requests of the API so far.
func readsAt(e *record.Evidence, cell int, key int16) (reads, requests int64) {
	for _, c := range e.Worker.Cells {
		if c.Cell != cell {
			continue
		}
		for _, f := range c.Frames {
			if f.Key == key {
				requests += f.Count
			}
		}
		return c.Reads, requests
	}
	return 0, 0
}

// showsTraffic tells whether some table has columns that need to be explained.
func (d *document) showsTraffic() bool {
	for _, tier := range d.Tiers {
		for _, f := range tier.Families {
			if slices.ContainsFunc(f.Table.Head, func(c column) bool { return c.Name == "segs" || c.Name == "reads" }) {
				return true
			}
		}
	}
	return false
}
