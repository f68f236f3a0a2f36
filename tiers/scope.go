package tiers

import (
	"fmt"
	"slices"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
	"protocolbench/pin"
)

// families are those of the profile, or of --only, as the run is to measure them.
func (c Config) families() []family {
	var list []family
	reaching := c.reaching()
	for _, f := range everything() {
		if !c.has(f.tier) || !c.wants(f, reaching) {
			continue
		}
		f.changesOnly = f.tier == 0 && !f.core && f.message == nil && (c.Profile != schedule.Quick || f.profile != schedule.Quick) && c.asked(f.api) == pin.None
		if c.Profile == schedule.Quick {
			f.margin = quickMargin
			f.deciding = f.deciding && !f.onlyShown
			if f.tier > 0 {
				f.batchTarget = f.batchTarget * 7 / 10 // two minutes are two minutes also on a busy machine
			}
		}
		if c.Margin > 0 {
			f.margin = c.Margin
		}
		list = append(list, f)
	}
	return list
}

// chosen are the families that nothing about this program leaves out; what is left out is in the scope.
func (c Config) chosen(embedded bool) []family {
	var chosen []family
	for _, f := range c.families() {
		if reason, _ := c.leftOut(f, embedded, chosen); reason == "" {
			chosen = append(chosen, f)
		}
	}
	return chosen
}

// leftOut says why a family is not measured that was asked for; an empty reason: it is. before are those that are measured of the families before it.
func (c Config) leftOut(f family, embedded bool, before []family) (reason, why string) {
	switch {
	case c.Baseline != nil && f.shape.Compressed():
		return record.LeftOtherCodecs, "builds bring compressors of their own, so what is compressed differs, and lengths can't be compared"
	case embedded && f.tier > 0 && slices.ContainsFunc(before, func(g family) bool { return g.tier == f.tier }):
		return record.LeftEmbedded, "with an embedded broker the live tiers have one small family each: the flow can be seen, and no figure is taken for a broker's"
	}
	return "", ""
}

// cannot says why no build's worker, or one of them, can measure a family.
func (s *session) cannot(f family) (reason, why string) {
	for _, of := range s.sides {
		switch {
		case of.able(f):
		case f.message != nil:
			return record.LeftAbility, fmt.Sprintf("the worker of %s %s lacks the ability %q, or this API", of.hello.Client, of.hello.Version, driver.AbilityMessages)
		default:
			return record.LeftAbility, fmt.Sprintf("the worker of %s %s lacks the ability %q", of.hello.Client, of.hello.Version, f.mode)
		}
	}
	return "", ""
}

// nothingPinned says why none of a family's versions can be measured, by the plan of its API.
func nothingPinned(f family, plan record.Plan) (reason, why string) {
	switch {
	case f.tier == 2 || len(plan.Pinned) > 0 && plan.Pinned[len(plan.Pinned)-1] >= f.least:
		return "", ""
	case len(plan.Pinned) > 0:
		return record.LeftShape, fmt.Sprintf("the newest version that is compared is v%d: %s", plan.Pinned[len(plan.Pinned)-1], f.whyLeast)
	}
	return record.LeftNothingHeld, fmt.Sprintf("no version of %s could be pinned: see what came of each in the plan", plan.API)
}

// scope says of each family that was asked for at a tier whether it is to be measured. Without plans: as far as is known without them.
func (s *session) scope(tier int, plans map[string]record.Plan) record.Scope {
	row := record.Scope{Tier: tier, Families: []record.ScopeFamily{}}
	var before []family
	for _, f := range s.families() {
		if f.tier != tier {
			continue
		}
		entry := record.ScopeFamily{Name: f.name(), API: f.api.Name}
		entry.Reason, entry.Why = s.leftOut(f, s.embedded, before)
		if entry.Reason == "" {
			before = append(before, f)
			entry.Reason, entry.Why = s.cannot(f)
		}
		if plan, ok := plans[f.api.Name]; ok && entry.Reason == "" {
			entry.Reason, entry.Why = nothingPinned(f, plan)
		}
		row.Families = append(row.Families, entry)
	}
	return row
}

// measurable are the families that the scope leaves in.
func measurable(families []*familyState, scope record.Scope) []*familyState {
	return slices.DeleteFunc(families, func(f *familyState) bool {
		return slices.ContainsFunc(scope.Families, func(entry record.ScopeFamily) bool { return entry.Name == f.name() && entry.Reason != "" })
	})
}

// leftVersions lists the pinned versions that a family doesn't take, by reason.
func (f family) leftVersions(pinned []int) []record.LeftVersions {
	var tooOld, unchanged []int
	taken := f.some(pinned)
	for _, v := range pinned {
		switch {
		case slices.Contains(taken, v):
		case v < f.least:
			tooOld = append(tooOld, v)
		default:
			unchanged = append(unchanged, v)
		}
	}
	var left []record.LeftVersions
	if tooOld != nil {
		left = append(left, record.LeftVersions{Versions: tooOld, Reason: record.LeftShape, Why: f.whyLeast})
	}
	if unchanged != nil {
		left = append(left, record.LeftVersions{Versions: unchanged, Reason: record.LeftUnchanged, Why: whyUnchanged})
	}
	return left
}
