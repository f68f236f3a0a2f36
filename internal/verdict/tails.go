package verdict

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"protocolbench/internal/record"
	"protocolbench/internal/stats"
)

// tails looks for versions that are slow only sometimes. Levels come from a fit that leaves out what lies far off, since machines have bursts; so it leaves
// out a client, too, that is slow in one batch of five.
//
// What tells them apart is whom it hits: turns are drawn, and a burst hits whatever version has its turn. So far batches are counted, and a version is
// called slower by them if it has more of them than chance gives (by chance in one run of a thousand), if that comes back in every draw, if its mean is above by the margin or more, half
// of that by far batches, and if it is surely above by the spread of its forks. The last one keeps a client quiet that has a bad state in one fork: batches of one fork are no independent samples.
//
// Rejected: a plain mean in place of the levels. It has all bursts in it, for every version, to find what hardly any has.
func (j *judgement) tails(families int) {
	if len(j.nothing) > 0 || len(j.spoilt) > 0 {
		return
	}
	far := j.farBatches()
	plateaus := j.plateaus(j.ofFirstLook(), j.margin)
	for i := range j.versions {
		cells := fixed([]int{j.versions[i].Cell}, j.reference)
		if i == j.newest {
			cells = plateaus
		}
		if t := j.tailOf(i, cells, far); t.chance() < j.tailAlpha(families) {
			j.callTail(i, t)
		}
	}
}

// tailAlpha is what the chance of a version's far batches has to be below: rareAlpha over all versions of all families.
func (j *judgement) tailAlpha(families int) float64 {
	return rareAlpha / float64(max(1, len(j.versions))*max(1, families))
}

// farCell is what one cell's far batches of one fork add up to.
type farCell struct {
	far, batches int
	added        float64 // sum of their relative excesses
}

// farBatches counts the cells' far batches, fork by fork. Far is what is no noise, and dearer by half the margin at least: no share of smaller ones adds half of it to a mean.
func (j *judgement) farBatches() []map[int]farCell {
	forks := make([]map[int]farCell, len(j.forks))
	for n := range j.forks {
		f := &j.forks[n]
		cells := slices.Sorted(maps.Keys(f.levels))
		index, levels := map[int]int{}, make([]float64, len(cells))
		for i, cell := range cells {
			index[cell], levels[i] = i, f.levels[cell]
		}
		stretches := f.stretches(index)
		excesses, spread := stats.Excesses(stretches, levels)
		from := max(stats.FarFrom(spread), math.Log1p(j.margin/2))
		forks[n] = map[int]farCell{}
		for s, stretch := range stretches {
			for i, sample := range stretch {
				cell := cells[sample.Cell]
				c := forks[n][cell]
				c.batches++
				if excess := excesses[s][i]; excess >= from {
					c.far++
					c.added += math.Expm1(excess)
				}
				forks[n][cell] = c
			}
		}
	}
	return forks
}

func sumOf(fork map[int]farCell, cells []int) farCell {
	var sum farCell
	for _, cell := range cells {
		c := fork[cell]
		sum.far, sum.batches, sum.added = sum.far+c.far, sum.batches+c.batches, sum.added+c.added
	}
	return sum
}

// mean is by how much far batches raise the mean of all.
func (c farCell) mean() float64 { return ratio(c.added, float64(c.batches), 0) }

// tail is one version's far batches beside those of all other cells. They are counted as long gaps are; the parts are the blocks of the first look and those of the second.
type tail struct {
	longGaps
	added stats.Contrast // what far batches add to the version's mean, less what they add to the others'
	mean  stats.Contrast // its whole mean: the difference of levels that decides its word, and what far batches add
}

// tailOf compares a version with all other cells of the same forks; the reference's own clients and the canary, which is one more of them, are not among the newest's others.
func (j *judgement) tailOf(i int, contrast func(forkRounds) (of, against []int), far []map[int]farCell) tail {
	own := []int{j.versions[i].Cell}
	left := own
	if i == j.newest {
		own = j.reference
		left = append(slices.Clone(j.reference), j.layout.canary)
	}
	t := tail{longGaps: longGaps{draws: map[int]*drawGaps{}}}
	var added, means []stats.Fork
	for n, f := range j.forks {
		of, against := contrast(f)
		if !f.has(own) || !f.has(of) || len(against) == 0 || !f.has(against) {
			continue
		}
		var others []int
		for _, cell := range slices.Sorted(maps.Keys(far[n])) { // sorted: sums must not depend on a map
			if !slices.Contains(left, cell) {
				others = append(others, cell)
			}
		}
		mine, theirs := sumOf(far[n], own), sumOf(far[n], others)
		look := 0
		if f.look >= record.SecondLook {
			look = 1
		}
		t.add(f.draw, look, forkGaps{ownLong: mine.far, own: mine.batches, calmLong: theirs.far, calm: theirs.batches})
		more := math.Log1p(mine.mean()) - math.Log1p(theirs.mean())
		levels := meanOf(f.levels, of) - meanOf(f.levels, against)
		added = append(added, stats.Fork{Draw: f.draw, Fork: f.fork, D: []float64{more}, Rounds: len(f.rounds)})
		means = append(means, stats.Fork{Draw: f.draw, Fork: f.fork, D: []float64{levels + more}, Rounds: len(f.rounds)})
	}
	t.added, t.mean = stats.LevelContrast(added, 1), stats.LevelContrast(means, 1)
	return t
}

// doubt is what keeps far batches that are too many for chance from making their version slower, or "".
func (t tail) doubt(margin float64) string {
	switch {
	case asRatio(t.mean.Estimate) < margin:
		return fmt.Sprintf("its mean is above by %s, below the margin of %s", percent(asRatio(t.mean.Estimate)), percent(margin))
	case asRatio(t.added.Estimate) < margin/2:
		return fmt.Sprintf("that is below half the margin of %s", percent(margin))
	case !t.inEveryDraw():
		return "it did not come back in every draw"
	case t.added.PAbove(0) >= alpha || t.mean.PAbove(0) >= alpha:
		return "forks differ too much to be sure of its mean"
	}
	return ""
}

// inEveryDraw: in each, more far batches than chance gives, and in enough of its forks.
func (t tail) inEveryDraw() bool {
	share := stallForks
	if len(t.draws) == 1 {
		share = 1
	}
	for _, d := range t.draws {
		if float64(d.above) < share*float64(d.forks) || chanceOfAsMany(d.parts[:]) >= alpha {
			return false
		}
	}
	return len(t.draws) > 0
}

// callTail turns a version's word where its far batches make it slower in the mean, and warns where they are there and don't. What is slower by its level has its word, and
// draws that disagree are not made to agree.
func (j *judgement) callTail(i int, t tail) {
	cell := &j.out.Cells[i]
	if cell.Verdict == Slower || j.contrasts[i].torn {
		return
	}
	size, referenceUs := asRatio(t.mean.Estimate), j.referenceNsPerRequest()/1e3
	doubt := t.doubt(j.margin)
	if doubt == "" && !isMaterial(size, referenceUs) {
		doubt = fmt.Sprintf("its mean is above by %.2f us per request, which is immaterial", size*referenceUs)
	}
	if doubt != "" {
		if asRatio(t.added.Estimate) >= materialPart {
			j.warning(fmt.Sprintf("v%d: %s; %s", j.versions[i].Version, t.text(), doubt), "run again, or with a longer --profile, and if it is this version again, look at what it does now and then")
		}
		return
	}
	low, high, _ := t.mean.Interval(level)
	cell.Verdict, cell.Differs, cell.MoreRounds, cell.Unbounded = Slower, false, 0, false
	cell.Difference, cell.Low, cell.High = size, asRatio(low), asRatio(high)
	cell.P = max(t.mean.PAbove(0), min(1, t.chance()*float64(len(j.versions))))
	cell.Why = fmt.Sprintf("%s [%s, %s] in the mean against the %s, margin %s: %s", percent(size), percent(cell.Low), percent(cell.High), cell.Contrast, percent(j.margin), t.text())
}

func isMaterial(difference, referenceUs float64) bool {
	return difference*referenceUs >= materialUs && difference >= materialPart
}

func (t tail) text() string {
	forks, above := 0, 0
	for _, d := range t.draws {
		forks, above = forks+d.forks, above+d.above
	}
	in := t.all()
	return fmt.Sprintf("%s of its batches are far dearer than their neighbours (others: %s), more than of others in %d of %d forks, which adds %s",
		percent(ratio(float64(in.ownLong), float64(in.own), 0)), percent(ratio(float64(in.calmLong), float64(in.calm), 0)), above, forks, percent(asRatio(t.added.Estimate)))
}
