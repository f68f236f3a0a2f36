package stats

import (
	"math"
	"testing"
)

// Three cells of levels 0, 1 and 2 in turn. One batch is 0.5 too dear: its neighbours, with levels taken out, are all 0, so its excess is 0.5. Each of its own
// neighbours sees one raised batch among four (or, at the ends, among three and two), of which the middle is still 0, but in a pair it is half of it.
func TestExcesses(t *testing.T) {
	levels := []float64{0, 1, 2}
	stretch := make([]Sample, 9)
	for i := range stretch {
		stretch[i] = Sample{Cell: i % 3, Ln: levels[i%3]}
	}
	stretch[4].Ln += 0.5
	alone := []Sample{{0, 7}}
	// The second of a pair of the same cell has no neighbour of another cell but one.
	few := []Sample{{0, 0}, {0, 3}, {1, 1}}
	got, spread := Excesses([][]Sample{stretch, alone, few}, levels)
	want := [][]float64{{0, 0, 0, 0, 0.5, 0, 0, 0, 0}, {0}, {0, 0, -1.5}}
	for s := range want {
		for i, w := range want[s] {
			if math.Abs(got[s][i]-w) > 1e-12 {
				t.Errorf("stretch %d batch %d: %g, want %g", s, i, got[s][i], w)
			}
		}
	}
	if spread != 0 {
		t.Errorf("spread %g: eight of ten excesses are 0", spread)
	}
	if _, spread := Excesses(nil, nil); spread != 0 {
		t.Errorf("nothing spreads by %g", spread)
	}
}

// A burst that is longer than a few batches is in the neighbours, too: only its edges stand out, by half of it at most.
func TestExcessesOfABurst(t *testing.T) {
	stretch := make([]Sample, 30)
	for i := range stretch {
		stretch[i] = Sample{Cell: i % 5}
		if i >= 10 && i < 20 {
			stretch[i].Ln = 1
		}
	}
	got, _ := Excesses([][]Sample{stretch}, make([]float64, 5))
	for i, excess := range got[0] {
		switch edge := i == 10 || i == 19; {
		case edge && math.Abs(excess-0.5) > 1e-12, !edge && excess > 0:
			t.Errorf("batch %d: %g", i, excess)
		}
	}
}

// The spread is that of most batches, whatever the rest do: alternating +-0.1 has median of absolutes near 0.1, and a tenth of batches far off hardly moves it.
func TestExcessesSpreadIgnoresFarBatches(t *testing.T) {
	quiet, torn := make([]Sample, 200), make([]Sample, 200)
	for i := range quiet {
		quiet[i] = Sample{Cell: i % 4, Ln: 0.01 * float64(i*37%11)}
		torn[i] = quiet[i]
		if i%10 == 0 {
			torn[i].Ln += 2
		}
	}
	_, a := Excesses([][]Sample{quiet}, make([]float64, 4))
	excesses, b := Excesses([][]Sample{torn}, make([]float64, 4))
	if a <= 0 || b > 1.5*a {
		t.Errorf("spread %g, with far batches %g", a, b)
	}
	far := 0
	for _, excess := range excesses[0] {
		if excess >= FarFrom(b) {
			far++
		}
	}
	if far != 20 {
		t.Errorf("%d batches are far, want 20", far)
	}
}
