package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"protocolbench/seed"
)

// machine makes one fork's batches: cells of known levels in shuffled rounds, on a machine that drifts, and that is slower by a fifth to three fifths for some batches in a row.
type machine struct {
	cells, rounds int
	noise         float64
	bursts        float64 // share of batches in bursts
	levels        []float64
}

func (m machine) fork(r *rand.Rand) [][]Sample {
	var samples []Sample
	burst, left, drift := 0.0, 0, 0.0
	for range m.rounds {
		for _, cell := range r.Perm(m.cells) {
			const length = 6
			if left == 0 && r.Float64() < m.bursts/length {
				left, burst = 1+r.IntN(2*length-1), math.Log(1.2+0.4*r.Float64())
			}
			ln := m.levels[cell] + drift + m.noise*r.NormFloat64()
			if left > 0 {
				ln += burst
				left--
			}
			drift += 0.003 * r.NormFloat64()
			samples = append(samples, Sample{cell, ln})
		}
	}
	return [][]Sample{samples}
}

// worst is how far the levels are off, about their mean.
func worst(found, truth []float64) float64 {
	var most float64
	for i, x := range centre(truth) {
		most = max(most, math.Abs(found[i]-x))
	}
	return most
}

func TestLevelsWithoutNoiseAreExact(t *testing.T) {
	m := machine{cells: 5, rounds: 6, levels: []float64{0, 0.1, -0.3, 2, 0.05}}
	samples := m.fork(seed.Stream(1, "levels"))[0]
	for i := range samples { // no drift either: what a cell costs and nothing else
		samples[i].Ln = m.levels[samples[i].Cell]
	}
	found, ok := Levels([][]Sample{samples}, m.cells)
	if !ok || worst(found, m.levels) > 1e-9 {
		t.Errorf("%v, %v; want the levels %v about their mean", found, ok, m.levels)
	}
	if sum := mean(found); math.Abs(sum) > 1e-9 {
		t.Errorf("mean of the levels is %v, want 0", sum)
	}
}

// A drift falls out of balanced orders: two cells, 0.05 apart, first in one order and then in the other, on a machine that gets dearer by 0.01 a batch. The next batch says 0.06 where the
// dearer one comes second and 0.04 where it comes first, the next but one 0.07 and 0.03, each as often as the other: 0.05.
func TestLevelsByHand(t *testing.T) {
	var samples []Sample
	for i := range 20 {
		cell := []int{0, 1, 1, 0}[i%4]
		samples = append(samples, Sample{cell, 0.05*float64(cell) + 0.01*float64(i)})
	}
	found, ok := Levels([][]Sample{samples}, 2)
	if !ok {
		t.Fatal("no levels")
	}
	near(t, "difference", found[1]-found[0], 0.05, 0.002)
}

// No level may be far off, however the bursts fall: one that began a third too low once stayed there. Cost of 5 sd of a level is what chance leaves in thousands.
func TestLevelsOfAMachineWithBursts(t *testing.T) {
	r := seed.Stream(7, "levels with bursts")
	m := machine{cells: 14, rounds: 14, noise: 0.01, bursts: 0.25, levels: make([]float64, 14)}
	m.levels[13] = 0.1
	var errors []float64
	var far int
	const forks = 1500
	for range forks {
		found, ok := Levels(m.fork(r), m.cells)
		if !ok {
			t.Fatal("no levels")
		}
		e := worst(found, m.levels)
		errors = append(errors, e)
		if e > 0.05 {
			far++
		}
	}
	slices.Sort(errors)
	t.Logf("worst level of a fork: median %.2f %%, largest %.2f %%; %d of %d forks have one that is 5 %% off", 100*errors[forks/2], 100*errors[forks-1], far, forks)
	if far > 0 || errors[forks/2] > 0.012 {
		t.Errorf("%d of %d forks have a level 5 %% off, median of the worst %.2f %%", far, forks, 100*errors[forks/2])
	}
}

// A level that begins a third too low finds its place, whatever the other batches' noise makes of the first scale.
func TestLevelsFromABadGuess(t *testing.T) {
	r := seed.Stream(9, "a bad guess")
	m := machine{cells: 14, rounds: 14, noise: 0.01, bursts: 0.25, levels: make([]float64, 14)}
	for range 200 {
		pairs := pairsOf(m.fork(r))
		guess := make([]float64, m.cells)
		guess[3] = -0.34
		if found, ok := fit(pairs, guess, m.cells); !ok || worst(found, m.levels) > 0.05 {
			t.Fatalf("%v: %v", ok, found)
		}
	}
}

func TestLevelsOfTooLittle(t *testing.T) {
	for name, c := range map[string]struct {
		stretches [][]Sample
		cells     int
	}{
		"nothing":             {nil, 3},
		"one cell":            {[][]Sample{{{0, 1}, {0, 2}}}, 1},
		"fewer pairs":         {[][]Sample{{{0, 1}, {1, 2}}}, 3},
		"gaps everywhere":     {[][]Sample{{{0, 1}}, {{1, 2}}, {{2, 2}}}, 3},
		"two islands":         {[][]Sample{{{0, 1}, {1, 1.2}, {0, 1.1}, {1, 1.25}}, {{2, 1}, {3, 1.3}, {2, 1.1}, {3, 1}}}, 4},
		"a cell that is none": {[][]Sample{{{0, 1}, {1, 1.1}, {0, 1.05}, {1, 1.2}, {0, 1}}}, 3},
		"not a number":        {[][]Sample{{{0, math.NaN()}, {1, 1}, {0, 1}, {1, 1.1}, {0, 1.1}}}, 2},
		"infinite":            {[][]Sample{{{0, math.Inf(1)}, {1, 1}, {0, 1}, {1, 1.1}, {0, 1.1}}}, 2},
	} {
		found, ok := Levels(c.stretches, c.cells)
		if ok && (!finiteAll(found) || name != "infinite" && name != "not a number") {
			t.Errorf("%s: %v", name, found)
		}
	}
}
