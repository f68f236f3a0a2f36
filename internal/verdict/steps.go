package verdict

import (
	"fmt"
	"math"
	"slices"

	"protocolbench/internal/record"
	"protocolbench/internal/stats"
	"protocolbench/pin"
	"protocolbench/seed"
)

// steps finds the places in the row of versions at which the cost changes, and names each by what its version changed in the schema. The bootstraps
// that they have to bear are drawn from the run's seed and the family's name, so that a record is always judged the same.
//
// A family that is unresolvable has them, too: each one stands or falls by its own forks. There they decide nothing.
//
// A step up by the margin decides like a slower version (Dearer). What came with one version stays in those after it, the newest among them, so each of these is
// "not slower" than the newest; and the newest is compared with its own plateau. Versions would all have passed by that, with identifiers that are parsed slowly from v13 on.
// Of messages alone a step is the rule: a version that has more fields takes longer to code.
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
	lowest := found[0].Before
	for _, s := range found {
		lowest = min(lowest, s.Before)
		before := j.referenceNsPerRequest() / 1e3 * math.Exp(s.Before-newest)
		step := Step{At: j.versions[s.At].Version, Difference: asRatio(s.Estimate), Low: asRatio(s.Low), High: asRatio(s.High)}
		step.UsPerRequest = before * step.Difference
		step.Material = math.Abs(step.UsPerRequest) >= materialUs && math.Abs(step.Difference) >= materialPart
		step.Rise = math.Expm1(s.After - lowest)
		step.Dearer = step.Difference > 0 && step.Rise >= j.margin && isMaterial(step.Rise, j.referenceNsPerRequest()/1e3*math.Exp(lowest-newest)) && len(j.spoilt) == 0 && j.Message == ""
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

// dearer are the steps of a family that decide. A version that is called slower itself is not named once more.
func (f *Family) dearer() []Step {
	var list []Step
	for _, s := range f.Steps {
		named := slices.ContainsFunc(f.Cells, func(c Cell) bool { return c.Version == s.At && c.Verdict == Slower })
		if s.Dearer && !named {
			list = append(list, s)
		}
	}
	return list
}

// dearerWhy is a sentence about a step.
func dearerWhy(f Family, s Step) string {
	text := fmt.Sprintf("%s costs more %s than before", f.Name, f.Stretch(s))
	if f.Embedded {
		return text + " (embedded broker: no figure)"
	}
	return fmt.Sprintf("%s, by %s, margin %s", text, percent(s.Rise), percent(f.Margin))
}

// Stretch names the versions that a step is about: those up to the next one.
func (f Family) Stretch(s Step) string {
	last := -1
	for _, next := range f.Steps {
		if next.At > s.At {
			for _, c := range f.Cells {
				if c.Version < next.At {
					last = max(last, c.Version)
				}
			}
			break
		}
	}
	switch last {
	case -1:
		return fmt.Sprintf("from v%d on", s.At)
	case s.At:
		return fmt.Sprintf("at v%d", s.At)
	}
	return fmt.Sprintf("from v%d to v%d", s.At, last)
}
