package synthetic

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"protocolbench/internal/schedule"
	"protocolbench/seed"
)

func TestSameSeedSameRecord(t *testing.T) {
	w := Clean(3)
	w.Machine = &Machine{Drift: 0.02, DriftBatches: 200, BurstsLow: 0.1, BurstsHigh: 0.3, BatchesLow: 2, BatchesHigh: 20, CostLow: 1.2, CostHigh: 1.6}
	if !reflect.DeepEqual(w.Run(), w.Run()) {
		t.Error("two records of one seed differ")
	}
	other := w
	other.Seed = 4
	if reflect.DeepEqual(w.Run().Families, other.Run().Families) {
		t.Error("records of two seeds are alike")
	}
}

// series is what a machine adds to batch after batch of one long fork.
func series(m Machine, n int) []float64 {
	w := World{Machine: &m}.weather(seed.Stream(1, "machine"))
	xs := make([]float64, n)
	for i := range xs {
		w.nextRound()
		xs[i] = w.nextBatch()
	}
	return xs
}

// Bursts of 2-20 batches (11 on average) take a fifth of the time at 1.5 times the cost: a fifth of the batches' cost is what they add, and a burst has 11 batches on average.
func TestBursts(t *testing.T) {
	xs := series(Machine{BurstsLow: 0.2, BurstsHigh: 0.2, BatchesLow: 2, BatchesHigh: 20, CostLow: 1.5, CostHigh: 1.5}, 200_000)
	var added float64
	bursts, inside := 0, false
	for _, x := range xs {
		if x < 0 || x > math.Log(1.5)+1e-9 {
			t.Fatalf("a batch costs exp(%v)", x)
		}
		added += math.Expm1(x) / 0.5
		if x > 0 && !inside {
			bursts++
		}
		inside = x > 0
	}
	if share := added / float64(len(xs)); math.Abs(share-0.2) > 0.01 {
		t.Errorf("share of time in bursts %v, want 0.2", share)
	}
	// Bursts that meet look like one: some of them do.
	if length := added / float64(bursts); length < 11 || length > 14 {
		t.Errorf("mean length %v batches", length)
	}
}

func TestSparedBatches(t *testing.T) {
	m := Machine{BurstsLow: 1, BurstsHigh: 1, BatchesLow: 20, BatchesHigh: 20, CostLow: 1.5, CostHigh: 1.5, Spared: 0.25}
	spared := 0
	xs := series(m, 20_000)
	for _, x := range xs {
		if x == 0 {
			spared++
		}
	}
	if share := float64(spared) / float64(len(xs)); math.Abs(share-0.25) > 0.02 {
		t.Errorf("%v of batches are spared, want 0.25", share)
	}
}

// The drift has its sd, and after DriftBatches it remembers 1/e.
func TestDrift(t *testing.T) {
	xs := series(Machine{Drift: 0.02, DriftBatches: 50, BatchesLow: 1, BatchesHigh: 1, CostLow: 1, CostHigh: 1}, 400_000)
	var squares, lagged float64
	for i, x := range xs {
		squares += x * x
		if i >= 50 {
			lagged += x * xs[i-50]
		}
	}
	if sd := math.Sqrt(squares / float64(len(xs))); math.Abs(sd-0.02) > 0.001 {
		t.Errorf("sd %v", sd)
	}
	if r := lagged / squares; math.Abs(r-1/math.E) > 0.05 {
		t.Errorf("correlation after 50 batches %v", r)
	}
}

// A second look has the cells it says, new draws, and three times the rounds.
func TestLookAgain(t *testing.T) {
	w := Clean(5)
	w.Profile, w.Looks = schedule.Standard, 2
	for _, c := range []struct{ versions, cells []int }{
		{[]int{7, 9}, []int{3, 5, 14, 15, 16, 17}},
		{[]int{18}, []int{11, 12, 13, 14, 15, 16, 17}}, // the newest: its left plateau as well
	} {
		f := w.Run().Families[0]
		w.LookAgain(&f, c.versions, []int{15, 16, 17})
		if !slices.Equal(f.Look.Cells, c.cells) {
			t.Errorf("%v: cells %v", c.versions, f.Look.Cells)
		}
		looks := f.Looks()
		if len(looks) != 2 || len(looks[0].BlockRuns) != 12 || len(looks[1].BlockRuns) != 24 {
			t.Fatalf("%v: %d looks", c.versions, len(looks))
		}
		rounds := 0
		for _, b := range looks[1].BlockRuns {
			rounds += len(b.Orders)
			if b.Draw < 3 || len(b.Batches) != len(b.Orders)*len(c.cells) {
				t.Errorf("draw %d: %d batches in %d rounds", b.Draw, len(b.Batches), len(b.Orders))
			}
		}
		if rounds < 3*12*18 {
			t.Errorf("%d rounds", rounds)
		}
	}
}

func TestBadDesigns(t *testing.T) {
	w := Clean(6)
	w.Noise, w.State, w.FixedOrder, w.BatchNs = 0, 0, true, 46*22.8e3
	w.RequestsOf = func(version int) int {
		if version == 9 {
			return 23
		}
		return 46
	}
	b := w.Run().Families[0].BlockRuns[0]
	for i, batch := range b.Batches[:18] {
		if batch.Cell != i || batch.Position != i {
			t.Errorf("batch %d is of cell %d at %d", i, batch.Cell, batch.Position)
		}
	}
	perRequest := func(i int) float64 { return float64(b.Batches[i].CPUNs) / float64(b.Batches[i].Requests) }
	// 228 us and a tenth of it, or two tenths where a batch has half the requests.
	if ratio := perRequest(5) / perRequest(4); math.Abs(ratio-1.2/1.1) > 0.001 {
		t.Errorf("v9 costs %v times what v8 does", ratio)
	}
}
