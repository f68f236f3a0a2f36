package tiers

import (
	"path/filepath"
	"time"

	"protocolbench/internal/schedule"
	"protocolbench/pin"
)

// Listed is one family as --list shows it.
type Listed struct {
	Name     string
	Tier     int
	Cells    int
	Deciding bool
	Margin   float64
	Expected time.Duration
	// Group is what the API of a message alone belongs to; "" elsewhere.
	Group string
}

// sanityRounds is how many batches a block of tier 2 takes, so that a client that keeps what it got has the time to show it.
const sanityRounds = 24

// Times beside the blocks, measured on a 2-core machine with a warm jar cache; only the expected time rests on them.
const (
	brokerExpected = 8 * time.Second // start, probe, controls, stop
	fillExpected   = 1500 * time.Millisecond
)

// extraCells are two twins and the canary.
const extraCells = 3

// usualVersions are counted as long as no worker was asked: --list starts none.
var usualVersions = map[string]int{pin.Produce.Name: 11, pin.Fetch.Name: 15}

// List says what a run of c would do, without starting anything.
func List(c Config) ([]Listed, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	s := &session{Config: c, embedded: c.Broker == "embedded"}
	s.budget, _ = schedule.BudgetOf(c.Profile)
	var list []Listed
	for _, f := range s.chosen(s.embedded) {
		n := s.cellsOf(f)
		draws, forks := s.repeatsOf(f)
		group := ""
		if f.message != nil {
			group = f.message.Group
		}
		list = append(list, Listed{Group: group, Name: f.name(), Tier: f.tier, Cells: n, Deciding: f.deciding, Margin: f.margin,
			Expected: time.Duration(draws*forks) * s.blockExpected(f, n)})
	}
	return list, nil
}

// cellsOf is the number of cells that a family will have if every version of the client can be pinned.
func (s *session) cellsOf(f family) int {
	if f.tier == 2 {
		return 1
	}
	low, high := f.api.Floor, f.api.Floor+usualVersions[f.api.Name]-1
	if f.message != nil {
		high = f.message.Newest
	}
	for i, side := range s.sides {
		switch r := side.implemented(f.api); {
		case r == pin.None:
		case i == 0 && f.message == nil:
			high = r[1]
		default:
			high = min(high, r[1])
		}
	}
	if asked := s.asked(f.api); asked != pin.None {
		low, high = max(low, asked[0]), min(high, asked[1])
	}
	var pinned []int
	for v := low; v <= high; v++ {
		pinned = append(pinned, v)
	}
	n := len(f.some(pinned)) + extraCells
	if s.Baseline != nil {
		n *= 2
	}
	return n
}

func (s *session) blockExpected(f family, cells int) time.Duration {
	work := schedule.Work{Tier: f.tier, Cells: cells, Rounds: s.rounds(f, cells), Blocks: 1, BatchTarget: f.batchTarget}
	if s.Baseline != nil && f.tier < 2 {
		work.Primes = schedule.PrimesPerRound
	}
	if f.message != nil {
		return schedule.EstimateBlockAt(work, apiCosts(cells))
	}
	return schedule.EstimateBlock(work)
}

// rounds is how many rounds a block has.
func (s *session) rounds(f family, cells int) int {
	if f.tier == 2 {
		return sanityRounds
	}
	if s.Baseline != nil {
		cells /= 2 // the square is that of one build's cells
	}
	return schedule.Rounds(cells, s.squares(f, cells))
}

// squares is how much of a Williams square a block takes. The forks of a draw make whole ones together, with half a square each as with one.
func (s *session) squares(f family, cells int) float64 {
	squares := s.budget.Squares
	if f.message != nil {
		return apiSquares(cells)
	}
	if f.half(cells) && s.Profile == schedule.Standard || f.long {
		squares = min(squares, 0.5)
	}
	if f.wholeSquares {
		squares = max(1, squares)
	}
	return squares
}

func (b *block) orders(forks, cells int) [][]int {
	if second := b.f.second; second != nil {
		return schedule.Orders(b.Seed, b.where.Family, b.where.Draw, b.where.Fork, second.Forks, cells, second.Squares)
	}
	if b.f.tier < 2 && len(b.sides) > 1 {
		return schedule.OrdersOfTwo(b.Seed, b.where.Family, b.where.Draw, b.where.Fork, forks, cells/2, b.squares(b.f.family, cells/2))
	}
	if b.f.tier < 2 {
		return schedule.Orders(b.Seed, b.where.Family, b.where.Draw, b.where.Fork, forks, cells, b.squares(b.f.family, cells))
	}
	single := make([][]int, sanityRounds)
	for i := range single {
		single[i] = []int{0}
	}
	return single
}

// expected is the time of some tiers, without second looks.
func (s *session) expected(tiers []int) time.Duration {
	var sum time.Duration
	for _, tier := range tiers {
		if tier > 0 && !s.Attached() {
			sum += brokerExpected
		}
		draws, _ := s.repeats(tier)
		for _, f := range s.able() {
			if f.tier != tier {
				continue
			}
			draws, forks := s.repeatsOf(f)
			sum += time.Duration(draws*forks) * s.blockExpected(f, s.cellsOf(f))
		}
		if tier > 0 {
			sum += time.Duration(draws) * fillExpected
		}
	}
	return sum
}

func (s *session) recordPath() string { return filepath.Join(s.dir, "run.jsonl") }
