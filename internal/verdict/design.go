package verdict

import (
	"fmt"
	"math"
	"slices"
)

// checkDesign looks at the record for the two ways of measuring that make differences out of nothing, and that nothing else here can see: what they
// do is the same in every round, fork and draw, so intervals stay narrow, twins alike and the position test silent (a cell's place can't be told from the cell).
// The guards find other batches than declared as well; a judge that is asked about the figures alone must not call a version slower for them.
func (j *judgement) checkDesign() {
	if number, places, unbalanced := j.unbalanced(); unbalanced {
		j.spoilt = append(j.spoilt, fmt.Sprintf("the order was not drawn: cell %d stood %.1f places from the middle of the round on average, so a place can't be told from a version", number, places))
		j.warning("the order of measurement is not balanced", "take the orders of package schedule, whole squares of them")
	}
	if of, other, unlike := j.unlikeBatches(); unlike {
		j.spoilt = append(j.spoilt, fmt.Sprintf("batches are not alike: cell %d has %d requests in one, cell %d has %d, so what a batch costs beside its requests looks like a version's cost",
			of.cell, of.requests, other.cell, other.requests))
		j.warning("cells were measured in batches of different sizes", "take the number of requests per batch from the reference, and the same for every cell")
	}
}

// unbalanced finds the cell whose mean place lies furthest from the middle. Whole squares have 0 for all, and dropped rounds make little of it: a quarter of the round is four
// standard errors of orders that were only shuffled, over one and a half times as many rounds as there are cells. With fewer, of a run that ended early, nothing is said. A
// drift within the round shifts such a cell by a quarter of itself.
func (j *judgement) unbalanced() (cell int, places float64, found bool) {
	sums := map[int]float64{}
	seen := map[int]int{}
	width, rounds := 0, 0
	for _, f := range j.lastLook().forks { // each look has squares of its own cells
		for _, r := range f.rounds {
			rounds++
			width = len(r.order)
			for place, c := range r.order {
				sums[c] += float64(place) - float64(width-1)/2
				seen[c]++
			}
		}
	}
	if 2*rounds < 3*width || width < 4 {
		return 0, 0, false
	}
	for _, c := range j.Cells {
		if mean := sums[c.Cell] / float64(max(1, seen[c.Cell])); math.Abs(mean) > math.Abs(places) {
			cell, places = c.Cell, mean
		}
	}
	return cell, places, math.Abs(places) > float64(width)/4
}

type batchSize struct{ cell, requests int }

// unlikeBatches compares what most batches of a cell had: a single one that lost a request is the guards' business.
func (j *judgement) unlikeBatches() (of, other batchSize, found bool) {
	counts := map[int]map[int]int{}
	for _, block := range j.BlockRuns {
		for b := range block.Counted() {
			if counts[b.Cell] == nil {
				counts[b.Cell] = map[int]int{}
			}
			counts[b.Cell][b.Requests]++
		}
	}
	var sizes []batchSize
	for _, c := range j.Cells {
		usual := batchSize{cell: c.Cell}
		for requests, n := range counts[c.Cell] {
			if most := counts[c.Cell][usual.requests]; n > most || n == most && requests > usual.requests {
				usual.requests = requests
			}
		}
		if usual.requests > 0 {
			sizes = append(sizes, usual)
		}
	}
	i := slices.IndexFunc(sizes, func(s batchSize) bool { return s.requests != sizes[0].requests })
	if i < 0 {
		return of, other, false
	}
	return sizes[0], sizes[i], true
}
