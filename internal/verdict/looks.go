package verdict

import (
	"slices"

	"protocolbench/internal/record"
)

// What the looks may err by, where two are planned: together they keep to alpha (Bonferroni), whatever the first one shows and whatever it selects for the
// second. The second has four times the rounds behind it and needs its share less: split evenly, every bound of the first look would be a fifth
// wider, and this way it is a fifteenth.
const (
	firstAlpha  = 0.04
	secondAlpha = 0.01
)

// judgeLooks judges the first look, and where a second one was taken both together. A version that the first look decided keeps its word, with all that the word stands on: only
// what a second look was taken at is judged by both, and by what spoils either.
func judgeLooks(run record.FamilyRun, margin float64, facts runFacts) *judgement {
	if facts.looks < 2 {
		j := newJudgement(run, margin, alpha)
		j.examine(facts.families)
		return j
	}
	first := newJudgement(run.Looks()[0], margin, firstAlpha)
	first.examine(facts.families)
	if run.Look == nil || !run.Look.Taken {
		return first
	}
	both := newJudgement(run, margin, secondAlpha)
	both.first = first
	both.spoilt = slices.Clone(first.spoilt)
	both.examine(facts.families)
	return both.joined()
}

// joined puts the first look's words to those of both looks together. What is said of the family as a whole is the first look's, which has all of it side by side.
func (j *judgement) joined() *judgement {
	first := j.first
	all := *j
	all.grounds = first.grounds
	all.contrasts = slices.Clone(j.contrasts)
	for i, c := range j.versions {
		if !j.asks(c) {
			all.contrasts[i] = first.contrasts[i]
		}
	}
	all.out.Looks, all.out.Floor = 2, floorOf(all.contrasts)
	all.out.Warnings = slices.Clone(first.out.Warnings)
	for _, w := range j.out.Warnings {
		if !slices.Contains(all.out.Warnings, w) {
			all.out.Warnings = append(all.out.Warnings, w)
		}
	}
	if p := first.out.Position; p.Alarm || !j.out.Position.Alarm && p.P < j.out.Position.P {
		all.out.Position = p
	}
	return &all
}

// asks tells whether the judgement is about a version: one of both looks is about what was undecided after the first, and was measured again.
func (j *judgement) asks(c record.FamilyCell) bool {
	return j.first == nil || slices.Contains(j.Look.Versions, c.Version)
}

// lastLook are the samples of the look that this judgement has beyond the first one's; in one of the first look, all.
func (j *judgement) lastLook() samples {
	last := j.samples
	last.forks = slices.DeleteFunc(slices.Clone(j.forks), func(f forkRounds) bool { return j.first != nil && f.look < record.SecondLook })
	return last
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
