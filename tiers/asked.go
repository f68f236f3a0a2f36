package tiers

import (
	"fmt"
	"slices"
)

// Narrowed is c with the tiers that its --only reaches, where several are asked for: who names a family of one tier asks for that tier, and no broker of another is
// started for it. `--tier all` says no more than no --tier at all. A single tier stays, whatever --only says: one that has none of its families is a fault of the
// request (unreached), not a tier that nobody meant. Nothing reached at all is a fault, too, and is left to Validate.
//
// Rejected: to forgive a tier of the header that measured nothing. Then one that was asked for and whose families got lost would be forgiven with it.
func (c Config) Narrowed() Config {
	if len(c.Only) == 0 || len(c.Tiers) < 2 {
		return c
	}
	var reached []int
	for _, f := range c.chosen(false) {
		if !slices.Contains(reached, f.tier) {
			reached = append(reached, f.tier)
		}
	}
	if reached != nil {
		slices.Sort(reached)
		c.Tiers = reached
	}
	return c
}

// unreached says of a pattern that it names families and that none of them would run; "" where some would. One that names nothing there would be left out in silence.
func (c Config) unreached(pattern string) string {
	var others []int
	here := false
	for _, f := range everything() {
		switch {
		case !matches(pattern, f.name()):
		case c.has(f.tier):
			here = true
		case !slices.Contains(others, f.tier):
			others = append(others, f.tier)
		}
	}
	slices.Sort(others)
	switch {
	case !here:
		return fmt.Sprintf("--only %q names no family of %s, which --tier asks for, but of %s: leave --tier out, and --only asks for the tier that it names",
			pattern, tiersText(c.Tiers), tiersText(others))
	case !slices.ContainsFunc(c.chosen(false), func(f family) bool { return matches(pattern, f.name()) }):
		return fmt.Sprintf("--only %q leaves nothing to run: what it names compresses, two builds bring compressors of their own, and --baseline leaves such families out; run each build by itself", pattern)
	}
	return ""
}

func tiersText(tiers []int) string {
	text := "tier"
	for i, t := range tiers {
		switch {
		case i == 0:
			text += fmt.Sprintf(" %d", t)
		case i == len(tiers)-1:
			text += fmt.Sprintf(" and %d", t)
		default:
			text += fmt.Sprintf(", %d", t)
		}
	}
	return text
}
