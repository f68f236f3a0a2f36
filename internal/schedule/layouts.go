package schedule

import "protocolbench/seed"

// LayoutPool is how many layouts there are to draw from. A fixed pool lets later runs find their workers linked already; twice as many as
// the largest profile needs, so that which ones a run gets is a draw.
const LayoutPool = 80

// LeastLayouts is how many pairs of layouts a run of two builds has at least: layout is a random factor of its intervals, and its
// spread has to be known.
const LeastLayouts = 6

// Layouts draws n layout numbers for each build, from 1 on. No number is given twice: builds of one source that shared one
// would be one program, and no difference between them would prove nothing.
func Layouts(seedValue uint64, builds, n int) [][]int {
	order := seed.Permutation(seed.Stream(seedValue, "layouts"), max(LayoutPool, builds*n))
	drawn := make([][]int, builds)
	for i := range drawn {
		for _, number := range order[i*n : (i+1)*n] {
			drawn[i] = append(drawn[i], number+1)
		}
	}
	return drawn
}
