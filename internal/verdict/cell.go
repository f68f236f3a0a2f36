package verdict

import (
	"fmt"
	"math"
	"slices"
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
	// Of the first look: it has all versions, side by side.
	fillMetrics(&cell, j.FamilyRun.Looks()[0], members)
	cell.Low, cell.High, cell.Unbounded = bounds(c)
	cell.Verdict, cell.Why, cell.MoreRounds = j.word(c, cell)
	cell.Differs = cell.Verdict == NotSlower && cell.Low > 0
	return cell
}

func (j *judgement) word(c cellContrast, cell Cell) (word, why string, moreRounds float64) {
	if len(c.by.nothing) > 0 {
		return Unresolved, strings.Join(c.by.nothing, "; "), 0
	}
	upperLn, ok := c.Upper(1 - c.alpha)
	if !ok {
		return Unresolved, fmt.Sprintf("%d rounds in %d forks carry no interval: it needs %s", c.Rounds, c.Forks, c.Need), 0
	}
	if len(c.by.spoilt) > 0 {
		return Unresolvable, strings.Join(c.by.spoilt, "; "), 0
	}
	if c.torn {
		return Unresolvable, fmt.Sprintf("draws disagree by %s", percent(asRatio(c.apart))), 0
	}
	reference := j.referenceNsPerRequest() / 1e3
	material := func(difference float64) bool {
		return difference*reference >= materialUs && difference >= materialPart
	}
	upper := asRatio(upperLn)
	significant := c.p < c.alpha && cell.Difference >= j.margin
	switch {
	case significant && material(cell.Difference):
		return Slower, fmt.Sprintf("%s [%s, %s] against the %s, margin %s", percent(cell.Difference), percent(cell.Low), percent(cell.High), c.name, percent(j.margin)), 0
	case upper < j.margin:
		return NotSlower, "", 0
	case !material(upper):
		// More samples could not make it matter, so it is not unresolved either.
		return NotSlower, fmt.Sprintf("immaterial: at most %.2f us per request (%s)", upper*reference, percent(upper)), 0
	}
	moreRounds = j.roundsToSettle(c, upperLn)
	word, why = Unresolved, fmt.Sprintf("the upper bound of %s is not below the margin of %s; about %.1f times the rounds would settle it, if it stays at %s",
		percent(upper), percent(j.margin), moreRounds, percent(cell.Difference))
	if c.by.coarse != "" {
		word, why = Unresolvable, c.by.coarse+"; "+why
	}
	if j.Look != nil && j.Look.Why != "" && !(j.Look.Taken && slices.Contains(j.Look.Versions, cell.Version)) {
		why += "; a second look was not taken: " + j.Look.Why
	}
	return word, why, moreRounds
}

// mostRounds is where "more" is no advice any more.
const mostRounds = 1000

// roundsToSettle is how many times the rounds would bring the bound below the margin, or, where the estimate is not below it, show that the version is slower.
// Errors fall with the root of the rounds.
func (j *judgement) roundsToSettle(c cellContrast, upperLn float64) float64 {
	marginLn := math.Log1p(j.margin)
	room := marginLn - c.Estimate
	if room <= 0 {
		room = c.Estimate
	}
	times := (upperLn - c.Estimate) / room
	return max(1.1, min(mostRounds, times*times))
}
