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
