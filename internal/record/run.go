package record

import "iter"

// Run is a whole record in memory, its rows put where they belong.
type Run struct {
	Header   Header
	Brokers  []Broker
	Plans    []Plan
	Scopes   []Scope // one a tier; none in records below schema 4
	Controls []Control
	Families []FamilyRun // in order of declaration
	Faults   []Fault     // all of them, also those of blocks
	Trailer  *Trailer    // nil: the run did not end by itself
	// Warnings of the reader: unknown kinds, a torn last line.
	Warnings []string
}

// FamilyRun is a family and its blocks, in order of measurement.
type FamilyRun struct {
	Family
	BlockRuns []BlockRun
	// Look says what was undecided after the first look; nil: nothing was, or there was no second one to take.
	Look     *Look
	Profiles []Profile // CPU profiles; nothing is judged by them
	// LookNumber is that of the look that this is the view of (Looks); 0: the whole family.
	LookNumber int
}

// BlockRun is everything measured in one block. A block that a fault ended has what came before.
type BlockRun struct {
	Block
	CellRows []Cell
	Batches  []Batch
	Steadies []Steady
	Open     *Evidence
	Close    *Evidence
	Host     *Host
	Rounds   []HostRound // by the parent; none in records of earlier builds
	Faults   []Fault
}

// Counted are the batches that figures are made of: all but those that prime a turn.
func (b BlockRun) Counted() iter.Seq[Batch] {
	return func(yield func(Batch) bool) {
		for _, batch := range b.Batches {
			if !batch.Primes && !yield(batch) {
				return
			}
		}
	}
}
