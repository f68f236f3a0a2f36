package seed

import "math/rand/v2"

// Permutation gives 0 to n-1 in random order, every order equally likely (Fisher and Yates; a number modulo n would be
// biased, and a biased shuffle turns position into a version's effect). Written out and not rand.Perm, so that a new
// release of the standard library can't change what a seed means.
func Permutation(r *rand.Rand, n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for i := n - 1; i > 0; i-- {
		j := int(below(r, uint64(i+1)))
		order[i], order[j] = order[j], order[i]
	}
	return order
}

// below draws a number in [0, n) by rejection.
func below(r *rand.Rand, n uint64) uint64 {
	// 2^64 mod n numbers at the low end are one too many for some remainders.
	excess := -n % n
	for {
		if v := r.Uint64(); v >= excess {
			return v % n
		}
	}
}

// Williams gives the rows of a balanced Latin square of cells 0 to n-1 (Williams 1949). For even n there are n rows: each
// cell stands once at each position and comes once directly after each other cell. For odd n no single square can do
// that, and there are 2n rows: each cell twice at each position, twice after each other cell.
func Williams(n int) [][]int {
	if n < 1 {
		return nil
	}
	// 0, 1, n-1, 2, n-2, ...: its neighbours' differences modulo n are all different, so shifting it by every amount
	// makes every ordered pair.
	base := make([]int, n)
	for i := range base {
		if i%2 == 1 {
			base[i] = (i + 1) / 2
		} else {
			base[i] = (n - i/2) % n
		}
	}
	rows := make([][]int, 0, 2*n)
	for shift := range n {
		row := make([]int, n)
		for i, cell := range base {
			row[i] = (cell + shift) % n
		}
		rows = append(rows, row)
	}
	if n%2 == 1 {
		for shift := range n {
			mirror := make([]int, n)
			for i, cell := range rows[shift] {
				mirror[n-1-i] = cell
			}
			rows = append(rows, mirror)
		}
	}
	return rows
}
