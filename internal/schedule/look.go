package schedule

import "math"

// A second look takes about three times the first one's rounds, of the undecided cells alone. Half of the gain is in more forks: what a client keeps for as
// long as it lives is as large as the noise of batches, and only further clients average it out. So each draw has twice the forks, with half as
// many rounds again each.
const (
	secondRounds = 3
	secondForks  = 2
)

// SecondLook is how a second look is laid out.
type SecondLook struct {
	Draws, Forks int     // Forks per draw
	Squares      float64 // per fork, of a square over its own cells
}

// Second lays out a second look at some cells of a family whose first look had a budget and a number of rounds per block. Draws are numbered on from the first
// look's: their contents and orders are new.
func Second(b Budget, rounds, cells int) SecondLook {
	forks := secondForks * b.Forks
	square := cells * (1 + cells%2)
	step := square / divisor(square, forks) // so many rounds of each fork make whole squares of a draw
	steps := max(1, math.Round(float64(secondRounds*rounds)/float64(secondForks*step)))
	return SecondLook{Draws: b.Draws, Forks: forks, Squares: steps * float64(step) / float64(cells)}
}

// divisor is the greatest common one.
func divisor(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
