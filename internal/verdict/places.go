package verdict

import (
	"maps"
	"slices"

	"protocolbench/internal/record"
	"protocolbench/internal/stats"
)

// polishes of means by cell and by place, one after the other, are enough for both to stand still: places and cells are nearly balanced.
const polishes = 5

// takeOutPlaces takes out of every batch what its place in the worker's turn costs. Two builds take turns, and the first batches of a turn find the
// caches full of the other's memory. Cells are balanced over places, so this moves no difference; it takes the slope of the turns out of their
// spread. Each build has its own slope, as steep as its memory is large.
//
// Medians, not means, and over all forks: a burst of the machine must not become a place's cost.
func (s samples) takeOutPlaces(family record.Family) {
	builds := map[int]string{}
	for _, c := range family.Cells {
		builds[c.Cell] = c.Build
	}
	for f := range s.forks {
		for r := range s.forks[f].rounds {
			s.forks[f].rounds[r].place = placesIn(s.forks[f].rounds[r].order, builds)
		}
	}
	for range polishes {
		levels := s.cellLevels()
		byPlace := map[string]map[int][]float64{}
		s.each(func(fork int, round wholeRound, cell int) {
			build := builds[cell]
			if byPlace[build] == nil {
				byPlace[build] = map[int][]float64{}
			}
			place := round.place[cell]
			byPlace[build][place] = append(byPlace[build][place], round.lnCost[cell]-levels[fork][cell])
		})
		costs := map[string]map[int]float64{}
		for build, places := range byPlace {
			costs[build] = centred(places)
		}
		s.each(func(_ int, round wholeRound, cell int) {
			round.lnCost[cell] -= costs[builds[cell]][round.place[cell]]
		})
	}
}

// placesIn counts each cell's place since its build's turn began.
func placesIn(order []int, builds map[int]string) map[int]int {
	places := map[int]int{}
	at := 0
	for i, cell := range order {
		if i > 0 && builds[cell] != builds[order[i-1]] {
			at = 0
		}
		places[cell] = at
		at++
	}
	return places
}

func (s samples) each(see func(fork int, round wholeRound, cell int)) {
	for f := range s.forks {
		for _, round := range s.forks[f].rounds {
			for _, cell := range round.order {
				see(f, round, cell)
			}
		}
	}
}

// cellLevels gives each cell's median in each fork.
func (s samples) cellLevels() []map[int]float64 {
	levels := make([]map[int]float64, len(s.forks))
	for f := range s.forks {
		values := map[int][]float64{}
		for _, round := range s.forks[f].rounds {
			for _, cell := range round.order {
				values[cell] = append(values[cell], round.lnCost[cell])
			}
		}
		levels[f] = map[int]float64{}
		for cell, xs := range values {
			levels[f][cell], _ = stats.MedianOf(xs)
		}
	}
	return levels
}

// centred gives the places' medians about their own mean: the level stays what it was.
func centred(places map[int][]float64) map[int]float64 {
	costs := map[int]float64{}
	var sum float64
	for place, xs := range places {
		costs[place], _ = stats.MedianOf(xs)
	}
	for _, place := range slices.Sorted(maps.Keys(places)) { // in order: a sum must not depend on a map's
		sum += costs[place]
	}
	for place := range costs {
		costs[place] -= sum / float64(len(places))
	}
	return costs
}
