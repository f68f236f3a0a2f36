package guards

import (
	"fmt"
	"slices"

	"protocolbench/internal/driver"
	"protocolbench/internal/measure"
	"protocolbench/internal/record"
)

// Providers of brokers, as the record names them. Package broker has the same words, and judging must not need it.
const (
	attachedBroker = "attached"
	embeddedBroker = "embedded"
)

const (
	produceAPI = "Produce"
	fetchAPI   = "Fetch"
)

// whyOpen is said of blocks that have no closing evidence.
const whyOpen = "the block has no closing evidence, so what happened in it cannot be told; completeness says why it ended early"

// brokerOf gives the broker of a tier.
func brokerOf(run *record.Run, tier int) (record.Broker, bool) {
	for _, b := range run.Brokers {
		if b.Tier == tier {
			return b, true
		}
	}
	return record.Broker{}, false
}

func controlOf(run *record.Run, tier int, name string) (record.Control, bool) {
	for _, c := range run.Controls {
		if c.Tier == tier && c.Control == name {
			return c, true
		}
	}
	return record.Control{}, false
}

func hasAbility(run *record.Run, ability string) bool {
	return slices.Contains(run.Header.Client.Abilities, ability)
}

// versionsOf are the versions of a family's cells, ascending, each once.
func versionsOf(f record.Family) []int {
	var versions []int
	for _, c := range f.Cells {
		versions = append(versions, c.Version)
	}
	slices.Sort(versions)
	return slices.Compact(versions)
}

// versionOf gives the version of a cell by its family's declaration.
func versionOf(f record.Family, cell int) int {
	for _, c := range f.Cells {
		if c.Cell == cell {
			return c.Version
		}
	}
	return AllVersions // the reader lets no such row in
}

// bracketed tells whether a block has evidence at both ends.
func bracketed(b record.BlockRun) bool { return b.Open != nil && b.Close != nil }

// brokerBracketed tells whether it has the broker's part, too.
func brokerBracketed(b record.BlockRun) bool {
	return bracketed(b) && b.Open.Broker != nil && b.Close.Broker != nil
}

// movement is how far a counter moved within a bracket, or why that cannot be told.
type movement struct {
	by    int64
	blind string
}

// moved compares a counter's two readings. absentIsZero has to be earned: only where the agent's listing was read, or a control has
// shown that the counter appears when it should, does a counter that is not there stand for zero.
func moved(open, close measure.Counter, absentIsZero bool) movement {
	before, blind := number(open, absentIsZero)
	if blind != "" {
		return movement{blind: "before: " + blind}
	}
	after, blind := number(close, absentIsZero)
	if blind != "" {
		return movement{blind: "after: " + blind}
	}
	return movement{by: after - before}
}

func number(c measure.Counter, absentIsZero bool) (value int64, blind string) {
	switch {
	case c.State == measure.Number:
		return c.Value, ""
	case c.State == measure.Absent && absentIsZero:
		return 0, ""
	case c.Why != "":
		return 0, fmt.Sprintf("the counter is %s (%s)", c.State, c.Why)
	}
	return 0, fmt.Sprintf("the counter is %s", c.State)
}

// framesOf counts, by version, the frames of one API that a cell sent within the bracket; ok is false where the worker gave no counts of the cell.
func framesOf(b record.BlockRun, cell int, key int16) (sent map[int]int64, ok bool) {
	before, hadBefore := snapshotOf(b.Open, cell)
	after, hasAfter := snapshotOf(b.Close, cell)
	sent = map[int]int64{}
	addFrames(sent, after, key, 1)
	addFrames(sent, before, key, -1)
	for v, n := range sent {
		if n == 0 {
			delete(sent, v)
		}
	}
	return sent, hadBefore && hasAfter
}

// allFrames is the same over all connections of the block's workers.
func allFrames(b record.BlockRun, key int16) map[int]int64 {
	sent := map[int]int64{}
	for _, c := range b.Close.CellSnapshots() {
		addFrames(sent, c, key, 1)
	}
	for _, c := range b.Open.CellSnapshots() {
		addFrames(sent, c, key, -1)
	}
	return sent
}

func addFrames(sent map[int]int64, c driver.CellSnapshot, key int16, sign int64) {
	for _, f := range c.Frames {
		if f.Key == key {
			sent[int(f.Version)] += sign * f.Count
		}
	}
}

func snapshotOf(e *record.Evidence, cell int) (driver.CellSnapshot, bool) {
	for _, c := range e.CellSnapshots() {
		if c.Cell == cell {
			return c, true
		}
	}
	return driver.CellSnapshot{}, false
}

func sum(counts map[int]int64) int64 {
	var total int64
	for _, n := range counts {
		total += n
	}
	return total
}

// batchesOf are the counted batches of a cell in a block.
func batchesOf(b record.BlockRun, cell int) []record.Batch {
	var batches []record.Batch
	for _, batch := range b.Batches {
		if batch.Cell == cell {
			batches = append(batches, batch)
		}
	}
	return batches
}
