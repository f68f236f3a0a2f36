package verdict

import (
	"math"
	"slices"

	"protocolbench/internal/record"
)

// foundAlways is the chance with which what lies above a limit is found. It is close to 1 and not 1: no finite number of batches gives that.
const foundAlways = 0.99

// Limits are what a family could not have seen of one version, worked out from its own rounds and by the rules that judged it: another run of the same profile has others.
//
// Rejected: a figure per profile. How little a family resolves goes by the machine and by how many clients were started, and a figure that somebody wrote down
// is that of the machine on which he did.
type Limits struct {
	// SmallestDifference is how much slower one version has to be so that it is called slower in 99 of 100 such runs; Unbounded where none would be.
	SmallestDifference float64 `json:"smallestDifference"`
	// SmallestShown: so that it is at least no plain "not slower" (it differs, or is undecided) in 99 of 100.
	SmallestShown float64 `json:"smallestShown"`
	// Stalls are those of one version that would be found; nil in tier 0, which has nothing to wait for.
	Stalls *StallLimit `json:"stalls,omitempty"`
	// NotCovered are versions that the client has and the family doesn't.
	NotCovered []int `json:"notCovered,omitempty"`
}

// StallLimit: a wait of Ms or more after every OneIn-th response or more often, drawn, is called a stall in 99 of 100 such runs. OneIn 0: none would be, however frequent.
type StallLimit struct {
	OneIn int     `json:"oneIn"`
	Ms    float64 `json:"ms"`
}

// limitsOf are those of a family of one build.
func (j *judgement) limitsOf(seed uint64) *Limits {
	l := j.differenceLimits()
	l.Stalls = j.stallLimit(seed)
	return &l
}

func (j *judgement) differenceLimits() (l Limits) {
	reference := j.referenceNsPerRequest() / 1e3
	least := max(j.margin, materialPart, ratio(materialUs, reference, Unbounded))
	l.SmallestDifference, l.SmallestShown = differenceLimits(j.contrasts, least)
	return l
}

// differenceLimits are those of the contrast that knows least, since it may be any version. What has a word without regard to its figures (draws disagree, the family is
// spoilt) is called slower at no difference.
func differenceLimits(contrasts []cellContrast, least float64) (slower, shown float64) {
	if len(contrasts) == 0 {
		return Unbounded, Unbounded
	}
	for _, c := range contrasts {
		// Holm asks at most this of the smallest p-value, and of one version that is the only slow one it does.
		decides, ok := c.FoundFrom(foundAlways, c.alpha/float64(len(contrasts)), math.Log1p(least))
		differs, _ := c.FoundFrom(foundAlways, (1-level)/2, 0)
		if !ok || c.by != nil && len(c.by.nothing)+len(c.by.spoilt) > 0 {
			return Unbounded, Unbounded
		}
		if c.torn {
			slower = Unbounded
			continue
		}
		slower, shown = max(slower, asRatio(decides)), max(shown, asRatio(differs))
	}
	return slower, shown
}

// limits of two builds are those of a version against itself with the baseline. Their wall time is not judged, so no stall would be found.
func (b *builds) limits() *Limits {
	between := slices.Clone(b.between)
	for i := range between {
		between[i].alpha, between[i].by = buildsAlpha, &b.grounds
	}
	reference := b.judgement.referenceNsPerRequest() / 1e3
	var l Limits
	l.SmallestDifference, l.SmallestShown = differenceLimits(between, max(b.margin, materialPart, ratio(materialUs, reference, Unbounded)))
	if b.Tier == 1 {
		l.Stalls = &StallLimit{}
	}
	return &l
}

// notCovered are the versions that the client has, by the plan of the family's tier and API, and that stand in none of its cells.
func notCovered(run *record.Run, f record.FamilyRun) (versions []int) {
	if f.Message != "" {
		return nil
	}
	for _, p := range run.Plans {
		if p.Tier != f.Tier || p.API != f.API || p.Implemented[0] < 0 {
			continue
		}
		for version := p.Implemented[0]; version <= min(p.Implemented[1], p.Implemented[0]+mostVersions); version++ {
			measured := slices.ContainsFunc(f.Cells, func(c record.FamilyCell) bool { return c.Version == version })
			if !measured && !slices.Contains(versions, version) {
				versions = append(versions, version)
			}
		}
	}
	return versions
}

// mostVersions of an API: a plan of a broken record must not be believed without end.
const mostVersions = 200
