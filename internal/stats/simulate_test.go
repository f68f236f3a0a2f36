package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"protocolbench/seed"
)

// design is a made-up experiment: noise per batch, and a state that a client keeps as long as it lives.
type design struct {
	name         string
	draws, forks int
	rounds       int
	noise, state float64
	heavy        bool // one batch in twenty is disturbed, ten times the noise
	cells        int  // versions compared with three clients of a reference
}

func (d design) batch(r *rand.Rand) float64 {
	x := d.noise * r.NormFloat64()
	if d.heavy && r.IntN(20) == 0 {
		x = 10 * d.noise * r.ExpFloat64()
	}
	return x
}

// contrasts makes one experiment's forks for each cell; all cells share the reference, as they do in a run.
func (d design) contrasts(r *rand.Rand) [][]Fork {
	all := make([][]Fork, d.cells)
	for draw := range d.draws {
		for fork := range d.forks {
			state := make([]float64, d.cells+3)
			for i := range state {
				state[i] = d.state * r.NormFloat64()
			}
			for i := range all {
				all[i] = append(all[i], Fork{Draw: draw, Fork: fork, D: make([]float64, d.rounds)})
			}
			for round := range d.rounds {
				var reference float64
				for k := range 3 {
					reference += (state[d.cells+k] + d.batch(r)) / 3
				}
				for i := range all {
					all[i][len(all[i])-1].D[round] = state[i] + d.batch(r) - reference
				}
			}
		}
	}
	return all
}

// The truth is 0 everywhere. A 95 % interval has to cover it in at least 95 % of experiments (bound: 3 binomial sd below),
// Holm's family-wise error has to stay under 5 %, and the floor has to keep its promise of 90 %.
func TestCoverageFamilyWiseErrorAndFloor(t *testing.T) {
	for n, d := range []design{
		{name: "quick", draws: 1, forks: 4, rounds: 9, noise: 0.01, state: 0.005, cells: 14},
		{name: "quick, much state", draws: 1, forks: 4, rounds: 9, noise: 0.01, state: 0.03, cells: 14},
		{name: "quick, no state", draws: 1, forks: 4, rounds: 9, noise: 0.01, cells: 14},
		{name: "standard", draws: 3, forks: 4, rounds: 18, noise: 0.01, state: 0.01, cells: 14},
		{name: "standard, disturbed", draws: 3, forks: 4, rounds: 18, noise: 0.01, state: 0.005, heavy: true, cells: 14},
	} {
		t.Run(d.name, func(t *testing.T) {
			const experiments = 500
			r := seed.Stream(uint64(n), "coverage")
			covered, familyWise, kept, torn := 0, 0, 0, 0
			var floors []float64
			for range experiments {
				var ps []float64
				var cs []Contrast
				for _, forks := range d.contrasts(r) {
					c := PairedContrast(forks, LiveWiden)
					if low, high, _ := c.Interval(0.95); low <= 0 && 0 <= high {
						covered++
					}
					if p, _, ok := Disagreement(forks); ok && p < 0.05 {
						torn++
					}
					ps, cs = append(ps, c.PAbove(0)), append(cs, c)
				}
				for _, p := range Holm(ps) {
					if p < 0.05 {
						familyWise++
						break
					}
				}
				floor, _ := Floor(cs)
				floors = append(floors, floor)
			}
			median, _ := MedianOf(floors)
			for range experiments {
				kept += oneIfAll(d.contrasts(r), median)
			}
			total := float64(experiments * d.cells)
			t.Logf("coverage %.3f, family-wise error %.3f, draws torn at 5 %%: %.3f, median floor %.2f %% passes %.2f of families",
				float64(covered)/total, float64(familyWise)/experiments, float64(torn)/total, 100*median, float64(kept)/experiments)
			if got := float64(covered) / total; got < 0.94 {
				t.Errorf("a 95 %% interval covers the truth in %.1f %%", 100*got)
			}
			if got := float64(familyWise) / experiments; got > 0.05+3*math.Sqrt(0.05*0.95/experiments) {
				t.Errorf("family-wise error is %.1f %%", 100*got)
			}
			if got := float64(kept) / experiments; got < 0.88 {
				t.Errorf("at its median floor of %.2f %% only %.0f %% of families come out `not slower`", 100*median, 100*got)
			}
		})
	}
}

// oneIfAll is 1 if every contrast's upper bound lies below the margin.
func oneIfAll(contrasts [][]Fork, margin float64) int {
	for _, forks := range contrasts {
		if upper, ok := PairedContrast(forks, LiveWiden).Upper(0.95); !ok || upper >= margin {
			return 0
		}
	}
	return 1
}

// A planted +3 % at the noise of a 64 KiB fetch in the standard budget: significant after Holm nearly always.
func TestPlantedDifferenceIsFound(t *testing.T) {
	d := design{draws: 3, forks: 4, rounds: 18, noise: 0.014, state: 0.005, cells: 14}
	r := seed.Stream(1, "power")
	found := 0
	const experiments = 100
	for range experiments {
		var ps []float64
		for i, forks := range d.contrasts(r) {
			if i == 5 {
				for _, f := range forks {
					for k := range f.D {
						f.D[k] += math.Log(1.03)
					}
				}
			}
			ps = append(ps, PairedContrast(forks, LiveWiden).PAbove(0))
		}
		if Holm(ps)[5] < 0.05 {
			found++
		}
	}
	t.Logf("+3 %% found in %d of %d", found, experiments)
	if found < experiments*97/100 {
		t.Errorf("+3 %% found in %d of %d families", found, experiments)
	}
}

// Rounds of half squares with and without a cost of the place. Clean: p is small as rarely as it says (or more rarely, see
// PositionF). With 2 % more from the first to the last place it is always found.
func TestPositionFRateAndPower(t *testing.T) {
	r := seed.Stream(2, "position")
	const cells, experiments = 18, 300
	experiment := func(slope float64) PositionTest {
		var blocks [][]Round
		rows := seed.Permutation(r, cells)
		square := seed.Williams(cells)
		for fork := range 4 {
			var block []Round
			state := make([]float64, cells)
			for i := range state {
				state[i] = 0.005 * r.NormFloat64()
			}
			for k := range cells / 2 {
				order := square[rows[fork%2*cells/2+k]]
				round := Round{Cells: order, LnX: make([]float64, cells)}
				level := 0.02 * r.NormFloat64()
				for p, c := range order {
					round.LnX[p] = level + state[c] + 0.01*r.NormFloat64() + slope*float64(p)/cells
				}
				block = append(block, round)
			}
			blocks = append(blocks, block)
		}
		return PositionF(blocks)
	}
	rare, found := 0, 0
	for range experiments {
		if experiment(0).P < 0.05 {
			rare++
		}
		if experiment(0.02).P < 0.001 {
			found++
		}
	}
	t.Logf("p < 0.05 in %d of %d without, p < 0.001 in %d of %d with a slope of 2 %%", rare, experiments, found, experiments)
	if rare > experiments*5/100+3*4 || found < experiments*99/100 {
		t.Errorf("false alarms %d, found %d of %d", rare, found, experiments)
	}
}
