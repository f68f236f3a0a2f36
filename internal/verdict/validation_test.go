package verdict

import (
	"math"
	"testing"

	"protocolbench/internal/synthetic"
)

// plantedMade has 3 % planted in v9, burnt as a part of that.
func plantedMade(burnt float64) synthetic.World {
	w := cleanMade(5)
	w.Cost = func(version int) float64 {
		if version == 9 {
			return 1 + 0.03*burnt
		}
		return 1
	}
	return w
}

func TestPlantsAreMeasured(t *testing.T) {
	for _, burnt := range []float64{1, 0} {
		w := plantedMade(burnt)
		f := w.Run().Families[0]
		f.Cells[5].PlantNsPerRequest = int64(0.03 * w.RequestNs)
		plants := Plants(f)
		if len(plants) != 1 || plants[0].Version != 9 || math.Abs(plants[0].Share-0.03) > 0.001 {
			t.Fatalf("%+v", plants)
		}
		for _, d := range []Difference{plants[0].Newest, plants[0].Neighbours} {
			if math.Abs(d.Difference-0.03*burnt) > 0.01 || d.Low > 0.03*burnt || d.High < 0.03*burnt {
				t.Errorf("burnt %v of it: %+v", burnt, d)
			}
		}
	}
	if plants := Plants(cleanMade(5).Run().Families[0]); plants != nil {
		t.Errorf("nothing was planted: %+v", plants)
	}
}

// Neighbours with a plant of their own are passed over: v8 of v7, v8, v9 is compared with v6 and v10.
func TestNeighboursHaveNoPlant(t *testing.T) {
	f := cleanMade(6).Run().Families[0]
	for _, i := range []int{3, 4, 5} {
		f.Cells[i].PlantNsPerRequest = 1000
	}
	if cells := validated(f).besides(4); len(cells) != 2 || cells[0] != 2 || cells[1] != 6 {
		t.Errorf("cells %v", cells)
	}
}

// Three clients make three pairs; a client that is 5 % dearer for good is in two of them, and stands out against the others.
func TestTwins(t *testing.T) {
	run := cleanMade(7).Run()
	f := run.Families[0]
	against, pairs := Twins(f)
	if len(against) != 3 || len(pairs) != 3 {
		t.Fatalf("%d and %d", len(against), len(pairs))
	}
	for _, d := range append(against, pairs...) {
		if math.Abs(d.Difference) > 0.02 || d.Unbounded {
			t.Errorf("%+v", d)
		}
	}
	for i := range f.BlockRuns {
		for k := range f.BlockRuns[i].Batches {
			if b := &f.BlockRuns[i].Batches[k]; b.Cell == 16 {
				b.CPUNs += b.CPUNs / 20
			}
		}
	}
	_, pairs = Twins(f)
	for i, want := range []float64{0, -0.048, -0.048} { // 14-15, 14-16, 15-16
		if math.Abs(pairs[i].Difference-want) > 0.015 {
			t.Errorf("%s: %v, want about %v", pairs[i].Contrast, pairs[i].Difference, want)
		}
	}
	f.BlockRuns = nil
	if against, pairs := Twins(f); against != nil || pairs != nil {
		t.Error("twins of nothing")
	}
}

func TestLevelsOf(t *testing.T) {
	w := plantedMade(1)
	w.Noise, w.State = 0.001, 0
	forks := LevelsOf(w.Run().Families[0])
	if len(forks) != 12 || len(forks[0].Residuals) != 18*18 {
		t.Fatalf("%d forks, %d residuals", len(forks), len(forks[0].Residuals))
	}
	for _, f := range forks {
		if d := f.Levels[5] - f.Levels[4]; math.Abs(d-math.Log(1.03)) > 0.003 {
			t.Errorf("level of v9 above v8's: %v", d)
		}
	}
}
