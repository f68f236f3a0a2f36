package verdict

import (
	"fmt"
	"math"
	"slices"

	"protocolbench/guards"
	"protocolbench/internal/record"
	"protocolbench/internal/stats"
)

// samples are a family's whole rounds: what every contrast is made of.
type samples struct {
	forks   []forkRounds
	dropped []string // rounds that were not whole, and why
	// busy rounds are left out by what the machine did, whole.
	busy int
	// levelless are forks whose levels can't be found.
	levelless []string
	rounds    int
}

type forkRounds struct {
	draw, fork int
	look       int
	busy       bool // rounds of it were left out as busy
	rounds     []wholeRound
	// levels of the cells, by stats.Levels; nil in a family of two builds, whose contrasts are made round by round.
	levels map[int]float64
}

// wholeRound has the logarithm of every cell's CPU time per record in one round.
type wholeRound struct {
	number int
	lnCost map[int]float64
	order  []int // cells as they were measured
	// place of each cell in its worker's turn, from 0; nil where one worker has all turns.
	place map[int]int
}

// samplesOf keeps a round only if every cell of the family has a usable batch in it. Dropping single batches instead would let a
// version that stumbles shed its bad rounds.
func samplesOf(family record.FamilyRun) samples {
	var s samples
	for _, look := range family.Looks() {
		s.add(look)
	}
	if family.BuildMargin > 0 {
		s.takeOutPlaces(family.Family)
	} else {
		s.findLevels()
	}
	return s
}

// add takes the rounds of one look: which cells make a round whole goes by what it measured.
func (s *samples) add(look record.FamilyRun) {
	for _, block := range look.BlockRuns {
		f := forkRounds{draw: block.Draw, fork: block.Fork, look: block.Look}
		busy := guards.BusyRounds(block)
		for _, number := range roundNumbers(block) {
			if busy[number] != "" {
				s.busy++
				f.busy = true
				continue
			}
			round, why := wholeRoundOf(look, block, number)
			if why != "" {
				s.dropped = append(s.dropped, fmt.Sprintf("draw %d fork %d round %d: %s", block.Draw, block.Fork, number, why))
				continue
			}
			f.rounds = append(f.rounds, round)
		}
		if len(f.rounds) > 0 {
			s.forks = append(s.forks, f)
			s.rounds += len(f.rounds)
		}
	}
}

// ofFirstLook are the samples without those of a second look.
func (s samples) ofFirstLook() samples {
	first := s
	first.forks = slices.DeleteFunc(slices.Clone(s.forks), func(f forkRounds) bool { return f.look >= record.SecondLook })
	return first
}

func roundNumbers(block record.BlockRun) []int {
	var numbers []int
	for b := range block.Counted() {
		if !slices.Contains(numbers, b.Round) {
			numbers = append(numbers, b.Round)
		}
	}
	slices.Sort(numbers)
	return numbers
}

func wholeRoundOf(family record.FamilyRun, block record.BlockRun, number int) (wholeRound, string) {
	var batches []record.Batch
	for b := range block.Counted() {
		if b.Round == number {
			batches = append(batches, b)
		}
	}
	slices.SortStableFunc(batches, func(a, b record.Batch) int { return a.Position - b.Position })
	round := wholeRound{number: number, lnCost: map[int]float64{}}
	for _, b := range batches {
		units := family.Units(&b)
		if b.CPUNs <= 0 || units <= 0 {
			return round, fmt.Sprintf("cell %d has %d records in %d ns of CPU", b.Cell, units, b.CPUNs)
		}
		if _, twice := round.lnCost[b.Cell]; twice {
			return round, fmt.Sprintf("cell %d stands in it twice", b.Cell)
		}
		round.lnCost[b.Cell] = math.Log(float64(b.CPUNs) / float64(units))
		round.order = append(round.order, b.Cell)
	}
	for _, c := range family.Cells {
		if _, ok := round.lnCost[c.Cell]; !ok {
			return round, fmt.Sprintf("cell %d is missing", c.Cell)
		}
	}
	if len(round.lnCost) != len(family.Cells) {
		return round, "a cell in it was never declared"
	}
	return round, ""
}

// term is the mean of some cells, times a sign.
type term struct {
	cells []int
	sign  float64
}

// combine adds terms up within rounds. The terms may depend on the fork; a fork that lacks the cells of one is left out.
func (s samples) combine(widen float64, terms func(forkRounds) []term) (stats.Contrast, []stats.Fork) {
	forks := make([]stats.Fork, 0, len(s.forks))
	var weights float64
	levelled := false
	for _, f := range s.forks {
		sum := terms(f)
		if slices.ContainsFunc(sum, func(t term) bool { return len(t.cells) == 0 || !f.has(t.cells) }) {
			continue
		}
		for _, t := range sum {
			weights += 1 / float64(len(t.cells))
		}
		if f.levels != nil {
			levelled = true
			var d float64
			for _, t := range sum {
				d += t.sign * meanOf(f.levels, t.cells)
			}
			forks = append(forks, stats.Fork{Draw: f.draw, Fork: f.fork, D: []float64{d}, Rounds: len(f.rounds)})
			continue
		}
		d := make([]float64, len(f.rounds))
		for i, r := range f.rounds {
			for _, t := range sum {
				d[i] += t.sign * meanOf(r.lnCost, t.cells)
			}
		}
		forks = append(forks, stats.Fork{Draw: f.draw, Fork: f.fork, D: d})
	}
	if levelled {
		return stats.LevelContrast(forks, weights/float64(len(forks))), forks
	}
	return stats.PairedContrast(forks, widen, weights/float64(max(1, len(forks)))), forks
}

// contrast is the mean of some cells against the mean of others, within rounds. The cells may depend on the fork.
func (s samples) contrast(widen float64, cells func(forkRounds) (of, against []int)) (stats.Contrast, []stats.Fork) {
	return s.combine(widen, func(f forkRounds) []term {
		of, against := cells(f)
		return []term{{of, 1}, {against, -1}}
	})
}

func fixed(of, against []int) func(forkRounds) (of, against []int) {
	return func(forkRounds) ([]int, []int) { return of, against }
}

func meanOf(values map[int]float64, cells []int) float64 {
	var sum float64
	for _, c := range cells {
		sum += values[c]
	}
	return sum / float64(len(cells))
}

// byPosition gives the rounds as the position test wants them.
func (s samples) byPosition() [][]stats.Round {
	blocks := make([][]stats.Round, 0, len(s.forks))
	for _, f := range s.forks {
		block := make([]stats.Round, 0, len(f.rounds))
		for _, r := range f.rounds {
			row := stats.Round{Cells: r.order, LnX: make([]float64, len(r.order))}
			for i, c := range r.order {
				row.LnX[i] = r.lnCost[c]
			}
			block = append(block, row)
		}
		blocks = append(blocks, block)
	}
	return blocks
}
