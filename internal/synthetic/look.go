package synthetic

import (
	"slices"

	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
	"protocolbench/seed"
)

// LookAgain adds a second look at some versions of a family, laid out as a run lays it out. The left plateau is what the newest version is compared with.
func (w World) LookAgain(f *record.FamilyRun, versions, leftPlateau []int) {
	budget, _ := schedule.BudgetOf(w.Profile)
	cells := f.CellsAgain(versions, leftPlateau)
	layout := schedule.Second(budget, f.Rounds, len(cells))
	f.Look = &record.Look{Kind: record.KindLook, Tier: f.Tier, Family: f.Name, Versions: versions, Blocks: layout.Draws * layout.Forks,
		Rounds: schedule.Rounds(len(cells), layout.Squares), Taken: true}
	for _, c := range cells {
		f.Look.Cells = append(f.Look.Cells, c.Cell)
	}
	r := seed.Stream(w.Seed, "second look/"+f.Name)
	for draw := layout.Draws; draw < 2*layout.Draws; draw++ {
		for fork := range layout.Forks {
			orders := schedule.Orders(w.Seed, f.Name, draw, fork, layout.Forks, len(cells), layout.Squares)
			for i := range orders {
				orders[i] = slices.Clone(orders[i])
				for k, index := range orders[i] {
					orders[i][k] = cells[index].Cell
				}
			}
			b := w.block(r, f.Family, cells, draw, fork, orders)
			b.Look = record.SecondLook
			f.BlockRuns = append(f.BlockRuns, b)
		}
	}
}
