package verdict

import (
	"fmt"
	"math"
	"slices"

	"protocolbench/internal/record"
	"protocolbench/internal/stats"
)

// What a validation of this package's statistics has to see of them, and a user of a verdict has not. Nothing here decides anything.

// LookAlphas are what the first and the second look may err by, where two are planned; one alone has Alpha.
func LookAlphas() (first, second float64) { return firstAlpha, secondAlpha }

// Alpha is what a family of one look may err by.
const Alpha = alpha

// CalibrationError is how wrong a plant may be, as a part of it.
const CalibrationError = calibrationError

// Twins are clients of the reference version that are compared with each other: what is found is the tool's own error. First each one against the mean of the others, as
// the judge looks at them, then each pair. Widths are steadied over the family as those of versions are.
func Twins(family record.FamilyRun) (against, pairs []Difference) {
	j := validated(family)
	if len(j.nothing) > 0 {
		return nil, nil
	}
	var names []string
	all := j.twins(j.samples, j.widen)
	for _, cell := range j.reference {
		names = append(names, fmt.Sprintf("cell %d against the other twins", cell))
	}
	for i, a := range j.reference {
		for _, b := range j.reference[i+1:] {
			c, _ := j.contrast(j.widen, fixed([]int{a}, []int{b}))
			all = append(all, c)
			names = append(names, fmt.Sprintf("cell %d against cell %d", a, b))
		}
	}
	list := j.steadied(all, names)
	return list[:len(j.reference)], list[len(j.reference):]
}

func validated(family record.FamilyRun) *judgement {
	j := &judgement{FamilyRun: family, layout: layoutOf(family.Family), samples: samplesOf(family), margin: family.Margin, widen: 1}
	j.lookForEnough()
	return j
}

// steadied makes differences of contrasts, steadied together with the deciding ones.
func (j *judgement) steadied(contrasts []stats.Contrast, names []string) []Difference {
	all := slices.Clone(contrasts)
	for i, c := range j.versions {
		if i != j.newest {
			raw, _ := j.contrast(j.widen, fixed([]int{c.Cell}, j.reference))
			all = append(all, raw)
		}
	}
	stats.PoolBirge(all)
	stats.Moderate(all)
	list := make([]Difference, len(contrasts))
	for i, name := range names {
		list[i] = *differenceOf(cellContrast{Contrast: all[i], name: name, p: twoSided(all[i])})
	}
	return list
}

// Plant is a version that was slowed down on purpose.
type Plant struct {
	Version int
	Share   float64 // that was planted, of a request of the reference version
	// Newest is against the reference version, as the judge has it: also what the two versions really differ by is in it. Neighbours is against the nearest versions on both
	// sides that have no plant, most of which cost what this one costs without it.
	Newest, Neighbours Difference
}

// Plants are the slowdowns planted in versions of a family.
func Plants(family record.FamilyRun) []Plant {
	j := validated(family)
	reference := j.referenceNsPerRequest()
	if len(j.nothing) > 0 || reference <= 0 {
		return nil
	}
	var plants []Plant
	for i, c := range j.versions {
		if c.PlantNsPerRequest <= 0 {
			continue
		}
		newest, _ := j.contrast(j.widen, fixed([]int{c.Cell}, j.reference))
		beside, _ := j.contrast(j.widen, fixed([]int{c.Cell}, j.besides(i)))
		found := j.steadied([]stats.Contrast{newest, beside}, []string{contrastNewest, "neighbours"})
		plants = append(plants, Plant{Version: c.Version, Share: float64(c.PlantNsPerRequest) / reference, Newest: found[0], Neighbours: found[1]})
	}
	return plants
}

// besides are the cells of the nearest unplanted versions on both sides of one.
func (j *judgement) besides(i int) []int {
	var cells []int
	for _, step := range []int{-1, 1} {
		for k := i + step; k >= 0 && k < len(j.versions); k += step {
			if j.versions[k].PlantNsPerRequest == 0 {
				cells = append(cells, j.versions[k].Cell)
				break
			}
		}
	}
	return cells
}

// ForkLevels is what one fork says of its cells, and what the batches leave over.
type ForkLevels struct {
	Draw, Fork int
	Levels     map[int]float64 // ln cost by cell, from their common mean
	// Residuals are the batches' logarithms without their cells' levels, in order of measurement: what the machine did.
	Residuals []float64
}

// LevelsOf gives the forks of a family's first look.
func LevelsOf(family record.FamilyRun) []ForkLevels {
	var list []ForkLevels
	for _, f := range samplesOf(family).ofFirstLook().forks {
		l := ForkLevels{Draw: f.draw, Fork: f.fork, Levels: f.levels}
		for _, r := range f.rounds {
			for _, cell := range r.order {
				l.Residuals = append(l.Residuals, r.lnCost[cell]-f.levels[cell])
			}
		}
		list = append(list, l)
	}
	return list
}

// ForkSpreads is how far the forks of a family disagree about its versions' differences to the reference: the root mean square over versions of the standard
// deviation from fork to fork, once of differences of levels and once of trimmed means of differences within rounds, which was the plan. False for what can't be judged.
func ForkSpreads(family record.FamilyRun) (levels, rounds float64, ok bool) {
	j := validated(family)
	if len(j.nothing) > 0 || family.BuildMargin > 0 {
		return 0, 0, false
	}
	inRounds := j.samples
	inRounds.forks = slices.Clone(j.forks)
	for i := range inRounds.forks {
		inRounds.forks[i].levels = nil
	}
	return j.forkSpread(j.samples), j.forkSpread(inRounds), true
}

func (j *judgement) forkSpread(s samples) float64 {
	var sum, n float64
	for i, c := range j.versions {
		if i == j.newest {
			continue
		}
		_, forks := s.contrast(1, fixed([]int{c.Cell}, j.reference))
		if sd := stats.ForkSD(forks); sd > 0 {
			sum, n = sum+sd*sd, n+1
		}
	}
	return math.Sqrt(ratio(sum, n, 0))
}
