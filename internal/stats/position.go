package stats

import "slices"

// Round is one round of a block: the logarithm of each cell's cost in the order of measurement, and which cell it was.
type Round struct {
	Cells []int
	LnX   []float64
}

// PositionTest is the outcome of PositionF.
type PositionTest struct {
	F, P   float64
	Spread float64 // largest difference between two positions' means
	OK     bool    // false: too few rounds to tell
}

// PositionF asks whether a batch's cost depends on its position in the round, after its cell's and its round's own cost are
// taken out: an F test of the residuals' means by position. Each element of blocks is one fork's rounds, since a cell's level
// may differ from fork to fork.
//
// Over whole squares positions and cells are independent and the test is exact. With half a square per fork, taking out
// the cells takes a part of the positions with it: the test then finds too little rather than too much.
func PositionF(blocks [][]Round) PositionTest {
	width := widthOf(blocks)
	if width < 2 {
		return PositionTest{P: 1}
	}
	byPosition := make([][]float64, width)
	var n, cellsAndRounds int
	for _, block := range blocks {
		residuals, parameters := residualsOf(block)
		cellsAndRounds += parameters
		for _, row := range residuals {
			n += len(row)
			for position, r := range row {
				byPosition[position] = append(byPosition[position], r)
			}
		}
	}
	v := varianceOf(byPosition)
	freedom := float64(n - cellsAndRounds - (width - 1))
	if !v.ok || freedom < 1 {
		return PositionTest{P: 1}
	}
	within := v.within * v.withinDF / freedom
	t := PositionTest{P: 1, OK: true}
	centres := make([]float64, width)
	for i, g := range byPosition {
		centres[i] = mean(g)
	}
	t.Spread = slices.Max(centres) - slices.Min(centres)
	if within > 0 {
		t.F = v.between / within
		t.P = fSurvival(t.F, v.betweenDF, freedom)
	}
	return t
}

// widthOf is the number of positions, 0 where rounds are not all alike.
func widthOf(blocks [][]Round) int {
	width := 0
	for _, block := range blocks {
		for _, round := range block {
			if width == 0 {
				width = len(round.LnX)
			}
			if len(round.LnX) != width || len(round.Cells) != width || !finiteAll(round.LnX) {
				return 0
			}
		}
	}
	return width
}

// residualsOf takes out a block's cells and rounds, and says how many parameters that cost. Every round has every cell, so
// the two are orthogonal and plain means do it.
func residualsOf(block []Round) (residuals [][]float64, parameters int) {
	sums, counts := map[int]float64{}, map[int]int{}
	var all []float64
	for _, round := range block {
		for i, cell := range round.Cells {
			sums[cell] += round.LnX[i]
			counts[cell]++
		}
		all = append(all, round.LnX...)
	}
	grand := mean(all)
	for _, round := range block {
		level := mean(round.LnX) - grand
		row := make([]float64, len(round.LnX))
		for i, cell := range round.Cells {
			row[i] = round.LnX[i] - sums[cell]/float64(counts[cell]) - level
		}
		residuals = append(residuals, row)
	}
	if len(block) == 0 {
		return nil, 0
	}
	return residuals, len(sums) + len(block) - 1
}
