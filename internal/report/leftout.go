package report

import (
	"fmt"
	"strings"

	"protocolbench/internal/verdict"
)

// namedFamilies is how many families a line names before it counts.
const namedFamilies = 3

// leftOutFacts has a line for everything that was not compared, by reason: versions together that share one.
func leftOutFacts(v verdict.Verdict) []fact {
	var facts []fact
	for _, g := range verdict.Group(v.LeftOut) {
		facts = append(facts, fact{"left out", groupText(g)})
	}
	return facts
}

func groupText(g verdict.Grouped) string {
	what := fmt.Sprintf("tier %d, %s", g.Tier, g.API)
	if len(g.Versions) > 0 {
		what += " " + verdict.Versions(g.Versions)
	}
	switch n := len(g.Families); {
	case n > namedFamilies:
		what += fmt.Sprintf(" of %s and %d more families", strings.Join(g.Families[:namedFamilies], ", "), n-namedFamilies)
	case n > 0:
		what += " of " + strings.Join(g.Families, ", ")
	}
	return what + ": " + g.Why
}

// accounted holds what was judged against what was planned.
func accounted(a verdict.Accounting) string {
	c := a.Cells
	text := fmt.Sprintf("%d versions of families were planned: %d judged, %d left out for the reasons above", c.Planned, c.Judged, c.LeftOut)
	if c.Failed > 0 {
		text += fmt.Sprintf(", %d at which the client failed when it was tried", c.Failed)
	}
	if c.Missing > 0 {
		text += fmt.Sprintf(", %d MISSING", c.Missing)
	}
	text += fmt.Sprintf("; %d of %d blocks, %d of %d rounds", a.Blocks.Judged, a.Blocks.Planned, a.Rounds.Judged, a.Rounds.Planned)
	if a.Rounds.Busy > 0 {
		text += fmt.Sprintf(" (%d left out as busy)", a.Rounds.Busy)
	}
	return text + fmt.Sprintf("; %d of %d guards answered", a.Guards.Answered, a.Guards.Due)
}
