package verdict

import (
	"fmt"
	"maps"
	"slices"

	"protocolbench/internal/stats"
)

// findLevels finds the cells' levels in each fork. A fork whose levels can't be found is left out, as one without whole rounds is.
func (s *samples) findLevels() {
	s.forks = slices.DeleteFunc(s.forks, func(f forkRounds) bool { return len(f.rounds) == 0 })
	for i := range s.forks {
		s.forks[i].findLevels()
	}
	s.forks = slices.DeleteFunc(s.forks, func(f forkRounds) bool {
		if f.levels == nil {
			if s.rounds -= len(f.rounds); f.busy {
				s.busy += len(f.rounds) // what is left of it is too little because of the machine
			}
			s.levelless = append(s.levelless, fmt.Sprintf("draw %d fork %d: its %d rounds don't connect all cells by neighbours", f.draw, f.fork, len(f.rounds)))
		}
		return f.levels == nil
	})
}

func (f *forkRounds) findLevels() {
	cells := slices.Sorted(maps.Keys(f.rounds[0].lnCost))
	index := map[int]int{}
	for i, cell := range cells {
		index[cell] = i
	}
	found, ok := stats.Levels(f.stretches(index), len(cells))
	if !ok {
		return
	}
	f.levels = map[int]float64{}
	for i, cell := range cells {
		f.levels[cell] = found[i]
	}
}

// stretches are the batches between gaps: a round that was left out is one.
func (f *forkRounds) stretches(index map[int]int) [][]stats.Sample {
	var stretches [][]stats.Sample
	for i, round := range f.rounds {
		if i == 0 || round.number != f.rounds[i-1].number+1 {
			stretches = append(stretches, nil)
		}
		last := len(stretches) - 1
		for _, cell := range round.order {
			stretches[last] = append(stretches[last], stats.Sample{Cell: index[cell], Ln: round.lnCost[cell]})
		}
	}
	return stretches
}

// has tells whether the fork measured all of the cells: a second look has only some.
func (f *forkRounds) has(cells []int) bool {
	if len(f.rounds) == 0 {
		return false
	}
	for _, cell := range cells {
		if _, ok := f.rounds[0].lnCost[cell]; !ok {
			return false
		}
	}
	return true
}
