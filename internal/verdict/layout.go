package verdict

import (
	"cmp"
	"math"
	"slices"

	"protocolbench/internal/record"
	"protocolbench/internal/stats"
)

// layout says which cells of a family play which part.
type layout struct {
	versions  []record.FamilyCell // one per version, oldest first, the reference's own cell among them
	reference []int               // the reference version's clients: its version cell and the twins
	canary    int                 // -1: none
	newest    int                 // index of the reference in versions, -1: not there
}

func layoutOf(family record.Family) layout { return layoutOfBuild(family, "") }

// layoutOfBuild has the cells of one build: "" is the client under test, the only one or the candidate.
func layoutOfBuild(family record.Family, build string) layout {
	l := layout{canary: -1, newest: -1}
	for _, c := range family.Cells {
		if c.Build != build {
			continue
		}
		switch c.Role {
		case record.RoleVersion:
			l.versions = append(l.versions, c)
			if c.Version == family.Reference {
				l.reference = append(l.reference, c.Cell)
			}
		case record.RoleTwin:
			l.reference = append(l.reference, c.Cell)
		case record.RoleCanary:
			l.canary = c.Cell
		}
	}
	slices.SortStableFunc(l.versions, func(a, b record.FamilyCell) int { return cmp.Compare(a.Version, b.Version) })
	l.newest = slices.IndexFunc(l.versions, func(c record.FamilyCell) bool { return c.Version == family.Reference })
	return l
}

// plateaus gives, for each half of the forks, the cells of the newest version's left plateau as the *other* half sees it: the
// versions left of the newest, from its neighbour on for as long as each lies within half the margin of the one to its
// right. Judged on the forks that also test it, a plateau would be chosen to look equal, or unequal.
//
// Halves are the even and the odd forks, so that each draw is in both. With one half empty the plateau is the left
// neighbour alone, which needs no judging. The samples are those of the first look, also for the forks of a second one: what is asked must not change with the answer. A
// second look therefore measures all of the plateau; a part of it would be another question.
func (l layout) plateaus(s samples, margin float64) func(forkRounds) (of, against []int) {
	halves := [2][]int{}
	for half := range halves {
		other := samples{}
		for _, f := range s.forks {
			if halfOf(f) != half {
				other.forks = append(other.forks, f)
			}
		}
		halves[half] = l.plateauBy(other, margin)
	}
	return func(f forkRounds) ([]int, []int) { return l.reference, halves[halfOf(f)] }
}

// plateauVersions are those of both halves, oldest first: what the newest version is compared with.
func (l layout) plateauVersions(plateaus func(forkRounds) (of, against []int)) []int {
	var versions []int
	_, even := plateaus(forkRounds{fork: 0})
	_, odd := plateaus(forkRounds{fork: 1})
	for _, c := range l.versions {
		if slices.Contains(even, c.Cell) || slices.Contains(odd, c.Cell) {
			versions = append(versions, c.Version)
		}
	}
	return versions
}

func halfOf(f forkRounds) int { return f.fork & 1 }

func (l layout) plateauBy(s samples, margin float64) []int {
	if l.newest < 1 {
		return nil
	}
	plateau := []int{l.versions[l.newest-1].Cell}
	for i := l.newest - 2; i >= 0; i-- {
		step, _ := s.contrast(1, fixed([]int{l.versions[i].Cell}, []int{l.versions[i+1].Cell}))
		if step.Rounds == 0 || math.Abs(step.Estimate) > math.Log1p(margin)/2 {
			break
		}
		plateau = append(plateau, l.versions[i].Cell)
	}
	return plateau
}

// twins gives the contrast of each client of the reference version against the mean of the others.
func (l layout) twins(s samples, widen float64) []stats.Contrast {
	var contrasts []stats.Contrast
	for i, cell := range l.reference {
		others := slices.Concat(l.reference[:i], l.reference[i+1:])
		if len(others) > 0 {
			c, _ := s.contrast(widen, fixed([]int{cell}, others))
			contrasts = append(contrasts, c)
		}
	}
	return contrasts
}
