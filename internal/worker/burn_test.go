package worker

import "testing"

// Whatever is planted, a batch burns all of it, in pieces that are long enough to cost what they should, but for the last one.
func TestBurnIsWholeAndInLongPieces(t *testing.T) {
	for _, each := range []int64{0, 1, 13, 40, leastSpins - 1, leastSpins, 5 * leastSpins} {
		for _, requests := range []int{1, 2, 61, 1000} {
			b := burn{each: each}
			var sum, pieces int64
			for i := range requests {
				due := b.due(i == requests-1)
				if due != 0 && due < leastSpins && i < requests-1 {
					t.Fatalf("%d each: a piece of %d after request %d", each, due, i)
				}
				if due != 0 {
					pieces++
				}
				sum += due
			}
			if want := each * int64(requests); sum != want || b.owed != 0 {
				t.Errorf("%d each, %d requests: %d iterations and %d owed, want %d", each, requests, sum, b.owed, want)
			}
			if each >= leastSpins && pieces != int64(requests) {
				t.Errorf("%d each: %d pieces after %d requests", each, pieces, requests)
			}
		}
	}
}
