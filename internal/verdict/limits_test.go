package verdict

import (
	"math"
	"slices"
	"testing"

	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
	"protocolbench/seed"
)

// A family's limits hold for the next run of the same client on the same machine: a version that is slower by as much as a clean run says it finds is found in 99 of 100 other runs, and the words
// below the limit claim no more than they should: half of what was found is not called slower in any of them.
func TestTheSmallestDifferenceIsFound(t *testing.T) {
	simulates(t)
	for name, c := range map[string]struct {
		profile      string
		noise, state float64
		families     int
	}{
		"quick":           {schedule.Quick, 0.01, 0.005, 200},
		"quick, noisy":    {schedule.Quick, 0.04, 0.012, 200},
		"standard":        {schedule.Standard, 0.01, 0.005, 40},
		"standard, noisy": {schedule.Standard, 0.04, 0.012, 40},
	} {
		t.Run(name, func(t *testing.T) {
			missed, unseen, claimed := 0, 0, 0
			for i := range c.families {
				w := quickWorld(uint64(7000 + 2*i))
				w.profile, w.noise, w.state = c.profile, c.noise, c.state
				limits := judgedByCPU(w).differenceLimits()
				if limits.SmallestDifference <= w.margin || limits.SmallestDifference == Unbounded {
					t.Fatalf("seed %d: a limit of %v with a margin of %v", w.seed, limits.SmallestDifference, w.margin)
				}
				w.seed++
				version := 4 + i%14
				found := func(size float64) Cell {
					w.cost = func(v int) float64 {
						if v == version {
							return 1 + size
						}
						return 1
					}
					return cellOf(judgedByCPU(w).out, version)
				}
				if found(limits.SmallestDifference).Verdict != Slower {
					missed++
				}
				if got := found(limits.SmallestShown); got.Verdict == NotSlower && !got.Differs {
					unseen++
				}
				if found(w.margin/2).Verdict == Slower {
					claimed++
				}
			}
			t.Logf("of %d planted differences at the limit %d were not called slower, of those at the smaller one %d were not shown; %d of half the margin were called slower", c.families, missed, unseen, claimed)
			// One in 100, and what three standard deviations of a count of it add.
			most := c.families/100 + int(math.Ceil(3*math.Sqrt(float64(c.families)/100)))
			if missed > most || unseen > most || claimed > 0 {
				t.Errorf("missed %d, not shown %d, claimed %d of %d", missed, unseen, claimed, c.families)
			}
		})
	}
}

// judgedByCPU is a family's judgement up to its versions' words: all else about it would take most of the time.
func judgedByCPU(w world) *judgement {
	j := newJudgement(w.run().Families[0], w.margin, alpha)
	j.examine(1)
	for i, c := range j.versions {
		j.out.Cells = append(j.out.Cells, j.cell(i, c))
	}
	return j
}

// A wait just above the stated limits is found, and one below them, shorter or rarer, isn't claimed to be.
func TestTheRarestStallIsFound(t *testing.T) {
	simulates(t)
	for _, profile := range []string{schedule.Quick, schedule.Standard} {
		t.Run(profile, func(t *testing.T) {
			families := map[string]int{schedule.Quick: 60, schedule.Standard: 20}[profile]
			missed, rare, short := 0, 0, 0
			for i := range families {
				w := usualWaiting()
				clean := waitingFamily(uint64(9000+2*i), profile, w)
				limit := clean.stallLimit(uint64(i))
				if limit.OneIn < 2 || limit.Ms < longLeastNs/1e6 {
					t.Fatalf("seed %d: %+v", 9000+2*i, *limit)
				}
				stalls := func(oneIn, ms float64) bool {
					f := stallingFamily(uint64(9001+2*i), profile, w, 9, oneIn, ms)
					return cellOf(f.out, 9).Wall.Stalls
				}
				if !stalls(float64(limit.OneIn), limit.Ms) {
					missed++
				}
				if stalls(20*float64(limit.OneIn), limit.Ms) {
					rare++
				}
				if stalls(float64(limit.OneIn), limit.Ms/4) {
					short++
				}
				if i == 0 {
					t.Logf("one in %d responses of %v ms", limit.OneIn, limit.Ms)
				}
			}
			t.Logf("of %d at the limit %d were missed; %d twenty times as rare and %d a quarter as long were found", families, missed, rare, short)
			if missed > 3 || rare > 0 || short > 0 {
				t.Errorf("missed %d, rarer found %d, shorter found %d of %d", missed, rare, short, families)
			}
		})
	}
}

// stallingFamily has one version that waits after one response in so many, drawn.
func stallingFamily(seedValue uint64, profile string, w waiting, version int, oneIn, ms float64) *judgement {
	made := quickWorld(seedValue)
	made.profile = profile
	f := made.run().Families[0]
	w.onto(seed.Stream(seedValue, "waiting"), &f)
	r := seed.Stream(seedValue, "stalls")
	for _, block := range f.BlockRuns {
		for i := range block.Batches {
			b := &block.Batches[i]
			if f.Cells[b.Cell].Version != version {
				continue
			}
			for range b.Requests {
				if r.Float64() < 1/oneIn {
					b.WallNs += int64(ms * 1e6)
					b.LongestGapNs = max(b.LongestGapNs, int64(ms*1e6))
				}
			}
		}
	}
	return wallJudgement(f)
}

// More draws find rarer stalls; a machine whose calm versions wait as often hides them; nothing recorded finds none.
func TestStallLimitsGoByWhatWasMeasured(t *testing.T) {
	limit := func(profile string, change func(*record.FamilyRun)) *StallLimit {
		made := quickWorld(1)
		made.profile = profile
		f := made.run().Families[0]
		w := usualWaiting()
		w.hiccups = 0
		w.onto(seed.Stream(1, "waiting"), &f)
		change(&f)
		return wallJudgement(f).stallLimit(1)
	}
	asIs := func(*record.FamilyRun) {}
	quick, standard := limit(schedule.Quick, asIs), limit(schedule.Standard, asIs)
	if quick.Ms != 10 || quick.OneIn < 2 || standard.OneIn < 2*quick.OneIn {
		t.Errorf("quick %+v, standard %+v", *quick, *standard)
	}
	// 30 ms in one of 500 responses: planted once in a real client, and beyond a quick run.
	if quick.OneIn >= 500 {
		t.Errorf("a quick run claims to find one in %d", quick.OneIn)
	}
	for name, change := range map[string]func(*record.FamilyRun){
		"one fork": func(f *record.FamilyRun) { f.BlockRuns = f.BlockRuns[:1] },
		"no block": func(f *record.FamilyRun) { f.BlockRuns = nil },
		"all wait now and then": func(f *record.FamilyRun) {
			for _, block := range f.BlockRuns {
				for i := range block.Batches {
					if b := &block.Batches[i]; (b.Round+b.Cell)%4 == 0 {
						b.LongestGapNs = 50e6
					}
				}
			}
		},
	} {
		if got := limit(schedule.Quick, change); got.OneIn >= quick.OneIn {
			t.Errorf("%s: %+v, as good as with all of it: %+v", name, *got, *quick)
		}
	}
	long := limit(schedule.Quick, func(f *record.FamilyRun) {
		for _, block := range f.BlockRuns {
			for i := range block.Batches {
				block.Batches[i].LongestGapNs += 20e6
			}
		}
	})
	if long.Ms < 100 {
		t.Errorf("where each batch has a gap of 20 ms, one of %v ms is said to be long", long.Ms)
	}
	f := quickWorld(1).run().Families[0]
	f.Tier = 0
	if got := wallJudgement(f).stallLimit(1); got != nil {
		t.Errorf("tier 0 has a limit of stalls: %+v", *got)
	}
}

func TestNothingIsFoundWhereNothingCouldBeJudged(t *testing.T) {
	w := quickWorld(1)
	run := w.run()
	run.Families[0].BlockRuns = run.Families[0].BlockRuns[:1]
	if got := Judge(run, goodGuards(run), Options{}).Families[0].Limits; got.SmallestDifference != Unbounded || got.Stalls.OneIn != 0 {
		t.Errorf("one fork: %+v", *got)
	}
	w.planted = 0 // the canary is not seen
	if got := judge(w).Families[0].Limits; got.SmallestDifference != Unbounded {
		t.Errorf("without a canary: %+v", *got)
	}
	wide := quickWorld(1)
	wide.margin = 0.4
	if a, b := judge(quickWorld(1)).Families[0].Limits, judge(wide).Families[0].Limits; b.SmallestDifference < 0.4 || a.SmallestDifference > 0.2 || a.SmallestShown >= a.SmallestDifference {
		t.Errorf("margins of 10 and 40 %%: %+v, %+v", *a, *b)
	}
}

func TestVersionsThatAFamilyLeavesOut(t *testing.T) {
	run := quickWorld(1).run()
	run.Plans = []record.Plan{{Tier: 1, API: "Fetch", Implemented: [2]int{2, 19}}, {Tier: 1, API: "Produce", Implemented: [2]int{0, 30}}, {Tier: 0, API: "Fetch", Implemented: [2]int{0, 40}}}
	if got := Judge(run, goodGuards(run), Options{}).Families[0].Limits.NotCovered; !slices.Equal(got, []int{2, 3, 19}) {
		t.Errorf("got %v", got)
	}
}
