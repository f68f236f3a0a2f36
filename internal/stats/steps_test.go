package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"protocolbench/seed"
)

// row is a made-up family: what is true of its versions, and how their levels differ from fork to fork.
type row struct {
	versions, draws, forks int
	state                  float64 // sd of a version's level in one fork: the client's state and what is left of batches
	unlike                 int     // so many of the oldest versions have six times the state
	steps                  map[int]float64
}

func (w row) rows(r *rand.Rand) []LevelRow {
	var rows []LevelRow
	for draw := range w.draws {
		for fork := range w.forks {
			levels := make([]float64, w.versions)
			shared := 8 + 0.05*r.NormFloat64()
			level := 0.0
			for v := range levels {
				level += w.steps[v]
				state := w.state
				if v < w.unlike {
					state *= 6
				}
				levels[v] = shared + level + state*r.NormFloat64()
			}
			rows = append(rows, LevelRow{Draw: draw, Fork: fork, Levels: levels})
		}
	}
	return rows
}

func places(steps []Step) string {
	var at []int
	for _, s := range steps {
		at = append(at, s.At)
	}
	return fmt.Sprint(at)
}

func TestNoStepOnFlatRows(t *testing.T) {
	for n, w := range []row{
		{versions: 15, draws: 3, forks: 4, state: 0.01},
		{versions: 11, draws: 3, forks: 4, state: 0.01},
		{versions: 15, draws: 1, forks: 4, state: 0.01},
		{versions: 11, draws: 1, forks: 4, state: 0.01},
		{versions: 15, draws: 3, forks: 4, state: 0.005, unlike: 8},
		{versions: 15, draws: 1, forks: 4, state: 0.005, unlike: 8},
		{versions: 3, draws: 3, forks: 4, state: 0.01},
		{versions: 2, draws: 3, forks: 4, state: 0.01},
	} {
		t.Run(fmt.Sprintf("%d versions %d forks %d unlike", w.versions, w.draws*w.forks, w.unlike), func(t *testing.T) {
			const families = 3000
			r := seed.Stream(uint64(n), "flat")
			found := 0
			begun := 0
			for range families {
				rows := w.rows(r)
				s, _ := newSegmenting(rows)
				if segmentationsOf(s.levels(s.rows), s.weights, w.versions-1).count(float64(len(rows))) > 0 {
					begun++
				}
				if len(Steps(rows, r)) > 0 {
					found++
				}
			}
			t.Logf("a step in %d of %d flat families, criterion %d", found, families, begun)
		})
	}
}

func TestPower(t *testing.T) {
	for _, forks := range []int{4, 1} {
		for _, at := range []int{1, 8, 14} {
			for _, k := range []float64{4, 5, 6} {
				draws := 3
				if forks == 1 {
					draws = 1
				}
				w := row{versions: 15, draws: draws, forks: 4, state: 0.01}
				se := w.state * math.Sqrt(2/float64(w.draws*w.forks))
				w.steps = map[int]float64{at: k * se}
				r := seed.Stream(7, "power")
				right, wrong, none := 0, 0, 0
				const families = 300
				for range families {
					steps := Steps(w.rows(r), r)
					switch {
					case len(steps) == 0:
						none++
					case places(steps) == fmt.Sprint([]int{at}):
						right++
					default:
						wrong++
					}
				}
				t.Logf("draws %d at %d: %.0f SE: right %d wrong %d none %d", draws, at, k, right, wrong, none)
			}
		}
	}
	_ = slices.Max[[]int]
}
