package verdict

import (
	"fmt"
	"math"
	"strings"

	"protocolbench/guards"
	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/stats"
)

// Names of contrasts.
const (
	contrastNewest  = "newest"       // an older version against the reference's three clients
	contrastPlateau = "left plateau" // the newest against the versions left of it
)

// Thresholds of METHOD.md section 3 that are not a family's own.
const (
	level        = 0.95
	alpha        = 0.05
	materialUs   = 1.0  // per request
	materialPart = 0.01 // of the client's cost at that shape
	// rareAlpha is for alarms that make a family unresolvable. They guard against a broken set-up, not against noise, and a clean
	// client has to pass; so they are rare by chance (divided by the number of tests) and also have to be of a size that
	// could turn a verdict.
	rareAlpha = 0.001
)

// judgement is one family's way from samples to words.
type judgement struct {
	record.FamilyRun
	layout
	samples
	out       Family
	margin    float64 // ratio
	widen     float64
	alpha     float64        // what the judgement may err by
	contrasts []cellContrast // as layout.versions
	canary    stats.Contrast
	grounds
	first *judgement // that of the first look, where this one is of both together
}

// grounds keep versions from a word, or give those that have none a name.
type grounds struct {
	// nothing is why there is not enough to judge (unresolved); spoilt why no amount of it would do (unresolvable).
	nothing []string
	spoilt  []string
	coarse  string // the floor is above the margin: what an undecided version is called then; "" where it isn't
}

// runFacts is what a family's judgement has to know of its run.
type runFacts struct {
	seed     uint64
	families int // for alarms over all of them
	looks    int // that were planned
}

// judgeFamily judges a family of tier 0 or 1.
func judgeFamily(run record.FamilyRun, margin float64, facts runFacts) *judgement {
	if run.BuildMargin > 0 {
		return judgeBuilds(*newJudgement(run, margin, alpha), buildMarginOf(run.Family, margin), facts.families)
	}
	j := judgeLooks(run, margin, facts)
	j.warn()
	for i, c := range j.versions {
		j.out.Cells = append(j.out.Cells, j.cell(i, c))
	}
	j.tails(facts.families)
	j.wall()
	j.out.Steps = j.steps(facts.seed)
	j.out.Dearer = j.dearer(j.out.Steps)
	j.warnOfOpen()
	j.out.Limits = j.limitsOf(facts.seed)
	return j
}

func newJudgement(run record.FamilyRun, margin, alpha float64) *judgement {
	j := &judgement{FamilyRun: run, layout: layoutOf(run.Family), samples: samplesOf(run), margin: margin, widen: 1, alpha: alpha}
	if run.Tier > 0 {
		j.widen = stats.LiveWiden
	}
	j.out = Family{Tier: run.Tier, Name: run.Name, API: run.API, Mode: run.Mode, Message: run.Message, Group: run.Group, Reference: run.Reference, Margin: margin,
		Deciding: run.Deciding, Warnings: []Warning{}, Steps: []Step{}, Looks: 1, Cells: []Cell{}, Rounds: j.samples.rounds, Forks: len(j.forks), Draws: j.draws()}
	if run.Shape.Polls() {
		j.out.Unit = UnitRequest
	}
	return j
}

// examine makes the contrasts, and looks for what would spoil them.
func (j *judgement) examine(families int) {
	j.lookForEnough()
	j.checkDesign()
	j.compare()
	j.checkFloor()
	j.checkTwins()
	j.checkCanary()
	j.checkPosition(families)
}

const onlyOneVersion = "only one version: there is nothing to compare it with"

// buildMarginOf is the declared one, or the one asked for of a judge where that is narrower, and never below what layouts make by themselves.
func buildMarginOf(f record.Family, margin float64) float64 {
	if margin < f.Margin {
		return max(LeastBuildMargin, min(f.BuildMargin, margin))
	}
	return f.BuildMargin
}

func (j *judgement) draws() int {
	seen := map[int]bool{}
	for _, f := range j.forks {
		seen[f.draw] = true
	}
	return len(seen)
}

// lookForEnough finds what keeps a family from being judged at all.
func (j *judgement) lookForEnough() {
	for _, block := range j.BlockRuns {
		for _, f := range block.Faults {
			if f.What != record.FaultUser {
				j.nothing = append(j.nothing, fmt.Sprintf("%s fault in draw %d fork %d: %s", f.What, block.Draw, block.Fork, f.Text))
			}
		}
	}
	switch {
	case len(j.forks) == 0:
		j.nothing = append(j.nothing, "it was not measured")
	case len(j.forks) < 2:
		j.nothing = append(j.nothing, "only one fork has a whole round; at least 2 are needed")
	}
	switch {
	case j.newest < 0:
		j.nothing = append(j.nothing, fmt.Sprintf("no cell of the reference version %d", j.Reference))
	case len(j.versions) < 2:
		j.nothing = append(j.nothing, onlyOneVersion)
	}
	if j.margin <= 0 {
		j.nothing = append(j.nothing, "no margin was declared")
	}
	if why := guards.TooBusy(j.FamilyRun); why != "" {
		j.spoilt = append(j.spoilt, why)
	}
}

// checkTwins: clients of one version that differ by the margin show that the set-up makes differences of that size by
// itself. The twins are not versions and are never called slower.
func (j *judgement) checkTwins() {
	twins := j.twins(j.samples, j.widen)
	var ps []float64
	for _, c := range twins {
		j.out.Twin = max(j.out.Twin, asRatio(math.Abs(c.Estimate)))
		ps = append(ps, twoSided(c))
	}
	for i, p := range stats.Holm(ps) {
		if size := asRatio(math.Abs(twins[i].Estimate)); twins[i].Bounded && p < alpha && size >= j.margin {
			j.spoilt = append(j.spoilt, fmt.Sprintf("clients of the same version differ by %s", percent(size)))
			return
		}
	}
}

// twoSided is the p-value against "no difference" in either direction. 1-PAbove(0) is not that of the other side: PAbove is the more careful of
// two standard errors', and its complement the more careless.
func twoSided(c stats.Contrast) float64 {
	c.Estimate = math.Abs(c.Estimate)
	return min(1, 2*c.PAbove(0))
}

func (j *judgement) checkPosition(families int) {
	test := stats.PositionF(j.lastLook().byPosition())
	j.out.Position = Position{P: test.P, Spread: asRatio(test.Spread)}
	if test.OK && test.P < rareAlpha/float64(max(1, families)) && j.out.Position.Spread >= j.margin/2 {
		j.out.Position.Alarm = true
		j.spoilt = append(j.spoilt, fmt.Sprintf("a batch's cost depends on its position in the round by %s", percent(j.out.Position.Spread)))
	}
}

func (j *judgement) warning(text, remedy string) {
	j.out.Warnings = append(j.out.Warnings, Warning{Text: text, Remedy: remedy})
}

func (j *judgement) warn() {
	cold, collected, bareBatches := 0, 0, 0
	for _, block := range j.BlockRuns {
		if !block.Warm {
			cold++
		}
		for _, b := range block.Batches {
			bareBatches++
			if b.GCCycles > 0 {
				collected++
			}
		}
	}
	if cold > 0 {
		j.warning(fmt.Sprintf("%d of %d blocks were not warm when counting began", cold, len(j.BlockRuns)), "close other programs and run again; a client that never settles is worth a look")
	}
	if j.Mode == driver.ModeBare && collected > 0 {
		j.warning(fmt.Sprintf("the collector ran in %d of %d batches that should be without it", collected, bareBatches), "give the machine more memory, or smaller batches")
	}
	if n := len(j.forks); n > 0 && n < 4 {
		j.warning(fmt.Sprintf("only %d forks: the t quantile alone is %s", n, map[int]string{1: "infinite", 2: "6.3", 3: "2.9"}[n]), "let the run complete: at least 4 forks give a useful interval")
	}
	if n := len(j.dropped); n > 0 {
		j.warning(fmt.Sprintf("%d rounds were not whole and are left out: %s", n, listed(j.dropped)), "see the faults of these blocks")
	}
	if n := j.busy; n > 0 {
		j.warning(fmt.Sprintf("%d rounds are left out because the machine was busy with something else", n), "close other programs; the host guard says what was seen")
	}
	if n := len(j.levelless); n > 0 {
		j.warning(fmt.Sprintf("%d forks are left out: %s", n, listed(j.levelless)), "see the faults of these blocks; a longer --profile has more rounds to a fork")
	}
	for i, c := range j.contrasts {
		if c.Exact {
			j.warning(fmt.Sprintf("all samples of v%d are alike: its interval has no width", j.versions[i].Version), "check the worker's CPU clock; real clocks never agree to the last digit")
			return
		}
	}
}

// listed names the first few and counts the rest.
func listed(texts []string) string {
	const shown = 5
	if len(texts) <= shown {
		return strings.Join(texts, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(texts[:shown], "; "), len(texts)-shown)
}

// asRatio turns a difference of logarithms into a relative one, kept inside what JSON and a reader can take.
func asRatio(ln float64) float64 {
	return min(Unbounded, math.Expm1(ln))
}

func percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }
