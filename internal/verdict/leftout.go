package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"protocolbench/internal/record"
)

// LeftOut is a version, or a family, that was not compared. Family is "" where it is so in the whole tier; Version is -1 where it is so of all versions.
type LeftOut struct {
	Tier    int    `json:"tier"`
	API     string `json:"api"`
	Version int    `json:"version"`
	Family  string `json:"family,omitempty"`
	Reason  string `json:"reason"` // FORMAT.md lists them
	Why     string `json:"why"`
	// Evidence is what shows that the reason holds.
	Evidence map[string]any `json:"evidence"`
}

// leftOutOf lists everything that was left out: by the plans, by the scopes, and by the families themselves.
func leftOutOf(run *record.Run) []LeftOut {
	list := []LeftOut{}
	for _, plan := range run.Plans {
		list = append(list, ofPlan(plan)...)
	}
	for _, scope := range run.Scopes {
		for _, f := range scope.Families {
			if f.Reason != "" && f.Reason != record.LeftNothingHeld { // a plan's failures are results, and its gaps are listed by version
				list = append(list, LeftOut{scope.Tier, f.API, allVersions, f.Name, f.Reason, f.Why, map[string]any{}})
			}
		}
	}
	for _, f := range run.Families {
		for _, left := range f.Left {
			for _, version := range left.Versions {
				list = append(list, LeftOut{f.Tier, f.API, version, f.Name, left.Reason, left.Why, map[string]any{}})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b LeftOut) int { return cmp.Compare(a.Tier, b.Tier) })
	return list
}

const allVersions = -1

// ofPlan lists the versions that a plan leaves out. In tier 2, which compares nothing, none is.
func ofPlan(plan record.Plan) []LeftOut {
	if plan.Tier == 2 {
		return nil
	}
	var list []LeftOut
	for _, a := range plan.Answers {
		if a.Pinned || a.Why == "" || a.Reason == "" && plan.Tries != nil {
			continue
		}
		evidence := map[string]any{"implemented": plan.Implemented}
		if plan.Advertised[1] >= 0 {
			evidence["advertised"] = plan.Advertised
		}
		if a.Took != "" {
			evidence["broker"] = a.Took
		}
		if plan.BaselineImplemented != nil {
			evidence["baselineImplemented"] = *plan.BaselineImplemented
		}
		list = append(list, LeftOut{plan.Tier, plan.API, a.Version, "", cmp.Or(a.Reason, "not recorded"), a.Why, evidence})
	}
	return list
}

// Grouped is what is left out of one API in one tier for one reason: a line of a report.
type Grouped struct {
	Tier     int
	API      string
	Versions []int // of all families; empty: families as a whole
	Families []string
	Why      string
}

// Group puts what is left out for one reason together, in the order of tiers.
func Group(list []LeftOut) []Grouped {
	var groups []Grouped
	for _, l := range list {
		// The words of a plan name the version; those of a scope may name the API.
		why := sameWords(l)
		i := slices.IndexFunc(groups, func(g Grouped) bool {
			return g.Tier == l.Tier && g.API == l.API && g.Why == why && (len(g.Families) > 0) == (l.Family != "") && (len(g.Versions) > 0) == (l.Version >= 0)
		})
		if i < 0 {
			i, groups = len(groups), append(groups, Grouped{Tier: l.Tier, API: l.API, Why: why})
		}
		g := &groups[i]
		if l.Version >= 0 && !slices.Contains(g.Versions, l.Version) {
			g.Versions = append(g.Versions, l.Version)
		}
		if l.Family != "" && !slices.Contains(g.Families, l.Family) {
			g.Families = append(g.Families, l.Family)
		}
	}
	for i := range groups {
		slices.Sort(groups[i].Versions)
	}
	return groups
}

// sameWords takes the version out of a reason that names it, so that neighbours have the same one.
func sameWords(l LeftOut) string {
	return strings.ReplaceAll(l.Why, fmt.Sprintf("%s v%d:", l.API, l.Version), "it:")
}
