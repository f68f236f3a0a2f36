package verdict

import (
	"fmt"
	"strings"
)

// cell fills one version's row and finds its word, in the order that a judge of one run has.
func (c *curves) cell(i int) ComparedCell {
	change := c.changes[i]
	cell := ComparedCell{Version: c.versions[i], Against: c.against[i], P: change.p, Difference: asRatio(change.Estimate),
		CurveA: asRatio(c.a.contrasts[i].Estimate), CurveB: asRatio(c.b.contrasts[i].Estimate)}
	cell.Low, cell.High, cell.Unbounded = bounds(change)
	cell.Verdict, cell.Why = c.word(i, cell)
	cell.Differs = cell.Verdict == NotSlower && cell.Low > 0
	cell.Faster = cell.Verdict == NotSlower && cell.High < 0
	return cell
}

func (c *curves) word(i int, cell ComparedCell) (word, why string) {
	change := c.changes[i]
	if len(c.nothing) > 0 {
		return Unresolved, strings.Join(c.nothing, "; ")
	}
	upperLn, ok := change.Upper(level)
	if !ok {
		return Unresolved, "the rounds carry no interval: it needs " + change.Need
	}
	if len(c.spoilt) > 0 {
		return Unresolvable, strings.Join(c.spoilt, "; ")
	}
	for _, side := range []*curve{&c.a, &c.b} {
		if own := side.contrasts[i]; own.torn {
			return Unresolvable, fmt.Sprintf("in %s draws disagree by %s", side.label, percent(asRatio(own.apart)))
		}
	}
	us := c.referenceUs()
	material := func(difference float64) bool { return difference*us >= materialUs && difference >= materialPart }
	upper := asRatio(upperLn)
	switch {
	case change.p < alpha && cell.Difference >= c.margin && material(cell.Difference):
		return Slower, fmt.Sprintf("%s [%s, %s] against %s since A, margin %s%s", percent(cell.Difference), percent(cell.Low), percent(cell.High), c.othersText(i), percent(c.margin), c.reservation(i))
	case upper < c.margin:
		return NotSlower, ""
	case !material(upper):
		return NotSlower, fmt.Sprintf("immaterial: at most %.2f us per request (%s)", upper*us, percent(upper))
	default:
		return Unresolved, fmt.Sprintf("the upper bound of %s is not below the margin of %s", percent(upper), percent(c.margin))
	}
}

// referenceUs is what a request costs. The dearer of the two runs counts, so that a drifting machine can't make a difference immaterial.
func (c *curves) referenceUs() float64 {
	ns := 0.0
	for _, side := range []*curve{&c.a, &c.b} {
		reference := judgement{FamilyRun: side.FamilyRun, layout: layout{reference: side.clientsOf(c.reference)}}
		ns = max(ns, reference.referenceNsPerRequest())
	}
	return ns / 1e3
}

func (c *curves) othersText(i int) string {
	against := c.against[i]
	if len(against) == 1 {
		return fmt.Sprintf("v%d", against[0])
	}
	return fmt.Sprintf("v%d to v%d", against[0], against[len(against)-1])
}

// reservation: where the reference moved together with others, nothing but a shared round could say which of two groups it was that moved.
func (c *curves) reservation(i int) string {
	if c.versions[i] != c.reference || len(c.against[i]) == len(c.versions)-1 && len(c.versions) > 2 {
		return ""
	}
	return "; or else those became faster: --baseline can tell"
}
