package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"protocolbench/internal/record"
	"protocolbench/internal/stats"
)

// pair is one family in both records.
type pair struct {
	a, b     compared
	inA, inB record.FamilyRun
}

type pairSide struct {
	compared
	family record.FamilyRun
}

func (p pair) sides() []pairSide { return []pairSide{{p.a, p.inA}, {p.b, p.inB}} }

// curves is a family of two records on its way to words.
type curves struct {
	a, b      curve
	versions  []int // that both have, oldest first
	reference int   // the newest of these
	margin    float64
	changes   []cellContrast // as versions: B's curve against A's
	against   [][]int
	nothing   []string
	spoilt    []string
}

// curve is one record's part.
type curve struct {
	judgement
	label     string
	contrasts []cellContrast // as curves.versions: what a version costs against others, within this run
}

// compareFamily compares what both records have of a family.
func compareFamily(p pair, refused []string, options Options) ComparedFamily {
	out := ComparedFamily{Tier: p.inA.Tier, Name: p.inA.Name, API: p.inA.API, Deciding: p.inA.Deciding && p.inB.Deciding, Reference: -1,
		Margin: max(p.inA.Margin, p.inB.Margin), Floor: Unbounded, Refused: []string{}, Cells: []ComparedCell{}, OnlyA: []int{}, OnlyB: []int{}, Warnings: []Warning{}}
	out.narrow(options.Margin)
	c := curves{a: curveOf(p.a, p.inA, out.Margin), b: curveOf(p.b, p.inB, out.Margin), margin: out.Margin}
	c.findVersions(&out)
	out.ForksA, out.ForksB = len(c.a.forks), len(c.b.forks)
	out.Refused = append(out.Refused, refusedFamily(p)...)
	out.Counters = compareCounters(p, c.versions)
	out.Doubts = blindSpots(p)
	if len(c.versions) < 2 {
		out.Refused = append(out.Refused, fmt.Sprintf("%d version is in both: a curve needs two", len(c.versions)))
	}
	if len(refused) > 0 || len(out.Refused) > 0 {
		return out
	}
	out.warnOfBatches(p)
	out.warnOfDraws(&c)
	c.measure()
	out.Reference = c.reference
	out.Floor = floorOf(c.changes)
	c.checkOwn()
	c.checkFloor(out.Floor)
	for i := range c.versions {
		out.Cells = append(out.Cells, c.cell(i))
	}
	out.blameTheReference()
	return out
}

// blameTheReference: where the reference itself rose, everything else lies lower against it and did not become faster.
func (f *ComparedFamily) blameTheReference() {
	rose := slices.ContainsFunc(f.Cells, func(c ComparedCell) bool { return c.Version == f.Reference && c.Verdict == Slower })
	for i := range f.Cells {
		f.Cells[i].Faster = f.Cells[i].Faster && !rose
	}
}

// narrow takes another margin, as Judge does: a wider one could only excuse what is known by now.
func (f *ComparedFamily) narrow(margin float64) {
	switch {
	case margin > f.Margin:
		f.Warnings = append(f.Warnings, Warning{Text: fmt.Sprintf("the margin of %s that was asked for is wider than the declared one of %s, which is kept", percent(margin), percent(f.Margin)),
			Remedy: "a margin can be widened only before the runs: protocolbench run --margin"})
	case margin > 0:
		f.Margin = margin
	}
}

// warnOfDraws: a run of one draw has one payload and one set of orders, and what such a run does to single versions in all its forks alike is in no
// interval, its own or the difference's. Of 21 pairs of quick runs of one build, 7 families kept 97 to 100 % of their 95 % intervals over 0, and
// encoding for 100 topics kept 88 %, with another version standing out in each run; the largest difference there was 5.5 %, where the margin is 10 %.
func (f *ComparedFamily) warnOfDraws(c *curves) {
	if c.a.draws() > 1 && c.b.draws() > 1 {
		return
	}
	f.Warnings = append(f.Warnings, Warning{Text: "one draw: what a single run does to single versions is not in the intervals, so a difference below the margin may be that",
		Remedy: "the margin of the quick profile covers it; for a narrower one run both with --profile standard"})
}

// warnOfBatches: the number of requests of a batch is found once per run, and now and then on a machine that is not yet warm.
func (f *ComparedFamily) warnOfBatches(p pair) {
	a, b := p.inA.RequestsPerBatch, p.inB.RequestsPerBatch
	if a > 2*b || b > 2*a {
		f.Warnings = append(f.Warnings, Warning{Text: fmt.Sprintf("a batch had %d requests in A and %d in B", a, b),
			Remedy: "one of the runs found its batches on a cold machine; run it again if its curve looks odd"})
	}
}

// curveOf judges one record's family by itself as far as that says whether its curve can be used. Of a run of two builds the candidate's cells are
// looked at; the rounds have to be whole in both builds all the same.
func curveOf(side compared, family record.FamilyRun, margin float64) curve {
	c := curve{label: side.label, judgement: judgement{FamilyRun: family, layout: layoutOf(family.Family), samples: samplesOf(family), margin: margin, widen: 1}}
	if family.Tier > 0 {
		c.widen = stats.LiveWiden
	}
	c.out.Warnings = []Warning{}
	c.lookForEnough()
	c.compare()
	c.checkFloor()
	c.checkTwins()
	c.checkCanary()
	c.checkPosition(side.families)
	return c
}

// findVersions takes what both have, and the newest of that as the reference, which has to be one and the same.
func (c *curves) findVersions(out *ComparedFamily) {
	c.reference = -1
	for _, v := range c.a.layout.versions {
		if c.b.has(v.Version) {
			c.versions = append(c.versions, v.Version)
			c.reference = v.Version
		} else {
			out.OnlyA = append(out.OnlyA, v.Version)
		}
	}
	for _, v := range c.b.layout.versions {
		if !c.a.has(v.Version) {
			out.OnlyB = append(out.OnlyB, v.Version)
		}
	}
	if c.a.Reference == c.b.Reference && slices.Contains(c.versions, c.a.Reference) {
		c.reference = c.a.Reference // it alone has three clients
	}
}

func (c *curve) has(version int) bool {
	return slices.ContainsFunc(c.layout.versions, func(f record.FamilyCell) bool { return f.Version == version })
}

// clientsOf are the cells that stand for some versions: of the run's own reference all three.
func (c *curve) clientsOf(versions ...int) []int {
	var cells []int
	for i, f := range c.layout.versions {
		if slices.Contains(versions, f.Version) {
			cells = append(cells, c.clients(i)...)
		}
	}
	return cells
}

// measure makes each version's contrast within each run, and the differences of the two.
//
// The runs are independent samples, so their variances add. Each run steadies its own errors (stats.Moderate) before: how much forks vary is a
// property of a run's machine at its time, and the two may be far apart.
func (c *curves) measure() {
	for _, v := range c.versions {
		against := []int{c.reference}
		if v == c.reference {
			against = c.companions()
		}
		c.against = append(c.against, against)
	}
	c.a.measure(c.versions, c.against, c.reference)
	c.b.measure(c.versions, c.against, c.reference)
	for i := range c.versions {
		a, b := c.a.contrasts[i], c.b.contrasts[i]
		c.changes = append(c.changes, cellContrast{Contrast: changeOf(a.Contrast, b.Contrast), torn: a.torn || b.torn})
	}
	correct(c.changes)
}

// changeOf is B's contrast less A's. Both of its errors are there, so that its bounds are the more careful of the two's as everywhere.
func changeOf(a, b stats.Contrast) stats.Contrast {
	return stats.Contrast{Estimate: b.Estimate - a.Estimate, Round: stats.AddErrors(a.Round, b.Round), Fork: stats.AddErrors(a.Fork, b.Fork), Birge: 1,
		Bounded: a.Bounded && b.Bounded, Need: cmp.Or(a.Need, b.Need), Exact: a.Exact && b.Exact, Rounds: a.Rounds + b.Rounds, Forks: min(a.Forks, b.Forks)}
}

// companions are what the reference itself is measured from: of the other versions the largest group that kept together from A to B, the newest of
// equals. A group is of neighbours, each within half a margin of the next one's change.
//
// The reference's own neighbours to the left, as within one run, would be the wrong choice here: a neighbour that alone became faster would make the
// reference look slower. Most versions are right about what did not move, if any are. All forks choose and test: the rule has no side that it
// prefers, and halves would have given each half of the forks another group.
func (c *curves) companions() []int {
	var others, group, largest []int
	for _, v := range c.versions {
		if v != c.reference {
			others = append(others, v)
		}
	}
	for i, v := range others {
		if i > 0 && math.Abs(c.b.step(others[i-1], v)-c.a.step(others[i-1], v)) > math.Log1p(c.margin)/2 {
			group = nil
		}
		group = append(group, v)
		if len(group) >= len(largest) {
			largest = group
		}
	}
	return largest
}

func (c *curve) step(from, to int) float64 {
	contrast, _ := c.contrast(1, fixed(c.clientsOf(to), c.clientsOf(from)))
	return contrast.Estimate
}

func (c *curve) measure(versions []int, against [][]int, reference int) {
	var all []stats.Contrast
	for i, v := range versions {
		contrast, forks := c.contrast(c.widen, fixed(c.clientsOf(v), c.clientsOf(against[i]...)))
		p, apart, ok := stats.Disagreement(forks)
		c.contrasts = append(c.contrasts, cellContrast{apart: apart, torn: ok && p < rareAlpha/float64(len(versions)) && apart >= math.Log1p(c.margin)})
		all = append(all, contrast)
	}
	if c.layout.canary >= 0 { // one more client to learn the spread of forks from
		canary, _ := c.contrast(c.widen, fixed([]int{c.layout.canary}, c.clientsOf(reference)))
		all = append(all, canary)
	}
	stats.Moderate(all)
	for i := range versions {
		c.contrasts[i].Contrast = all[i]
	}
}

// checkOwn: a family that its own run could not judge can't be compared.
func (c *curves) checkOwn() {
	for _, side := range []curve{c.a, c.b} {
		if len(side.nothing) > 0 {
			c.nothing = append(c.nothing, "in "+side.label+": "+strings.Join(side.nothing, "; "))
		}
		if len(side.spoilt) > 0 {
			c.spoilt = append(c.spoilt, "in "+side.label+": "+strings.Join(side.spoilt, "; "))
		}
	}
}

func (c *curves) checkFloor(floor float64) {
	if floor > c.margin && floor < Unbounded && len(c.spoilt) == 0 {
		c.spoilt = append(c.spoilt, fmt.Sprintf("the floor of %s of two runs together is above the margin of %s", percent(floor), percent(c.margin)))
	}
}
