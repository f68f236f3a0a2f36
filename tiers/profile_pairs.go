package tiers

import (
	"cmp"
	"fmt"
	"slices"

	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

// askedPairs are those of --profile-cpu: against the reference, which a version that is the reference itself has before it. Of two builds a version is compared with itself.
func (s *session) askedPairs(v verdict.Verdict, families []*familyState) []pair {
	var pairs []pair
	for _, asked := range s.Profiled {
		for _, f := range families {
			if !matches(asked.Family, f.name()) {
				continue
			}
			version, why := asked.Version, "asked for"
			if version == Dearest {
				version, why = dearest(v, f), "asked for: the dearest version"
			}
			p, ok := s.pairOf(f, version, f.row.Reference, why, 0)
			if !ok {
				p.of.Version, p.missing = version, fmt.Sprintf("v%d is no version of this family, or there is none to compare it with", version)
			}
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// dearest is the version of a family, but for the reference, that costs most.
func dearest(v verdict.Verdict, f *familyState) int {
	best, cost := Dearest, -1.0
	for _, judged := range v.Families {
		for _, c := range judged.Cells {
			if judged.Name == f.name() && c.Version != judged.Reference && c.CPUUsPerRequest > cost {
				best, cost = c.Version, c.CPUUsPerRequest
			}
		}
	}
	return best
}

// calledPairs are the versions of deciding families that were called slower, or since which the newest is dearer, the largest differences first and one of a family: its other versions have
// mostly the same cause.
func (s *session) calledPairs(v verdict.Verdict, families []*familyState) []pair {
	var pairs []pair
	for _, judged := range v.Families {
		i := slices.IndexFunc(families, func(f *familyState) bool { return f.name() == judged.Name })
		if i < 0 || !judged.Deciding {
			continue
		}
		f := families[i]
		var called []pair
		for _, c := range judged.Cells {
			if c.Verdict != verdict.Slower {
				continue
			}
			if p, ok := s.pairOf(f, c.Version, judged.Reference, fmt.Sprintf("v%d was called slower", c.Version), c.Difference); ok {
				called = append(called, p)
			}
		}
		if d := judged.Dearer; d != nil {
			if p, ok := s.pairOf(f, d.From, d.Than, fmt.Sprintf("v%d was called dearer than v%d", judged.Reference, d.Than), d.Difference); ok {
				called = append(called, p)
			}
		}
		if len(called) > 0 {
			pairs = append(pairs, slices.MaxFunc(called, func(a, b pair) int { return cmp.Compare(a.size, b.size) }))
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.size, a.size) })
	return pairs
}

// pairOf finds the cells of a version and of what it is compared with: another version of its build, or the same version of the baseline.
func (s *session) pairOf(f *familyState, version, against int, why string, size float64) (pair, bool) {
	build := ""
	switch {
	case s.Baseline != nil:
		against, build = version, record.BuildBaseline
	case against == version:
		against = leftOf(f, version)
	}
	of, ok1 := cellOf(f, version, "")
	other, ok2 := cellOf(f, against, build)
	return pair{family: f, of: of, against: other, why: why, size: size}, ok1 && ok2
}

func cellOf(f *familyState, version int, build string) (record.FamilyCell, bool) {
	for _, c := range f.row.Cells {
		if c.Role == record.RoleVersion && c.Version == version && c.Build == build {
			return c, true
		}
	}
	return record.FamilyCell{}, false
}

// leftOf is the version before one in a family's row.
func leftOf(f *familyState, version int) int {
	left := Dearest
	for _, c := range f.row.Cells {
		if c.Role == record.RoleVersion && c.Version < version {
			left = max(left, c.Version)
		}
	}
	return left
}
