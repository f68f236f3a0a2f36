package record

import "slices"

// Numbers of looks. A block of the second has its number in Block.Look.
const (
	FirstLook  = 1
	SecondLook = 2
)

// Looks gives the family as each look saw it: the first with all cells, the second, where one was taken, with those that it measured. Each has its own
// blocks and its own plan, so what judges a family's blocks judges a look's.
func (f FamilyRun) Looks() []FamilyRun {
	first := f
	first.LookNumber = FirstLook
	first.BlockRuns = f.blocksOf(func(look int) bool { return look < SecondLook })
	if f.Look == nil || !f.Look.Taken {
		return []FamilyRun{first}
	}
	second := f
	second.BlockRuns = f.blocksOf(func(look int) bool { return look >= SecondLook })
	second.LookNumber = SecondLook
	second.Rounds, second.Blocks = f.Look.Rounds, f.Look.Blocks
	second.Cells = nil
	for _, c := range f.Cells {
		if slices.Contains(f.Look.Cells, c.Cell) {
			second.Cells = append(second.Cells, c)
		}
	}
	return []FamilyRun{first, second}
}

// CellsAgain are the cells of a second look at some versions: those of the versions, the reference's clients and the canary. The newest version is compared with its left
// plateau, so where it is among them, all of that is measured, too.
func (f Family) CellsAgain(versions, leftPlateau []int) []FamilyCell {
	wanted := slices.Clone(versions)
	if slices.Contains(versions, f.Reference) {
		wanted = append(wanted, leftPlateau...)
	}
	var cells []FamilyCell
	for _, c := range f.Cells {
		if c.Version == f.Reference || slices.Contains(wanted, c.Version) {
			cells = append(cells, c)
		}
	}
	return cells
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
