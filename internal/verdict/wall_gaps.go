package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"protocolbench/internal/record"
	"protocolbench/internal/stats"
)

// What makes a gap long, and long gaps a stall.
const (
	// A gap is long when it is several times the longest that a batch of the family usually has, and as long as a whole batch is planned to be. Timers that
	// make clients wait (delayed acknowledgements, Nagle, retries, lingering) are 40 ms and more; hiccups of a machine are mostly shorter.
	longTimesUsual = 5
	longLeastNs    = 10e6
	// stallShare is by how much the share of batches with a long gap has to exceed the calm versions' in each draw. A version has 7 to 18 batches in a fork: of a
	// rarer stall most forks would see nothing or one batch, and one batch comes back anywhere on a machine with hiccups.
	stallShare = 0.10
	// Where there is one draw, a stall has to come back in all its forks; else in half the forks of every draw.
	stallForks = 0.5
	// calmCells is how many cells a version is compared with at least: as many as the reference has, since all other versions may stall.
	calmCells = 3
)

// stalls looks for versions on which a long gap came back in every draw.
//
// Each version is compared with the calm cells: those of the others that have the fewest long gaps, found in the other half of the forks, so that the
// choice knows nothing of what it is compared with. Comparing with the reference was rejected: if the newest versions all stall, so does the reference, and
// nothing would show. A machine's hiccup hits whatever version has its turn, and turns are drawn, so that the long gaps of a version and of the
// calm cells are as many as their batches say, up to chance; which is what the test asks.
func (j *judgement) stalls() {
	if len(j.nothing) > 0 {
		return
	}
	long := j.longFromNs()
	if long <= 0 {
		return
	}
	for i := range j.versions {
		g := j.gapsOf(i, long)
		if !g.shows(len(j.versions)) {
			continue
		}
		w := j.out.Cells[i].Wall
		w.Stalls = g.stalls(len(j.versions))
		text := g.text(long)
		w.Why = strings.TrimPrefix(w.Why+"; "+text, "; ")
		if !w.Stalls {
			j.warning(fmt.Sprintf("v%d: %s", j.versions[i].Version, text), "a stall of the client would come back in every draw; run again, and if it is this version again, look at what it waits for")
		}
	}
}

// longFromNs is from where on a gap is long. What is usual is the median of the calmer versions' batches: the lowest quarter of the versions' medians, for where most
// versions stall in most batches, the median of all is a stall itself.
func (j *judgement) longFromNs() int64 {
	byCell := map[int][]float64{}
	for _, block := range j.Looks()[0].BlockRuns { // it has all versions
		for b := range block.Counted() {
			byCell[b.Cell] = append(byCell[b.Cell], float64(b.LongestGapNs))
		}
	}
	var medians []float64
	for _, c := range j.versions {
		if m, ok := stats.MedianOf(byCell[c.Cell]); ok {
			medians = append(medians, m)
		}
	}
	if len(medians) == 0 {
		return 0
	}
	slices.Sort(medians)
	return int64(min(1e18, max(longLeastNs, longTimesUsual*medians[len(medians)/4])))
}

// gapsOf counts a version's long gaps and the calm cells', draw by draw. Each look has calm cells of its own: a second one has some cells only, with more batches each.
func (j *judgement) gapsOf(i int, long int64) longGaps {
	own := []int{j.versions[i].Cell}
	if i == j.newest {
		own = j.reference
	}
	g := longGaps{draws: map[int]*drawGaps{}}
	for number, look := range j.Looks() {
		var others []int
		for _, c := range look.Cells {
			if c.Role != record.RoleCanary && !slices.Contains(own, c.Cell) {
				others = append(others, c.Cell)
			}
		}
		g.addLook(number, look, own, others, long)
	}
	return g
}

func (g *longGaps) addLook(number int, look record.FamilyRun, own, others []int, long int64) {
	calm := [2][]int{}
	for half := range calm {
		calm[half] = calmest(look, others, 1-half, long)
	}
	for _, block := range look.BlockRuns {
		half := halfOf(forkRounds{draw: block.Draw, fork: block.Fork})
		var in forkGaps
		for b := range block.Counted() {
			isLong := b.LongestGapNs >= long
			switch {
			case slices.Contains(own, b.Cell):
				in.count(true, isLong)
				if isLong {
					g.lengthsNs = append(g.lengthsNs, float64(b.LongestGapNs))
				}
			case slices.Contains(calm[half], b.Cell):
				in.count(false, isLong)
			}
		}
		g.add(block.Draw, 2*number+half, in)
	}
}

// calmest are the few cells with the fewest long gaps in one half of the forks, and whichever have as few up to chance (two standard deviations of a count). Where
// one version stalls these are all others, and a quick run needs them: three cells alone are too few batches to tell its stall from hiccups of the machine.
func calmest(look record.FamilyRun, cells []int, half int, long int64) []int {
	counts := map[int]int{}
	for _, block := range look.BlockRuns {
		if halfOf(forkRounds{draw: block.Draw, fork: block.Fork}) != half {
			continue
		}
		for b := range block.Counted() {
			if b.LongestGapNs >= long {
				counts[b.Cell]++
			}
		}
	}
	if len(cells) == 0 {
		return nil
	}
	ranks := make([]int, 0, len(cells))
	for _, c := range cells {
		ranks = append(ranks, counts[c])
	}
	slices.Sort(ranks)
	few := float64(ranks[min(calmCells, len(ranks))-1])
	return slices.DeleteFunc(slices.Clone(cells), func(c int) bool { return float64(counts[c]) > few+2*math.Sqrt(few+1) })
}
