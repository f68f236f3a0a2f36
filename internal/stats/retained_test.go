package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// heapOf simulates blocks of rounds in drawn orders. leaves gives what a batch keeps for good and what it holds until the next one is through.
func heapOf(random *rand.Rand, versions, rounds, blocks int, leaves func(version int) (kept, held float64)) [][]HeapStep {
	var stretches [][]HeapStep
	for range blocks {
		var stretch []HeapStep
		before := 0.0
		for range rounds {
			for _, v := range random.Perm(versions) {
				kept, held := leaves(v)
				stretch = append(stretch, HeapStep{v, kept + held - before})
				before = held
			}
		}
		stretches = append(stretches, stretch)
	}
	return stretches
}

const (
	level    = 1 - 1e-4
	response = 65_700.0
)

// found has the versions that keep more than floor with their lower bound above 0.
func found(stretches [][]HeapStep, floor float64) map[int]bool {
	seen := map[int]bool{}
	for v, r := range RetainedBy(stretches) {
		if r.Value > max(floor, r.Reach(level)) {
			seen[v] = true
		}
	}
	return seen
}

func TestCleanClientsKeepNothing(t *testing.T) {
	clean := map[string]func(*rand.Rand) func(int) (float64, float64){
		"a response is held now and then": func(r *rand.Rand) func(int) (float64, float64) {
			return func(int) (float64, float64) {
				if r.IntN(5) == 0 {
					return 0, response
				}
				return 0, 0
			}
		},
		"a buffer grows once in a while": func(r *rand.Rand) func(int) (float64, float64) {
			return func(int) (float64, float64) {
				if r.IntN(50) == 0 {
					return 5576, 0
				}
				return 0, 0
			}
		},
		"every other version has a pool": func(*rand.Rand) func(int) (float64, float64) {
			return func(v int) (float64, float64) { return 0, float64(v%2) * response }
		},
		"small noise": func(r *rand.Rand) func(int) (float64, float64) {
			return func(int) (float64, float64) { return 0, 500 * r.NormFloat64() }
		},
	}
	for name, make := range clean {
		random := rand.New(rand.NewPCG(7, 16))
		cells, alarms := 0, 0
		for _, rounds := range []int{3, 7, 18} {
			for range 40 {
				alarms += len(found(heapOf(random, 15, rounds, 2, make(random)), 256))
				cells += 15
			}
		}
		if alarms > 1 {
			t.Errorf("%s: %d false alarms in %d cells", name, alarms, cells)
		}
	}
}

func TestLeaksAreChargedToTheirVersions(t *testing.T) {
	for name, c := range map[string]struct {
		leaks func(v int) bool
		share int // one batch of so many keeps nothing; 0: each keeps something
		held  bool
	}{
		"one version":                            {func(v int) bool { return v == 4 }, 0, false},
		"from one on":                            {func(v int) bool { return v >= 4 }, 0, false},
		"all":                                    {func(int) bool { return true }, 0, false},
		"two neighbours, two batches of three":   {func(v int) bool { return v == 4 || v == 5 }, 3, false},
		"one of fifteen, where all hold another": {func(v int) bool { return v == 4 }, 0, true},
	} {
		random := rand.New(rand.NewPCG(11, 16))
		stretches := heapOf(random, 15, 18, 2, func(v int) (kept, held float64) {
			if c.leaks(v) && (c.share == 0 || random.IntN(c.share) > 0) {
				kept = response
			}
			if c.held {
				held = response * float64(random.IntN(2))
			}
			return kept, held
		})
		seen := found(stretches, 256)
		for v := range 15 {
			if seen[v] != c.leaks(v) {
				t.Errorf("%s: version %d found: %v (%+v)", name, v, seen[v], RetainedBy(stretches)[v])
			}
		}
	}
}

// A client that has fetched ahead before its batch's collection keeps that in the step of whoever goes before it.
func TestWhatIsFetchedAheadIsChargedToWhoFetchedIt(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 16))
	var stretches [][]HeapStep
	for range 4 {
		var order []int
		for range 18 {
			order = append(order, random.Perm(15)...)
		}
		var stretch []HeapStep
		for i, v := range order {
			step := HeapStep{Of: v}
			if v >= 4 {
				step.Bytes += 18 * response
			}
			if i+1 < len(order) && order[i+1] >= 4 {
				step.Bytes += 2 * response
			}
			stretch = append(stretch, step)
		}
		stretches = append(stretches, stretch)
	}
	for v, r := range RetainedBy(stretches) {
		want := 0.0
		if v >= 4 {
			want = 20 * response
		}
		if math.Abs(r.Value-want) > 1 {
			t.Errorf("version %d keeps %.0f bytes, want %.0f", v, r.Value, want)
		}
	}
}
