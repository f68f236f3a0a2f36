package verdict

import (
	"fmt"
	"math"
	"slices"

	"protocolbench/internal/record"
	"protocolbench/internal/stats"
)

// Names of the contrasts of two builds.
const (
	contrastBaseline = "baseline" // a version with the candidate against the same version with the baseline
	contrastCurve    = "curve"    // how far it is from the reference with the candidate, against how far with the baseline
)

// LeastBuildMargin is as narrow as a margin between builds gets, however narrow that between versions: where the linker puts the code makes
// differences of some per cent by itself.
const LeastBuildMargin = 0.05

// buildsAlpha is what each of the two contrasts of a version may err by: together they keep to alpha.
const buildsAlpha = alpha / 2

// builds is a family of two builds on its way to words: the candidate's judgement, the baseline's, and what lies between them.
type builds struct {
	judgement                // the candidate; its samples have the cells of both
	base      judgement      // the baseline by itself: twins and canary
	between   []cellContrast // as layout.versions
	curve     []cellContrast
	curveOK   bool        // its floor is within its margin
	coarse    string      // why the family can't resolve the margin between builds, or ""
	layouts   stats.Error // what all versions' contrasts against the baseline have in common, and what each has of its own
	own       []stats.Error
	margin    float64
}

// judgeBuilds judges candidate against baseline.
func judgeBuilds(j judgement, buildMargin float64, families int) *judgement {
	b := builds{judgement: j, margin: buildMargin}
	b.base = judgement{FamilyRun: j.FamilyRun, layout: layoutOfBuild(j.Family, record.BuildBaseline), samples: j.samples, margin: j.margin, widen: j.widen, alpha: j.alpha}
	b.base.out.Warnings = []Warning{}
	b.out.Builds = &Builds{CurveMargin: j.margin}
	b.lookForEnough()
	b.lookForBoth()
	b.compare()
	b.base.compare()
	b.compareBuilds()
	b.checkFloors()
	b.checkTwins()
	b.checkCanary()
	b.checkBaseline()
	b.checkPosition(families)
	b.warn()
	b.describe()
	b.out.Margin = buildMargin
	for i, c := range b.versions {
		b.out.Cells = append(b.out.Cells, b.cell(i, c))
	}
	b.out.Limits = b.limits()
	return &b.judgement
}

// lookForBoth: a version that one build lacks can't be compared.
func (b *builds) lookForBoth() {
	same := slices.EqualFunc(b.versions, b.base.versions, func(x, y record.FamilyCell) bool { return x.Version == y.Version })
	if !same || len(b.versions) == 0 || b.base.newest < 0 {
		b.nothing = append(b.nothing, "candidate and baseline don't have the same versions in it")
	}
	if same && len(b.versions) == 1 { // two builds can be compared on one version
		b.nothing = slices.DeleteFunc(b.nothing, func(why string) bool { return why == onlyOneVersion })
	}
}

// clients are the cells that stand for a version: of the reference all three.
func (j *judgement) clients(i int) []int {
	if i == j.newest {
		return j.reference
	}
	return []int{j.versions[i].Cell}
}

// compareBuilds makes both contrasts of each version.
//
// Each fork has its own pair of layouts, so the spread over forks has the layouts' in it, and the fork-level error is the one that counts. From the
// curves the layouts fall out; they are moderated as contrasts within a build are.
func (b *builds) compareBuilds() {
	n := len(b.versions)
	b.between, b.curve = make([]cellContrast, n), make([]cellContrast, n)
	if len(b.base.versions) != n || b.newest < 0 || b.base.newest < 0 {
		return
	}
	plateau := b.plateaus(b.samples, b.judgement.margin)
	b.layouts, b.own = b.errorsOfBuilds()
	var betweens, curves []stats.Contrast
	for i := range b.versions {
		mine, others := b.clients(i), b.base.clients(i)
		contrast, forks := b.combine(b.widen, func(forkRounds) []term { return []term{{mine, 1}, {others, -1}} })
		betweens = append(betweens, contrast)
		b.between[i] = b.asCell(contrast, forks, contrastBaseline, b.margin)
		contrast, forks = b.combine(b.widen, func(f forkRounds) []term {
			reference, baseReference := b.reference, b.base.reference
			if i == b.newest {
				_, reference = plateau(f)
				baseReference = b.sameVersions(reference)
			}
			return []term{{mine, 1}, {reference, -1}, {others, -1}, {baseReference, 1}}
		})
		b.curve[i] = b.asCell(contrast, forks, contrastCurve, b.judgement.margin)
		curves = append(curves, contrast)
	}
	stats.PoolBirge(betweens)
	stats.PoolBirge(curves)
	stats.Moderate(curves)
	for i := range b.curve {
		b.between[i].Contrast, b.curve[i].Contrast = betweens[i], curves[i]
		if betweens[i].Bounded {
			b.between[i].Fork = stats.AddErrors(b.layouts, b.own[i])
		}
	}
	correct(b.between)
	correct(b.curve)
}

// errorsOfBuilds parts the error of a version against the baseline in two. What all versions have in common is mostly the layouts', which move a whole
// build: of that there are as many samples as forks and no more, however many versions. What is each version's own beyond that is moderated over
// the family. Moderating the whole was the other way: versions that move together would have taught each other how narrow they are.
func (b *builds) errorsOfBuilds() (layouts stats.Error, own []stats.Error) {
	all := func(j *judgement) (cells []int) {
		for i := range j.versions {
			cells = append(cells, j.clients(i)[0])
		}
		return cells
	}
	mine, others := all(&b.judgement), all(&b.base)
	common, _ := b.combine(b.widen, func(forkRounds) []term { return []term{{mine, 1}, {others, -1}} })
	contrasts := make([]stats.Contrast, len(b.versions))
	for i := range b.versions {
		of, against := b.clients(i), b.base.clients(i)
		contrasts[i], _ = b.combine(b.widen, func(forkRounds) []term { return []term{{of, 1}, {against, -1}, {mine, -1}, {others, 1}} })
	}
	stats.PoolBirge(contrasts)
	stats.Moderate(contrasts)
	for _, c := range contrasts {
		own = append(own, c.Fork)
	}
	// Layouts are drawn anew in each fork, so draws have no more in common than forks: there is nothing that draws could disagree on.
	layouts = common.Fork
	if common.Bounded {
		layouts.SE /= common.Birge
	}
	return layouts, own
}

// asCell looks at a contrast's draws, too.
func (b *builds) asCell(contrast stats.Contrast, forks []stats.Fork, name string, margin float64) cellContrast {
	p, apart, ok := stats.Disagreement(forks)
	return cellContrast{Contrast: contrast, name: name, apart: apart, torn: ok && p < rareAlpha/float64(len(b.versions)) && apart >= math.Log1p(margin)}
}

func correct(contrasts []cellContrast) {
	var ps []float64
	for _, c := range contrasts {
		ps = append(ps, c.PAbove(0))
	}
	for i, p := range stats.Holm(ps) {
		contrasts[i].p = p
	}
}

// sameVersions gives the baseline's cells of the versions that some of the candidate's cells have.
func (b *builds) sameVersions(cells []int) []int {
	var same []int
	for i, c := range b.versions {
		if slices.Contains(cells, c.Cell) {
			same = append(same, b.base.versions[i].Cell)
		}
	}
	return same
}

// checkFloors: a floor above the margin says that equal versions would hardly all be shown not to be slower. It says nothing against what was shown: two
// builds often differ by far more than the margin, and a version whose whole interval lies below zero is not slower on any floor. So it decides only what an
// undecided version is called. Calling the whole family unresolvable, as among the versions of one build, was the other way: a client that had become a quarter
// cheaper came out with nothing known. Where only the curves can't be resolved, they say nothing, and the difference to the baseline is all that there is.
func (b *builds) checkFloors() {
	b.out.Floor, b.out.Builds.CurveFloor = b.floor(), floorOf(b.curve)
	if len(b.nothing) > 0 {
		return
	}
	if b.out.Floor > b.margin {
		b.coarse = fmt.Sprintf("the floor of %s is above the margin of %s", percent(b.out.Floor), percent(b.margin))
		b.warning(fmt.Sprintf("differences of the builds below %s can't be resolved here", percent(b.out.Floor)),
			"close other programs, or take more layouts with --profile standard or release")
	}
	b.curveOK = b.out.Builds.CurveFloor <= b.judgement.margin
	if !b.curveOK && len(b.versions) > 1 {
		b.warning(fmt.Sprintf("how versions changed against each other can't be resolved below %s here, so only their difference to the baseline is judged", percent(b.out.Builds.CurveFloor)),
			"close other programs, or take more rounds with --profile standard or release")
	}
}

// floor is floorOf the contrasts against the baseline, which move together.
func (b *builds) floor() float64 {
	var all []stats.Contrast
	var own []stats.Error
	for i, c := range b.between {
		if !c.torn && i < len(b.own) {
			all, own = append(all, c.Contrast), append(own, b.own[i])
		}
	}
	floor, ok := stats.FloorShared(all, b.layouts, own)
	if !ok || len(all) == 0 {
		return Unbounded
	}
	return asRatio(floor)
}

// checkBaseline: the baseline has twins and a canary of its own; a build that a slowdown can't be seen in is no measure for another.
func (b *builds) checkBaseline() {
	b.base.checkTwins()
	b.base.checkCanary()
	b.out.Builds.BaselineTwin, b.out.Builds.BaselineCanary = b.base.out.Twin, b.base.out.Canary
	for _, why := range b.base.spoilt {
		b.spoilt = append(b.spoilt, "baseline: "+why)
	}
	b.out.Warnings = append(b.out.Warnings, b.base.out.Warnings...)
}
