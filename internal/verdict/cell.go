package verdict

import (
	"fmt"
	"strings"

	"protocolbench/internal/record"
)

// cell fills one version's row and finds its word, in the order of METHOD.md section 3.
func (j *judgement) cell(i int, declared record.FamilyCell) Cell {
	c := j.contrasts[i]
	cell := Cell{Version: declared.Version, Contrast: c.name, P: c.p, Difference: asRatio(c.Estimate)}
	members := []int{declared.Cell}
	if i == j.newest {
		members = j.reference
	}
	fillMetrics(&cell, j.FamilyRun, members)
	cell.Low, cell.High, cell.Unbounded = bounds(c)
	cell.Verdict, cell.Why = j.word(c, cell)
	cell.Differs = cell.Verdict == NotSlower && cell.Low > 0
	return cell
}

func (j *judgement) word(c cellContrast, cell Cell) (word, why string) {
	if len(j.nothing) > 0 {
		return Unresolved, strings.Join(j.nothing, "; ")
	}
	upperLn, ok := c.Upper(level)
	if !ok {
		return Unresolved, fmt.Sprintf("%d rounds in %d forks carry no interval: it needs %s", c.Rounds, c.Forks, c.Need)
	}
	if len(j.spoilt) > 0 {
		return Unresolvable, strings.Join(j.spoilt, "; ")
	}
	if c.torn {
		return Unresolvable, fmt.Sprintf("draws disagree by %s", percent(asRatio(c.apart)))
	}
	reference := j.referenceNsPerRequest() / 1e3
	material := func(difference float64) bool {
		return difference*reference >= materialUs && difference >= materialPart
	}
	upper := asRatio(upperLn)
	significant := c.p < alpha && cell.Difference >= j.margin
	switch {
	case significant && material(cell.Difference):
		return Slower, fmt.Sprintf("%s [%s, %s] against the %s, margin %s", percent(cell.Difference), percent(cell.Low), percent(cell.High), c.name, percent(j.margin))
	case upper < j.margin:
		return NotSlower, ""
	case !material(upper):
		// More samples could not make it matter, so it is not unresolved either.
		return NotSlower, fmt.Sprintf("immaterial: at most %.2f us per request (%s)", upper*reference, percent(upper))
	default:
		return Unresolved, fmt.Sprintf("the upper bound of %s is not below the margin of %s", percent(upper), percent(j.margin))
	}
}
