package verdict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
	"protocolbench/internal/shape"
	"protocolbench/internal/stats"
	"protocolbench/seed"
)

// ladder is a made-up client on an axis of sizes: what a request costs, in ns, and what a version costs more.
type ladder struct {
	world
	axis                  string
	sizes                 []int // along the axis
	records               []int // per request of each size
	perRequest, perRecord float64
	extra                 func(version, records int) float64
}

func newLadder(seedValue uint64, tier int, axis string, sizes, records []int, perRequest, perRecord float64) ladder {
	w := quickWorld(seedValue)
	w.tier, w.profile, w.margin, w.versions = tier, schedule.Standard, 0.05, span(4, 11)
	return ladder{w, axis, sizes, records, perRequest, perRecord, func(int, int) float64 { return 0 }}
}

// The ladders of the standard profile: codecs, and the two of a broker, with METHOD.md's costs.
func codecLadder(seedValue uint64) ladder {
	return newLadder(seedValue, 0, "records", []int{1, 100, 1000, 10000}, []int{1, 100, 1000, 10000}, 1500, 200)
}

func fetchLadder(seedValue uint64) ladder {
	return newLadder(seedValue, 1, "size", []int{4 << 10, 64 << 10, 1 << 20}, []int{30, 580, 9430}, 96e3, 244)
}

func produceLadder(seedValue uint64) ladder {
	return newLadder(seedValue, 1, "records", []int{1, 100, 1000}, []int{1, 100, 1000}, 79e3, 223)
}

var everyLadder = []func(uint64) ladder{codecLadder, fetchLadder, produceLadder}

// ladderNoises are sds per batch and per client: METHOD.md's machine and worse ones.
var ladderNoises = []struct{ batch, state float64 }{{0.01, 0.005}, {0.02, 0.01}, {0.04, 0.01}}

func (l ladder) request(version, records int) float64 {
	return l.perRequest + l.perRecord*float64(records) + l.extra(version, records)
}

// squared is a quadratic part that is share of the cost at the largest size, in some versions.
func (l ladder) squared(from, to int, share float64) func(int, int) float64 {
	largest := float64(l.records[len(l.records)-1])
	part := share / (1 - share) * (l.perRequest + l.perRecord*largest)
	return func(version, records int) float64 {
		if version < from || version > to {
			return 0
		}
		return part * math.Pow(float64(records)/largest, 2)
	}
}

func (l ladder) families() []record.FamilyRun {
	r := seed.Stream(l.seed, "growth")
	var families []record.FamilyRun
	for i := range l.sizes {
		families = append(families, l.family(r, i))
	}
	return families
}

func (l ladder) family(r *rand.Rand, i int) record.FamilyRun {
	w, records := l.world, l.records[i]
	w.requestNs = l.request(w.versions[len(w.versions)-1], records)
	w.cost = func(version int) float64 { return l.request(version, records) / w.requestNs }
	f := w.family(r, i)
	f.Shape = shape.Shape{Name: fmt.Sprintf("%s=%d", l.axis, l.sizes[i]), RecordsPerBatch: 10, BatchesPerPartition: 1, Partitions: 1, Topics: 1, KeyBytes: 16, ValueBytes: 80, RequiredAcks: -1}
	if l.axis == "size" {
		f.Shape.FetchBytes = l.sizes[i]
	} else {
		f.Shape.RecordsPerBatch = l.sizes[i]
	}
	f.Name = fmt.Sprintf("tier%d/fetch/%s/bare", w.tier, f.Shape.Name)
	f.RecordsPerRequest = records
	for k := range f.BlockRuns {
		for n := range f.BlockRuns[k].Batches {
			b := &f.BlockRuns[k].Batches[n]
			b.Records = b.Requests * records
		}
	}
	return f
}

// judgedAlone is what a verdict keeps of its families.
func judgedAlone(runs []record.FamilyRun) ([]Family, []*judgement) {
	var families []Family
	var judged []*judgement
	for _, run := range runs {
		j := &judgement{FamilyRun: run, layout: layoutOf(run.Family), samples: samplesOf(run), margin: run.Margin, widen: 1}
		if run.Tier > 0 {
			j.widen = stats.LiveWiden
		}
		j.out = Family{Tier: run.Tier, Name: run.Name, Deciding: run.Deciding}
		j.lookForEnough()
		j.compare()
		j.checkFloor()
		for i, c := range j.versions {
			j.out.Cells = append(j.out.Cells, j.cell(i, c))
		}
		families, judged = append(families, j.out), append(judged, j)
	}
	return families, judged
}

func (l ladder) growth(t *testing.T) *Growth {
	t.Helper()
	families, judged := judgedAlone(l.families())
	addGrowth(families, judged)
	for _, f := range families[:len(families)-1] {
		if f.Growth != nil {
			t.Fatalf("growth stands with %s, which is not the largest", f.Name)
		}
	}
	g := families[len(families)-1].Growth
	if g == nil {
		t.Fatal("no growth was looked for")
	}
	return g
}

func (g *Growth) growing() string {
	var versions []string
	for _, c := range g.Cells {
		if c.Grows {
			versions = append(versions, fmt.Sprintf("v%d", c.Version))
		}
	}
	return strings.Join(versions, " ")
}

// A quadratic fifth of the cost at the largest size, on one version: found there and nowhere else. And the slopes, whose truth is known, lie inside
// their intervals.
func TestPlantedQuadraticIsFoundAtItsVersion(t *testing.T) {
	simulates(t)
	const runs = 201
	found, inside, intervals := 0, 0, 0
	for i := range runs {
		l := codecLadder(uint64(i))
		l.noise, l.state = ladderNoises[i%len(ladderNoises)].batch, ladderNoises[i%len(ladderNoises)].state
		l.extra = l.squared(7, 7, 0.20)
		g := l.growth(t)
		if got := g.growing(); got == "v7" {
			found++
		} else {
			t.Logf("run %d: %q grow", i, got)
		}
		for _, c := range g.Cells[:len(g.Cells)-1] { // the last is the reference, 0 by definition
			truth := 0.0
			if c.Version == 7 {
				// Of three equal steps in ln size the middle one counts nothing.
				truth = (math.Log(l.request(7, 10000)/l.request(11, 10000)) - math.Log(l.request(7, 100)/l.request(11, 100))) / math.Log(100)
			}
			intervals++
			if c.Low <= truth && truth <= c.High {
				inside++
			}
		}
	}
	t.Logf("found at its version in %d of %d; %d of %d slopes inside their interval (%.1f %%)", found, runs, inside, intervals, 100*float64(inside)/float64(intervals))
	if found < runs*95/100 {
		t.Errorf("found at its version in %d of %d, want 95 %%", found, runs)
	}
	if inside < intervals*93/100 {
		t.Errorf("%d of %d slopes inside their interval, want 93 %%", inside, intervals)
	}
}

// On clean code nothing grows: on flat code, and where old versions cost a twentieth less per request and one costs a tenth more per record,
// which gives slopes that are real and significant.
func TestNothingGrowsOnCleanCode(t *testing.T) {
	simulates(t)
	const runs = 201
	wrong := 0
	for i := range runs {
		l := everyLadder[i%len(everyLadder)](uint64(i))
		l.noise, l.state = ladderNoises[i/len(everyLadder)%len(ladderNoises)].batch, ladderNoises[i/len(everyLadder)%len(ladderNoises)].state
		if i%2 == 1 {
			l.extra = func(version, records int) float64 {
				switch {
				case version == 9:
					return 0.10 * l.perRecord * float64(records)
				case version < 8:
					return -0.05 * l.perRequest
				}
				return 0
			}
		}
		if got := l.growth(t).growing(); got != "" {
			wrong++
			t.Logf("run %d: %q grow on clean code", i, got)
		}
	}
	if wrong > runs/100 {
		t.Errorf("something grows in %d of %d clean runs, want at most 1 %%", wrong, runs)
	}
}

// On a machine that resolves nothing, slopes as large as those that are looked for come by chance: the intervals know.
func TestNoiseIsNoGrowth(t *testing.T) {
	const runs = 60
	wrong := 0
	for i := range runs {
		l := everyLadder[i%len(everyLadder)](uint64(i))
		l.profile, l.noise, l.state = schedule.Quick, 0.08, 0.05
		if got := l.growth(t).growing(); got != "" {
			wrong++
			t.Logf("run %d: %q grow by noise", i, got)
		}
	}
	if wrong > 1 {
		t.Errorf("something grows by noise in %d of %d runs", wrong, runs)
	}
}

// A fault that came with one version stays in those after it. The reference has it too then, and the versions before it are those that differ.
func TestGrowthFromOneVersionOn(t *testing.T) {
	for n, c := range []struct {
		from, to int
		want     string
	}{{11, 11, "v11"}, {9, 11, "v9 v10 v11"}, {5, 11, "v5 v6 v7 v8 v9 v10 v11"}, {4, 5, "v4 v5"}, {4, 11, ""}} {
		for i, made := range everyLadder {
			l := made(uint64(100*n + i))
			l.extra = l.squared(c.from, c.to, 0.20)
			if got := l.growth(t).growing(); got != c.want {
				t.Errorf("ladder %d, planted in v%d to v%d: %q grow, want %q", i, c.from, c.to, got, c.want)
			}
		}
	}
}

// A growth that all versions share shows in the reference's own slope alone. Two thirds of the cost at the largest size are quadratic here.
func TestGrowthOfTheReference(t *testing.T) {
	l := codecLadder(1)
	clean := l.growth(t).Reference
	l.extra = l.squared(4, 11, 0.67)
	if grown := l.growth(t).Reference; clean > 0 || grown-clean < 0.2 {
		t.Errorf("the reference's slope is %+.3f, and %+.3f with a quadratic part", clean, grown)
	}
}

// 40 % less per request or more per record gives slopes as steep as a quadratic fifth's, and significant, and is no growth.
func TestFixedCostsAndCostsPerRecordAreNoGrowth(t *testing.T) {
	for name, extra := range map[string]func(l ladder) func(int, int) float64{
		"per request": func(l ladder) func(int, int) float64 {
			return func(version, _ int) float64 {
				if version == 6 {
					return -0.4 * l.perRequest
				}
				return 0
			}
		},
		"per record": func(l ladder) func(int, int) float64 {
			return func(version, records int) float64 {
				if version == 6 {
					return 0.4 * l.perRecord * float64(records)
				}
				return 0
			}
		},
	} {
		l := fetchLadder(3)
		l.extra = extra(l)
		g := l.growth(t)
		v6 := g.Cells[2]
		if v6.Version != 6 || v6.P > 0.001 || v6.Slope < 0.03 {
			t.Errorf("%s: the slope of v%d is %+.3f, p %.4f: the test shows nothing", name, v6.Version, v6.Slope, v6.P)
		}
		if got := g.growing(); got != "" {
			t.Errorf("%s: %q grow", name, got)
		}
	}
}

func TestGrowthWhy(t *testing.T) {
	l := codecLadder(1)
	l.extra = l.squared(10, 11, 0.20)
	families, judged := judgedAlone(l.families())
	addGrowth(families, judged)
	last := families[len(families)-1]
	if got, want := growthWhy(last), "v10, v11: the cost per record grows with records, by 2"; !strings.HasPrefix(got, want) || !strings.Contains(got, "between 100 and 10000") {
		t.Errorf("got %q", got)
	}
	last.Embedded = true
	if got := growthWhy(last); strings.Contains(got, "%") || !strings.Contains(got, "no figure") {
		t.Errorf("of an embedded broker: %q", got)
	}
	if got := growthWhy(families[0]); got != "" {
		t.Errorf("of a family without growth: %q", got)
	}
}
