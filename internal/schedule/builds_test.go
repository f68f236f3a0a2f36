package schedule

import (
	"slices"
	"testing"
)

func TestLayoutsAreDrawnAndNeverShared(t *testing.T) {
	for _, n := range []int{6, 12, 20, 50} {
		drawn := Layouts(7, 2, n)
		all := slices.Concat(drawn...)
		slices.Sort(all)
		if len(drawn) != 2 || len(drawn[0]) != n || len(slices.Compact(all)) != 2*n || all[0] < 1 {
			t.Errorf("%d layouts of two builds: %v", n, drawn)
		}
		if !slices.Equal(drawn[1], Layouts(7, 2, n)[1]) || slices.Equal(drawn[0], Layouts(8, 2, n)[0]) {
			t.Errorf("%d layouts don't follow the seed", n)
		}
	}
}

// Each round has every cell of both builds once, in four turns; both builds have each cell at each place of their own row equally often over
// the forks' whole squares, and begin equally often.
func TestOrdersOfTwoBuilds(t *testing.T) {
	const cells, forks = 18, 4
	places := map[[2]int]int{}
	begins := map[bool]int{}
	for fork := range forks {
		for _, order := range OrdersOfTwo(7, "f", 0, fork, forks, cells, 1) {
			sorted := slices.Sorted(slices.Values(order))
			if len(sorted) != 2*cells || sorted[0] != 0 || sorted[2*cells-1] != 2*cells-1 || len(slices.Compact(sorted)) != 2*cells {
				t.Fatalf("a round has %v", order)
			}
			turns, own := 0, [2]int{}
			for i, cell := range order {
				build := cell / cells
				if i == 0 || order[i-1]/cells != build {
					turns++
				}
				places[[2]int{cell, own[build]}]++
				own[build]++
			}
			if turns != 4 {
				t.Errorf("%d turns in %v", turns, order)
			}
			begins[order[0] >= cells]++
		}
	}
	for at, n := range places {
		if n != forks {
			t.Errorf("cell %d stands %d times at place %d, want %d", at[0], n, at[1], forks)
		}
	}
	if begins[true] != begins[false] {
		t.Errorf("builds begin %v times", begins)
	}
	if got := takeTurns([]int{2, 0, 1, 3}, true); !slices.Equal(got, []int{6, 4, 2, 0, 5, 7, 1, 3}) {
		t.Errorf("turns of four cells: %v", got)
	}
}
