package schedule

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

const family = "tier1/fetch/size=64KiB/bare"

func TestBudgets(t *testing.T) {
	for profile, want := range map[string]Budget{
		"quick": {"quick", 1, 4, 0.5, 1, 2 * time.Minute}, "standard": {"standard", 3, 4, 1, 2, 30 * time.Minute}, "release": {"release", 5, 4, 1, 2, 2 * time.Hour},
	} {
		if got, err := BudgetOf(profile); err != nil || got != want {
			t.Errorf("%s: %+v, %v", profile, got, err)
		}
	}
	if _, err := BudgetOf("fast"); err == nil || !strings.Contains(err.Error(), "quick, standard, release") {
		t.Errorf("an unknown profile: %v, want the known ones", err)
	}
}

func TestRounds(t *testing.T) {
	for _, c := range []struct {
		cells   int
		squares float64
		want    int
	}{{18, 0.5, 9}, {14, 0.5, 7}, {18, 1, 18}, {17, 0.5, 9}, {1, 0.5, 1}, {18, 3, 54}, {0, 1, 0}} {
		if got := Rounds(c.cells, c.squares); got != c.want {
			t.Errorf("Rounds(%d, %v) = %d, want %d", c.cells, c.squares, got, c.want)
		}
	}
}

// Over the forks of a draw each cell stands at each position equally often and follows each other cell equally often.
func TestForksOfADrawAreBalanced(t *testing.T) {
	for _, b := range Budgets() {
		for cells := 1; cells <= 20; cells++ {
			if cells%2 == 1 && b.Squares < 1 {
				continue // has two rows too many: TestOddHalfSquares
			}
			t.Run(fmt.Sprintf("%s/%d", b.Profile, cells), func(t *testing.T) {
				at, after := count(b, cells)
				want := b.Forks * Rounds(cells, b.Squares) / cells
				for where, n := range at {
					if n != want {
						t.Fatalf("cell %d stands %d times at position %d, want %d", where[1], n, where[0], want)
					}
				}
				for pair, n := range after {
					if n != want {
						t.Fatalf("cell %d comes %d times after %d, want %d", pair[1], n, pair[0], want)
					}
				}
				if len(at) != cells*cells || len(after) != cells*(cells-1) {
					t.Fatalf("%d places and %d pairs of %d and %d", len(at), len(after), cells*cells, cells*(cells-1))
				}
			})
		}
	}
}

func count(b Budget, cells int) (at, after map[[2]int]int) {
	at, after = map[[2]int]int{}, map[[2]int]int{}
	for fork := range b.Forks {
		for _, row := range Orders(7, family, 0, fork, b.Forks, cells, b.Squares) {
			for i, cell := range row {
				at[[2]int{i, cell}]++
				if i > 0 {
					after[[2]int{row[i-1], cell}]++
				}
			}
		}
	}
	return at, after
}

func TestOddHalfSquares(t *testing.T) {
	b, _ := BudgetOf(Quick)
	for cells := 3; cells <= 19; cells += 2 {
		at, _ := count(b, cells)
		for where, n := range at {
			if n < 2 || n > 4 {
				t.Errorf("%d cells: cell %d stands %d times at position %d, want 2, and up to 4 by the two rows more", cells, where[1], n, where[0])
			}
		}
	}
}

func TestOrdersAreRoundsOfAllCells(t *testing.T) {
	for _, row := range Orders(7, family, 2, 3, 4, 18, 1) {
		sorted := slices.Sorted(slices.Values(row))
		for i, cell := range sorted {
			if cell != i {
				t.Fatalf("round %v misses a cell", row)
			}
		}
	}
	if n := len(Orders(7, family, 0, 0, 4, 18, 0.5)); n != 9 {
		t.Errorf("half a square of 18 has %d rounds", n)
	}
	if Orders(7, family, 0, 4, 4, 18, 1) != nil || Orders(7, family, 0, 0, 4, 0, 1) != nil {
		t.Error("a fork that isn't there, or no cells, have to give no orders")
	}
}

func TestSameSeedSameOrderAndOtherwiseNot(t *testing.T) {
	base := Orders(7, family, 0, 0, 4, 18, 1)
	if !reflect.DeepEqual(base, Orders(7, family, 0, 0, 4, 18, 1)) {
		t.Error("the same seed gives another order")
	}
	for name, other := range map[string][][]int{
		"seed": Orders(8, family, 0, 0, 4, 18, 1), "family": Orders(7, "x", 0, 0, 4, 18, 1),
		"draw": Orders(7, family, 1, 0, 4, 18, 1), "fork": Orders(7, family, 0, 1, 4, 18, 1),
	} {
		if reflect.DeepEqual(base, other) {
			t.Errorf("another %s gives the same order", name)
		}
	}
	opening := Opening(7, family, 0, 0, 18)
	if !reflect.DeepEqual(opening, Opening(7, family, 0, 0, 18)) || reflect.DeepEqual(opening, Opening(7, family, 0, 1, 18)) {
		t.Error("opening order has to follow seed and fork")
	}
}

// Golden: what --seed replays.
func TestOrdersGolden(t *testing.T) {
	got := fmt.Sprint(Orders(7, family, 0, 1, 4, 6, 0.5), Opening(7, family, 0, 1, 6), Placement(Placements(7, family, 0, 1)))
	if want := "[[5 3 1 2 0 4] [1 5 0 3 4 2] [4 0 2 1 3 5]] [5 0 2 4 3 1] 3967991444915096"; got != want {
		t.Errorf("got %s, golden %s", got, want)
	}
}

func TestWarmEnough(t *testing.T) {
	flat := []float64{100, 101, 99, 100, 500} // one hiccup
	for _, c := range []struct {
		name              string
		previous, current []float64
		want              bool
	}{
		{"flat", flat, []float64{102, 103, 101, 102, 102}, true},
		{"falling by 4 %", flat, []float64{96, 96, 96, 96, 96}, false},
		{"exactly 3 %", flat, []float64{103, 103, 103, 103, 103}, true},
		{"a quick window", flat[:QuickWindow], flat[:QuickWindow], true},
		{"short window", flat[:QuickWindow-1], flat, false},
		{"no window", nil, nil, false},
		{"no time measured", make([]float64, 5), make([]float64, 5), false},
		{"not numbers", []float64{math.NaN(), math.NaN(), math.NaN(), 1, 1}, flat, false},
	} {
		if got := WarmEnough(c.previous, c.current, WarmTolerance); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// 2 rounds of 3 cells of 10 ms at 2 ms wall per ms and 1 ms each: 6 x 21 = 126 ms. Warm: 10 rounds of 3 at half: 30 x 11 =
// 330 ms. Start 5, block 7, cells 3 x 2 = 6. Together 474 ms.
func TestEstimate(t *testing.T) {
	w := Work{Tier: 1, Cells: 3, Rounds: 2, Blocks: 4, BatchTarget: 10 * time.Millisecond}
	c := Costs{WorkerStart: 5 * time.Millisecond, PerBlock: 7 * time.Millisecond, PerCell: 2 * time.Millisecond, WallPerCPU: 2,
		PerBatch: time.Millisecond, WarmRounds: 10, WarmFraction: 0.5}
	if got := EstimateBlockAt(w, c); got != 474*time.Millisecond {
		t.Errorf("estimated %v, by hand 474ms", got)
	}
	if Estimate(w) != 4*EstimateBlock(w) {
		t.Error("a family of four blocks has to take four times a block")
	}
	if live, codec := EstimateBlock(w), EstimateBlock(Work{Cells: 3, Rounds: 2, BatchTarget: w.BatchTarget}); live <= codec {
		t.Errorf("a live block (%v) has to cost more than one without a broker (%v)", live, codec)
	}
}

// The forks of a draw of a second look measure whole squares together, whatever the number of cells: each cell stands at each place equally often.
func TestSecondLooksAreBalanced(t *testing.T) {
	for _, b := range Budgets() {
		for cells := 4; cells <= 21; cells++ {
			layout := Second(b, 18, cells)
			if layout.Draws != b.Draws || layout.Forks != 2*b.Forks {
				t.Fatalf("%s: %+v", b.Profile, layout)
			}
			places := make([][]int, cells)
			for i := range places {
				places[i] = make([]int, cells)
			}
			rounds := 0
			for fork := range layout.Forks {
				for _, order := range Orders(7, "tier0/fetch", b.Draws, fork, layout.Forks, cells, layout.Squares) {
					rounds++
					for place, cell := range order {
						places[cell][place]++
					}
				}
			}
			for cell, counts := range places {
				for place, n := range counts {
					if n*cells != rounds {
						t.Fatalf("%s, %d cells, %d rounds: cell %d stands %d times at place %d", b.Profile, cells, rounds, cell, n, place)
					}
				}
			}
			if each := float64(rounds) / float64(layout.Forks); each < 18 || each > 40.5 {
				t.Errorf("%s, %d cells: %.1f rounds per fork, 27 are meant", b.Profile, cells, each)
			}
		}
	}
}
