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

const (
	// turnsPerRound is how often each build's worker gets its turn in a round.
	turnsPerRound = 2
	// PrimesPerTurn is how many batches go before a turn and count for no figure.
	PrimesPerTurn = 2
	// PrimesPerRound is that of both builds in a whole round.
	PrimesPerRound = 2 * turnsPerRound * PrimesPerTurn
)

// OrdersOfTwo gives the cells of each round of one fork of two builds, which have cells each: the candidate's are 0 to cells-1, the baseline's
// follow. The builds take turns, half a row of the square at a time, both the same half; every second fork begins with the baseline.
//
// Coming back costs: while the other process worked, its memory has pushed this one's out of the caches. With 25 MB allocated in a batch the first batch
// after a change cost 30 % more, the second 10 %, the third 6 %, and so on. So turns are long, two batches prime each, and a batch's place in its
// turn is taken out of the figures (package verdict). Rejected: one square over the cells of both, in which every second batch comes after a change (the
// batches' spread rose from 3 to 8 %); strict alternation, in which every one does (the same 30 % on both sides, and a real difference of 10 %
// would read 8); one turn for a whole row (then what is compared lies a quarter of a second apart, as long as the machine's bursts).
func OrdersOfTwo(seedValue uint64, family string, draw, fork, forks, cells int, squares float64) [][]int {
	rows := Orders(seedValue, family, draw, fork, forks, cells, squares)
	for i, row := range rows {
		rows[i] = takeTurns(row, fork%2 == 1)
	}
	return rows
}

func takeTurns(row []int, baselineFirst bool) []int {
	n := len(row)
	order := make([]int, 0, 2*n)
	for turn := range turnsPerRound {
		part := row[turn*n/turnsPerRound : (turn+1)*n/turnsPerRound]
		for _, baseline := range []bool{baselineFirst, !baselineFirst} {
			for _, cell := range part {
				if baseline {
					cell += n
				}
				order = append(order, cell)
			}
		}
	}
	return order
}
