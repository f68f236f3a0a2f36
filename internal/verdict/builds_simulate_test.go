package verdict

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
	"protocolbench/seed"
)

// twoWorlds are two builds of a made-up client.
type twoWorlds struct {
	world
	layoutSD float64 // of ln cost of a whole build in one layout
	ownSD    float64 // of one version in one layout, beyond that
	// change is what the candidate made of a version's cost.
	change func(version int) float64
	turn   float64 // what the first batch of a turn costs more; half of it the second, and so on
}

func standardBuilds(seedValue uint64) twoWorlds {
	w := quickWorld(seedValue)
	w.tier, w.profile, w.margin, w.noise, w.state = 0, schedule.Standard, 0.05, 0.03, 0.005
	return twoWorlds{world: w, layoutSD: 0.015, ownSD: 0.003, turn: 0.05, change: func(int) float64 { return 1 }}
}

func quickBuilds(seedValue uint64) twoWorlds {
	w := standardBuilds(seedValue)
	w.profile, w.margin = schedule.Quick, 0.10
	return w
}

func (w twoWorlds) judge() Family {
	run := w.run()
	return Judge(run, goodGuards(run), Options{}).Families[0]
}

func (w twoWorlds) run() *record.Run {
	w.families = 1
	run := w.world.run()
	run.Header.Baseline = &driver.Hello{Client: "franz-go", Version: "v1.19.0"}
	f := &run.Families[0]
	f.BuildMargin = max(LeastBuildMargin, w.margin)
	n := len(f.Cells)
	for _, c := range slices.Clone(f.Cells) {
		c.Cell, c.Build = c.Cell+n, record.BuildBaseline
		f.Family.Cells = append(f.Family.Cells, c)
	}
	r := seed.Stream(w.seed, "builds")
	budget, _ := schedule.BudgetOf(w.profile)
	if budget.Draws*budget.Forks < schedule.LeastLayouts {
		budget.Forks = schedule.LeastLayouts
	}
	f.BlockRuns, f.Blocks = nil, budget.Blocks()
	for draw := range budget.Draws {
		for fork := range budget.Forks {
			f.BlockRuns = append(f.BlockRuns, w.block(r, f.Family, budget, draw, fork))
		}
	}
	f.Rounds = len(f.BlockRuns[0].Orders)
	return run
}

func (w twoWorlds) block(r *rand.Rand, f record.Family, budget schedule.Budget, draw, fork int) record.BlockRun {
	where := record.Where{Family: f.Name, Draw: draw, Fork: fork}
	n := len(f.Cells) / 2
	b := record.BlockRun{Block: record.Block{Where: where, Warm: true, Orders: schedule.OrdersOfTwo(w.seed, f.Name, draw, fork, budget.Forks, n, budget.Squares)}}
	level := make([]float64, len(f.Cells))
	layout := map[string]float64{"": w.layoutSD * r.NormFloat64(), record.BuildBaseline: w.layoutSD * r.NormFloat64()}
	own := map[[2]any]float64{}
	for i, c := range f.Cells {
		key := [2]any{c.Version, c.Build}
		if _, drawn := own[key]; !drawn { // clients of one version and build share their code's place
			own[key] = w.ownSD * r.NormFloat64()
		}
		ns := w.requestNs * w.cost(c.Version)
		if c.Build == "" {
			ns *= w.change(c.Version)
		}
		if c.Role == record.RoleCanary {
			ns += float64(f.PlantNsPerRequest)
		}
		level[i] = math.Log(ns) + layout[c.Build] + own[key] + w.state*r.NormFloat64()
	}
	for round, order := range b.Orders {
		drift, place := 0.02*r.NormFloat64(), 0
		for position, cell := range order {
			if position > 0 && f.Cells[cell].Build != f.Cells[order[position-1]].Build {
				place = 0
			}
			ns := math.Exp(level[cell] + drift + w.noise*r.NormFloat64() + w.turn*math.Pow(0.5, float64(place)))
			b.Batches = append(b.Batches, batchOf(where, f, round, position, cell, ns))
			place++
		}
	}
	return b
}

// Equal builds in different layouts: nothing is called slower, hardly a p-value is below its level, and nearly all families come out `not
// slower`; while one pair of layouts by itself would have been sure of a difference very often.
func TestEqualBuildsAreSilent(t *testing.T) {
	simulates(t)
	const families = 100
	for name, build := range map[string]func(uint64) twoWorlds{"standard": standardBuilds, "quick": quickBuilds} {
		t.Run(name, func(t *testing.T) {
			significant, clean, sure, cases, covered, intervals := 0, 0, 0, 0, 0, 0
			for i := range families {
				f := build(uint64(5000 + i)).judge()
				if f.unusual(NotSlower) == "" {
					clean++
				}
				if slices.ContainsFunc(f.Cells, func(c Cell) bool { return c.Verdict == Slower }) {
					t.Errorf("seed %d: %s", 5000+i, f.unusual(NotSlower))
				}
				if slices.ContainsFunc(f.Cells, func(c Cell) bool { return c.P < buildsAlpha || c.Curve.P < buildsAlpha }) {
					significant++
				}
				for _, c := range f.Cells {
					intervals++
					if c.Low <= 0 && c.High >= 0 {
						covered++
					}
				}
				sure, cases = sure+f.Builds.Layouts.Differ, cases+f.Builds.Layouts.Of
			}
			t.Logf("%s: of %d families of equal builds %d have a p-value below its level, %d are not slower throughout; intervals cover in %.1f %%; one pair of layouts alone is sure of a difference in %.0f %% of cases",
				name, families, significant, clean, 100*float64(covered)/float64(intervals), 100*float64(sure)/float64(cases))
			if significant > families*5/100+6 { // 5 % and two standard deviations of that many
				t.Errorf("%d of %d families have a significant contrast where there is none, want 5 %%", significant, families)
			}
			if clean < families*90/100 {
				t.Errorf("%d of %d families of equal builds are not slower throughout, want 90 %%", clean, families)
			}
			if covered < intervals*93/100 {
				t.Errorf("%d of %d intervals cover, want 93 %%", covered, intervals)
			}
			if sure < cases/5 {
				t.Errorf("one pair of layouts is sure in %d of %d cases: the layouts of this simulation are too mild to show anything", sure, cases)
			}
		})
	}
}

// A slowdown of one version is found there and nowhere else; also in the newest, and in the newest's neighbour.
func TestSlowdownOfOneVersionIsFoundThere(t *testing.T) {
	simulates(t)
	const families = 60
	found := 0
	for i := range families {
		w := standardBuilds(uint64(6000 + i))
		slow := []int{9, 18, 17, 4}[i%4]
		w.change = func(version int) float64 {
			if version == slow {
				return 1.10
			}
			return 1
		}
		f := w.judge()
		c := cellOf(f, slow)
		if c.Verdict == Slower && strings.Count(f.unusual(NotSlower), "slower") == 1 {
			found++
		}
		for _, other := range f.Cells {
			if other.Version != slow && other.Verdict == Slower {
				t.Errorf("seed %d: v%d is slow, v%d is called slower: %s", 6000+i, slow, other.Version, other.Why)
			}
		}
	}
	t.Logf("found at its version alone in %d of %d", found, families)
	if found < families*95/100 {
		t.Errorf("a slowdown of 10 %% in one version is found there and nowhere else in %d of %d families, want 95 %%", found, families)
	}
}

// A build that is slower throughout is slower in every version, though no curve moves; one that is faster throughout but for one version made
// nothing slower.
func TestWholeBuildAndLeftBehind(t *testing.T) {
	simulates(t)
	const families = 40
	everywhere, behind, faster := 0, 0, 0
	for i := range families {
		w := standardBuilds(uint64(7000 + i))
		w.change = func(int) float64 { return 1.10 }
		if f := w.judge(); f.unusual(Slower) == "" {
			everywhere++
		}
		w.change = func(version int) float64 {
			if version == 9 {
				return 1
			}
			return 0.85
		}
		f := w.judge()
		for _, c := range f.Cells {
			if c.Verdict == Slower {
				t.Errorf("seed %d: the others became cheaper, and v%d is called slower: %s", 7000+i, c.Version, c.Why)
			}
			if c.Version != 9 && c.Faster {
				faster++
			}
		}
		if c := cellOf(f, 9); c.LeftBehind && strings.HasPrefix(c.Why, "left behind") {
			behind++
		}
	}
	t.Logf("slower throughout: found in every version in %d of %d; left behind said in %d; %d of %d cheaper versions are called faster", everywhere, families, behind, faster, 14*families)
	if everywhere < families*95/100 || behind < families*90/100 || faster < 14*families*95/100 {
		t.Errorf("slower throughout found %d, left behind said %d times of %d, faster %d of %d", everywhere, behind, families, faster, 14*families)
	}
}

// Moderating the contrasts against the baseline as a whole would narrow them: they move together.
func TestWhyBuildContrastsAreNotModeratedWhole(t *testing.T) {
	simulates(t)
	const families = 120
	covered, moderated := 0, 0
	for i := range families {
		w := quickBuilds(uint64(8000 + i))
		w.ownSD, w.state, w.noise = 0.001, 0.001, 0.005 // all but layouts is small: then it shows most
		run := w.run()
		f := run.Families[0]
		s := samplesOf(f)
		mine, base := layoutOf(f.Family), layoutOfBuild(f.Family, record.BuildBaseline)
		whole := wholeModerated(s, mine, base)
		if low, high, ok := whole.Interval(level); ok && low <= 0 && high >= 0 {
			moderated++
		}
		if c := cellOf(w.judge(), 9); c.Low <= 0 && c.High >= 0 {
			covered++
		}
	}
	t.Logf("95 %% intervals of v9 cover in %d of %d families, moderated whole in %d", covered, families, moderated)
	if covered < families*91/100 || moderated >= covered {
		t.Errorf("intervals cover in %d of %d, moderated whole in %d; want 91 %% and fewer", covered, families, moderated)
	}
}
