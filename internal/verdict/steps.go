package verdict

import (
	"math"

	"protocolbench/internal/record"
	"protocolbench/internal/stats"
	"protocolbench/pin"
	"protocolbench/seed"
)

// steps finds the places in the row of versions at which the cost changes, and names each by what its version changed in the schema. The bootstraps
// that they have to bear are drawn from the run's seed and the family's name, so that a record is always judged the same.
//
// Steps explain and decide nothing, so a family that is unresolvable has them, too: each one stands or falls by its own forks.
func (j *judgement) steps(runSeed uint64) []Step {
	steps := []Step{}
	if len(j.nothing) > 0 {
		return steps
	}
	found := stats.Steps(j.levelRows(), seed.Stream(runSeed, "steps/"+j.Name))
	if len(found) == 0 {
		return steps
	}
	newest := found[len(found)-1].After
	for _, s := range found {
		before := j.referenceNsPerRequest() / 1e3 * math.Exp(s.Before-newest)
		step := Step{At: j.versions[s.At].Version, Difference: asRatio(s.Estimate), Low: asRatio(s.Low), High: asRatio(s.High)}
		step.UsPerRequest = before * step.Difference
		step.Material = math.Abs(step.UsPerRequest) >= materialUs && math.Abs(step.Difference) >= materialPart
		step.Change, _ = pin.Change(j.API, step.At)
		steps = append(steps, step)
	}
	return steps
}

// levelRows has each fork's levels of the versions, oldest first; the reference's is the mean of its clients.
func (j *judgement) levelRows() []stats.LevelRow {
	rows := make([]stats.LevelRow, 0, len(j.forks))
	for _, f := range j.forks {
		if f.levels == nil || f.look >= record.SecondLook { // a second look has only some of the row
			continue
		}
		row := stats.LevelRow{Draw: f.draw, Fork: f.fork}
		for i, c := range j.versions {
			clients := []int{c.Cell}
			if i == j.newest {
				clients = j.reference
			}
			var sum float64
			for _, cell := range clients {
				sum += f.levels[cell]
			}
			row.Levels = append(row.Levels, sum/float64(len(clients)))
		}
		rows = append(rows, row)
	}
	return rows
}
