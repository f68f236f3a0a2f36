package verdict

import (
	"protocolbench/internal/record"
	"protocolbench/internal/stats"
)

// What the looks may err by, where two are planned: together they keep to alpha (Bonferroni), whatever the first one shows and whatever it selects for the
// second. The second has four times the rounds behind it and needs its share less: split evenly, every bound of the first look would be a fifth
// wider, and this way it is a fifteenth.
const (
	firstAlpha  = 0.04
	secondAlpha = 0.01
)

// compare makes the deciding contrasts: of the first look, and where a second one was taken of both together. A version that the first look decided keeps its
// word: only what a second look was taken at is judged by it.
func (j *judgement) compare() {
	if j.looks < 2 {
		j.contrasts, j.canary = j.contrastsOf(j.samples, alpha)
		return
	}
	j.contrasts, j.canary = j.contrastsOf(j.samples.ofFirstLook(), firstAlpha)
	if j.Look == nil || !j.Look.Taken {
		return
	}
	again, canary := j.contrastsOf(j.samples, secondAlpha)
	j.canary = canary
	j.out.Looks = 2
	var ps []float64
	for i, c := range j.versions {
		p := 1.0 // it had its test
		if j.lookedAgain(c) {
			p = again[i].PAbove(0)
			j.contrasts[i] = again[i]
		}
		ps = append(ps, p)
	}
	for i, p := range stats.Holm(ps) {
		if j.lookedAgain(j.versions[i]) {
			j.contrasts[i].p = p
		}
	}
}

// lookedAgain tells whether a version was undecided after the first look, and was measured again.
func (j *judgement) lookedAgain(c record.FamilyCell) bool {
	if j.Look == nil || !j.Look.Taken {
		return false
	}
	for _, v := range j.Look.Versions {
		if v == c.Version {
			return true
		}
	}
	return false
}

// WorthALook lists the versions of a deciding family that more rounds could decide.
func WorthALook(f Family) []int {
	var versions []int
	for _, c := range f.Cells {
		if f.Deciding && c.MoreRounds > 0 {
			versions = append(versions, c.Version)
		}
	}
	return versions
}
