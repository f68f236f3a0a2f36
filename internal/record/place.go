package record

import (
	"fmt"
	"slices"
)

// place puts a row where it belongs in the run. A row of a block that was never opened, or of a cell that its family doesn't
// have, is an error: a judgement on it would be about something else.
func (r *reader) place(row any) error {
	if r.run.Trailer != nil {
		return fmt.Errorf("stands after the trailer, which is the last row")
	}
	switch row := row.(type) {
	case *Header:
		return r.placeHeader(row)
	case *Broker:
		r.run.Brokers = append(r.run.Brokers, *row)
	case *Plan:
		if err := row.checkVersions(); err != nil {
			return err
		}
		r.run.Plans = append(r.run.Plans, *row)
	case *Scope:
		return r.placeScope(row)
	case *Control:
		return r.placeControl(row)
	case *Family:
		return r.placeFamily(row)
	case *Block:
		return r.placeBlock(row)
	case *Look:
		return r.placeLook(row)
	case *Profile:
		return r.placeProfile(row)
	case *Fault:
		r.placeFault(row)
	case *Trailer:
		r.run.Trailer = row
	default:
		return r.placeInBlock(row)
	}
	return nil
}

// placeScope takes a tier's first scope, and the one that is made when its broker is known: that may leave more out, and nothing may vanish from it.
func (r *reader) placeScope(row *Scope) error {
	at := slices.IndexFunc(r.run.Scopes, func(s Scope) bool { return s.Tier == row.Tier })
	if at < 0 {
		r.run.Scopes = append(r.run.Scopes, *row)
		return nil
	}
	before := r.run.Scopes[at].Families
	if len(before) != len(row.Families) {
		return fmt.Errorf("field families: tier %d was to have %d families, and has %d here", row.Tier, len(before), len(row.Families))
	}
	for i, f := range row.Families {
		if f.Name != before[i].Name || f.Reason == "" && before[i].Reason != "" {
			return fmt.Errorf("field families: %s of tier %d is not what the scope before this one has there (%s, left out: %q)", f.Name, row.Tier, before[i].Name, before[i].Reason)
		}
	}
	r.run.Scopes[at] = *row
	return nil
}

func (r *reader) placeControl(row *Control) error {
	for _, e := range []*BrokerEvidence{row.Open, row.Close} {
		if err := e.checkCounters(); err != nil {
			return err
		}
	}
	r.run.Controls = append(r.run.Controls, *row)
	return nil
}

func (r *reader) placeHeader(row *Header) error {
	if r.families != nil {
		return fmt.Errorf("is the second one: two records in one file")
	}
	r.run.Header = *row
	r.families = map[string]int{}
	r.blocks = map[Where]int{}
	return nil
}

func (r *reader) placeFamily(row *Family) error {
	if _, twice := r.families[row.Name]; twice {
		return fmt.Errorf("field name: the family %q was declared before", row.Name)
	}
	if err := checkShape(row.Shape); err != nil {
		return err
	}
	r.families[row.Name] = len(r.run.Families)
	r.run.Families = append(r.run.Families, FamilyRun{Family: *row})
	return nil
}

func (r *reader) placeLook(row *Look) error {
	index, declared := r.families[row.Family]
	if !declared {
		return fmt.Errorf("field family: no row before this one declares the family %q", row.Family)
	}
	family := &r.run.Families[index]
	if family.Look != nil {
		return fmt.Errorf("field family: %q had its second look already", row.Family)
	}
	for _, cell := range row.Cells {
		if err := family.has(cell); err != nil {
			return err
		}
	}
	family.Look = row
	return nil
}

func (r *reader) placeBlock(row *Block) error {
	index, declared := r.families[row.Family]
	if !declared {
		return fmt.Errorf("field family: no row before this one declares the family %q", row.Family)
	}
	if _, twice := r.blocks[row.Where]; twice {
		return fmt.Errorf("fields draw and fork: draw %d, fork %d of %s was opened before", row.Draw, row.Fork, row.Family)
	}
	family := &r.run.Families[index]
	if second := row.Look >= SecondLook; second != (family.Look != nil && family.Look.Taken) {
		if second {
			return fmt.Errorf("field look: no row before this one says that a second look was taken at %s", row.Family)
		}
		return fmt.Errorf("field look: this block of %s comes after the row of its second look, and is not one of that look's", row.Family)
	}
	r.blocks[row.Where] = len(family.BlockRuns)
	family.BlockRuns = append(family.BlockRuns, BlockRun{Block: *row})
	return nil
}

// placeFault keeps every fault with the run, and with its block where that was opened: a worker may die before there is one.
func (r *reader) placeFault(row *Fault) {
	r.run.Faults = append(r.run.Faults, *row)
	if index, opened := r.blocks[row.Where]; opened {
		block := &r.run.Families[r.families[row.Family]].BlockRuns[index]
		block.Faults = append(block.Faults, *row)
	}
}

func (r *reader) placeInBlock(row any) error {
	where := whereOf(row)
	index, opened := r.blocks[where]
	if !opened {
		return fmt.Errorf("fields family, draw and fork: no row before this one opens draw %d, fork %d of %q", where.Draw, where.Fork, where.Family)
	}
	family := &r.run.Families[r.families[where.Family]]
	block := &family.BlockRuns[index]
	switch row := row.(type) {
	case *Cell:
		block.CellRows = append(block.CellRows, *row)
		return family.has(row.Cell)
	case *Batch:
		block.Batches = append(block.Batches, *row)
		return family.has(row.Cell)
	case *Steady:
		block.Steadies = append(block.Steadies, *row)
		return family.has(row.Cell)
	case *Evidence:
		return block.placeEvidence(row)
	case *Host:
		block.Host = row
	case *HostRound:
		block.Rounds = append(block.Rounds, *row)
	}
	return nil
}

func whereOf(row any) Where {
	switch row := row.(type) {
	case *Cell:
		return row.Where
	case *Batch:
		return row.Where
	case *Steady:
		return row.Where
	case *Evidence:
		return row.Where
	case *Host:
		return row.Where
	case *HostRound:
		return row.Where
	}
	panic(fmt.Sprintf("record: rowTypes has a %T that place doesn't know", row)) // a test places every kind
}

func (f *FamilyRun) has(cell int) error {
	if !slices.ContainsFunc(f.Cells, func(other FamilyCell) bool { return other.Cell == cell }) {
		return fmt.Errorf("field cell: the family %s has no cell %d", f.Name, cell)
	}
	return nil
}

func (b *BlockRun) placeEvidence(row *Evidence) error {
	var end **Evidence
	switch row.When {
	case WhenOpen:
		end = &b.Open
	case WhenClose:
		end = &b.Close
	default:
		return fmt.Errorf("field when: %q is neither %q nor %q", row.When, WhenOpen, WhenClose)
	}
	if *end != nil {
		return fmt.Errorf("field when: this block has its %q evidence already", row.When)
	}
	if err := row.Broker.checkCounters(); err != nil {
		return err
	}
	*end = row
	return nil
}
