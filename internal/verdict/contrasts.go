package verdict

import (
	"fmt"
	"math"
	"slices"

	"protocolbench/internal/stats"
)

// cellContrast is the contrast that decides a version.
type cellContrast struct {
	stats.Contrast
	name  string
	p     float64  // Holm-corrected
	alpha float64  // what its look may err by
	apart float64  // spread of draws, ln
	torn  bool     // draws disagree by more than forks explain, and by the margin or more
	by    *grounds // of the judgement that it belongs to
}

// compare makes the deciding contrasts of what is asked about and the canary's, steadies their standard errors by each other, and corrects p-values for being many. What a
// second look was not taken at has no contrast here: it has its word, and its draws say nothing about a look that they are not in.
func (j *judgement) compare() {
	j.contrasts = make([]cellContrast, len(j.versions))
	plateaus := j.plateaus(j.ofFirstLook(), j.margin)
	var parts []part
	for i, c := range j.versions {
		own := &j.contrasts[i]
		own.name, own.alpha, own.by = contrastNewest, j.alpha, &j.grounds
		cells := fixed([]int{c.Cell}, j.reference)
		if i == j.newest {
			cells, own.name = plateaus, contrastPlateau
			j.out.LeftPlateau = j.plateauVersions(plateaus)
		}
		if !j.asks(c) {
			continue
		}
		contrast, forks := j.contrast(j.widen, cells)
		drawsP, apart, ok := stats.Disagreement(forks)
		own.apart = apart
		own.torn = ok && drawsP < rareAlpha/float64(len(j.versions)) && apart >= math.Log1p(j.margin)
		parts = append(parts, part{contrast, own.torn, &own.Contrast})
	}
	if j.layout.canary >= 0 {
		found, _ := j.contrast(j.widen, fixed([]int{j.layout.canary}, j.reference))
		parts = append(parts, part{found, false, &j.canary})
	}
	steady(parts)
	for i := range j.contrasts {
		j.contrasts[i].UpperLevel = 1 - j.alpha
	}
	correct(j.contrasts) // what has no contrast had its test: it counts, with a p-value of 1
}

// part is a contrast on its way to where it is kept.
type part struct {
	stats.Contrast
	torn bool
	to   *stats.Contrast
}

// steady gives the family one Birge ratio, and moderates. A version whose draws are torn has its own word, and keeps its own ratio: in the pool, one version with a draw
// 40 % off took `not slower` from half of the others.
func steady(parts []part) {
	slices.SortStableFunc(parts, func(a, b part) int { return rank(a.torn) - rank(b.torn) })
	all := make([]stats.Contrast, len(parts))
	whole := 0
	for i, p := range parts {
		all[i] = p.Contrast
		if !p.torn {
			whole++
		}
	}
	stats.PoolBirge(all[:whole])
	stats.Moderate(all)
	for i, p := range parts {
		*p.to = all[i]
	}
}

func rank(last bool) int {
	if last {
		return 1
	}
	return 0
}

// checkFloor leaves out a version whose draws disagree: it has its own word already, and its width says nothing about what can be
// resolved of the others.
//
// A floor above the margin says that equal versions would hardly all be shown not to be slower. It says nothing against what was shown, so it decides only what an undecided
// version is called. Planned was that it makes the whole family unresolvable: then a version that was surely slower, or surely not, lost its word to its neighbours' noise.
func (j *judgement) checkFloor() {
	var asked []cellContrast
	for i, c := range j.contrasts {
		if j.asks(j.versions[i]) {
			asked = append(asked, c)
		}
	}
	j.out.Floor = floorOf(asked)
	if j.out.Floor == Unbounded {
		return // lookForEnough or the versions themselves have said why
	}
	if j.out.Floor > j.margin {
		j.coarse = fmt.Sprintf("the floor of %s is above the margin of %s", percent(j.out.Floor), percent(j.margin))
		j.warning(fmt.Sprintf("differences below %s can't be resolved here", percent(j.out.Floor)),
			"close other programs, or take more rounds with --profile standard or release")
	}
}

func floorOf(contrasts []cellContrast) float64 {
	all := make([]stats.Contrast, 0, len(contrasts))
	for _, c := range contrasts {
		if !c.torn {
			all = append(all, c.Contrast)
		}
	}
	floor, ok := stats.Floor(all)
	if !ok || len(all) == 0 {
		return Unbounded
	}
	return asRatio(floor)
}
