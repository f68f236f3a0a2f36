package record

import "slices"

// SecondLook is Block.Look of a block of a second look.
const SecondLook = 2

// Looks gives the family as each look saw it: the first with all cells, the second, where one was taken, with those that it measured. Each has its own
// blocks and its own plan, so what judges a family's blocks judges a look's.
func (f FamilyRun) Looks() []FamilyRun {
	first := f
	first.BlockRuns = f.blocksOf(func(look int) bool { return look < SecondLook })
	if f.Look == nil || !f.Look.Taken {
		return []FamilyRun{first}
	}
	second := f
	second.BlockRuns = f.blocksOf(func(look int) bool { return look >= SecondLook })
	second.Rounds, second.Blocks = f.Look.Rounds, f.Look.Blocks
	second.Cells = nil
	for _, c := range f.Cells {
		if slices.Contains(f.Look.Cells, c.Cell) {
			second.Cells = append(second.Cells, c)
		}
	}
	return []FamilyRun{first, second}
}

func (f FamilyRun) blocksOf(is func(look int) bool) []BlockRun {
	var blocks []BlockRun
	for _, b := range f.BlockRuns {
		if is(b.Look) {
			blocks = append(blocks, b)
		}
	}
	return blocks
}
