package guards

import (
	"fmt"

	"protocolbench/internal/record"
)

// Beside the heap a client may keep connections, goroutines and open files. A block's brackets count them: what grows with the requests between is kept. A client may
// reconnect or start something once, so a few are allowed, and one per hundred requests.
const (
	fewConnections = 2  // of one client in a block
	fewGoroutines  = 16 // of the process in a block; a connection of a client has two
	fewFiles       = 8
	perHundred     = 0.01
)

const processAdvice = "it starts what it doesn't end; take a goroutine profile of a long run"

// growth is of one count over one block.
type growth struct {
	what         string
	first, last  int
	requests     int
	where        record.Where
	few          int
	missing, bad bool
}

func grown(what string, few, first, last, requests int, where record.Where) growth {
	return growth{what: what, few: few, first: first, last: last, requests: requests, where: where, missing: first == 0 || last == 0,
		bad: float64(last-first) > max(float64(few), perHundred*float64(requests))}
}

func (g growth) words() string {
	return fmt.Sprintf("from %d to %d %s over %d requests", g.first, g.last, g.what, g.requests)
}

func (g growth) shown() map[string]any {
	return map[string]any{"draw": g.where.Draw, "fork": g.where.Fork, "of": g.what, "first": g.first, "last": g.last, "requests": g.requests}
}

func shownOf(counts []growth) (shown []map[string]any) {
	for _, g := range counts {
		shown = append(shown, g.shown())
	}
	return shown
}

// connectionsOf are the connections that each version's clients opened over each block.
func connectionsOf(f record.FamilyRun, version int) []growth {
	var all []growth
	for _, b := range f.BlockRuns {
		if b.Open == nil || b.Close == nil {
			continue
		}
		for _, c := range f.Cells {
			before, there := snapshotOf(b.Open, c.Cell)
			after, still := snapshotOf(b.Close, c.Cell)
			if c.Version == version && there && still {
				all = append(all, grown("connections opened", fewConnections, int(before.ConnectionsOpened), int(after.ConnectionsOpened), requestsIn(b, c.Cell), b.Where))
			}
		}
	}
	return all
}

// processOf are the goroutines and open files of each block's process.
func processOf(f record.FamilyRun) []growth {
	var all []growth
	for _, b := range f.BlockRuns {
		if b.Open == nil || b.Close == nil {
			continue
		}
		requests := requestsIn(b, AllVersions)
		first, last := b.Open.Worker, b.Close.Worker
		all = append(all, grown("goroutines", fewGoroutines, first.Goroutines, last.Goroutines, requests, b.Where))
		if first.OpenFiles > 0 || last.OpenFiles > 0 { // 0 where the platform doesn't say
			all = append(all, grown("open files", fewFiles, first.OpenFiles, last.OpenFiles, requests, b.Where))
		}
	}
	return all
}

// requestsIn counts a block's requests of one cell, or of all.
func requestsIn(b record.BlockRun, cell int) (requests int) {
	for _, batch := range b.Batches {
		if cell == AllVersions || batch.Cell == cell {
			requests += batch.Requests
		}
	}
	return requests
}

// judgeGrowth puts into a finding that passed what these counts say; it never makes a finding better.
func judgeGrowth(finding *Finding, counts []growth, advice string) {
	if finding.Outcome == Fail {
		return
	}
	missing := len(counts) == 0
	for _, g := range counts {
		if g.bad && !g.missing {
			finding.Outcome, finding.Evidence = Fail, g.shown()
			finding.Why = fmt.Sprintf("the client went %s within a block: %s", g.words(), advice)
			return
		}
		missing = missing || g.missing
	}
	if missing && finding.Outcome == Pass {
		finding.Outcome = Blind
		finding.Why = "connections, goroutines or open files were not counted at both ends of every block, so growth would not be seen: the worker's snapshot has to have them"
	}
}
