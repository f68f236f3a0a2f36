package schedule

import (
	"fmt"

	"protocolbench/seed"
)

// Orders gives the cells of each round of one fork. The forks of a draw deal out the rows of whole Williams squares; every
// square has its cells relabelled and its rows shuffled by the draw's own stream, so that no cell keeps a neighbour or a
// place over draws. A square may be shared by two forks (quick: half a square each).
//
// An odd number of cells has only a double square of 2n rows. The forks' shares still add up to whole ones when squares is
// 1; with half squares a draw ends with two rows of a further square.
func Orders(seedValue uint64, family string, draw, fork, forks, cells int, squares float64) [][]int {
	if cells < 1 || fork < 0 || fork >= forks {
		return nil
	}
	rounds := Rounds(cells, squares)
	orders := make([][]int, 0, rounds)
	var square [][]int
	at := -1
	for deal := fork * rounds; deal < (fork+1)*rounds; deal++ {
		perSquare := cells * (1 + cells%2)
		if number := deal / perSquare; number != at {
			at = number
			square = shuffledSquare(seedValue, family, draw, number, cells)
		}
		orders = append(orders, square[deal%perSquare])
	}
	return orders
}

func shuffledSquare(seedValue uint64, family string, draw, number, cells int) [][]int {
	r := seed.Stream(seedValue, fmt.Sprintf("orders/%s/draw=%d/square=%d", family, draw, number))
	label := seed.Permutation(r, cells)
	rows := seed.Williams(cells)
	shuffled := make([][]int, len(rows))
	for to, from := range seed.Permutation(r, len(rows)) {
		row := make([]int, cells)
		for i, cell := range rows[from] {
			row[i] = label[cell]
		}
		shuffled[to] = row
	}
	return shuffled
}

// Opening gives the order in which a fork opens its clients: what is opened first gets the better memory, and keeps it as
// long as it lives.
func Opening(seedValue uint64, family string, draw, fork, cells int) []int {
	return seed.Permutation(seed.Stream(seedValue, fmt.Sprintf("opening/%s/draw=%d/fork=%d", family, draw, fork)), cells)
}

// Source is a substream of the seed as far as a placement needs it.
type Source interface{ Uint64() uint64 }

// Placements is the stream of one fork's placements: one per batch, in the order of measurement, warm-up included.
func Placements(seedValue uint64, family string, draw, fork int) Source {
	return seed.Stream(seedValue, fmt.Sprintf("placement/%s/draw=%d/fork=%d", family, draw, fork))
}

// Placement draws where one batch's payload lies. 53 bits, so that a driver in a language without 64-bit integers has it
// exactly.
func Placement(stream Source) uint64 { return stream.Uint64() >> 11 }
