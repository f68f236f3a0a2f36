package schedule

import "math"

// A second look takes three times the first one's rounds, of the undecided cells alone. Half of the gain is in more forks: what a client keeps for as
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
	each := float64(secondRounds*rounds) / float64(secondForks)
	square := cells * (1 + cells%2)
	// Whole squares, over the forks of a draw together.
	squares := math.Ceil(each*float64(secondForks*b.Forks)/float64(square)) / float64(secondForks*b.Forks)
	return SecondLook{Draws: b.Draws, Forks: secondForks * b.Forks, Squares: squares * float64(square) / float64(cells)}
}
