// Package schedule says what is measured in which order: how many draws, forks and rounds a profile has, the order of cells in
// each round, when a block is warm, and how long it will all take. Everything is a function of the seed and of names.
package schedule

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Profiles, in order of effort.
const (
	Quick    = "quick"
	Standard = "standard"
	Release  = "release"
)

// BatchTarget is the CPU time that one batch should take. Batches of 30 ms are 2-4 times worse: too few of them fit, and
// the machine changes under them.
const BatchTarget = 10 * time.Millisecond

// LongBatchTarget is that of families whose single requests take longer than a batch should: 100,000 records are 25 ms. Their batches are longer and
// their rounds fewer, half a square to a fork in every profile, so that they take no more time than others.
const LongBatchTarget = 30 * time.Millisecond

// Budget is how often everything is repeated.
type Budget struct {
	Profile string
	Draws   int
	Forks   int // per draw; at least 4, because with 2 the t quantile alone is 6.3
	// Squares is how much of a square of orders each fork measures. The forks of a draw make whole squares together.
	Squares float64
	// Looks is 2 where families that stay undecided get a second look, as far as Limit allows.
	Looks int
	// Limit is the time that the whole run may take. It holds back second looks only: what was promised for the first is measured.
	Limit time.Duration
}

// Budgets is the one place with the profiles' sizes.
func Budgets() []Budget {
	return []Budget{
		{Profile: Quick, Draws: 1, Forks: 4, Squares: 0.5, Looks: 1, Limit: 2 * time.Minute},
		{Profile: Standard, Draws: 3, Forks: 4, Squares: 1, Looks: 2, Limit: 30 * time.Minute},
		{Profile: Release, Draws: 5, Forks: 4, Squares: 1, Looks: 2, Limit: 2 * time.Hour},
	}
}

// BudgetOf finds a profile's budget by its name.
func BudgetOf(profile string) (Budget, error) {
	var names []string
	for _, b := range Budgets() {
		if b.Profile == profile {
			return b, nil
		}
		names = append(names, b.Profile)
	}
	return Budget{}, fmt.Errorf("unknown profile %q: choose one of %s", profile, strings.Join(names, ", "))
}

// Blocks is the number of blocks of each family.
func (b Budget) Blocks() int { return b.Draws * b.Forks }

// Rounds is the number of rounds of one fork: squares times the number of cells, rounded up.
func Rounds(cells int, squares float64) int {
	return int(math.Ceil(float64(cells)*squares - 1e-9))
}
