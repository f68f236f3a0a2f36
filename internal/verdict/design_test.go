package verdict

import (
	"strings"
	"testing"

	"protocolbench/internal/schedule"
	"protocolbench/internal/synthetic"
)

// cleanMade is a family of equal versions of the standard profile.
func cleanMade(seedValue uint64) synthetic.World {
	w := synthetic.Clean(seedValue)
	w.Profile, w.Margin = schedule.Standard, 0.05
	return w
}

func judgeMade(w synthetic.World) Family { return judgeGood(w.Run(), Options{}).Families[0] }

// What such designs do is the same in every round, fork and draw: without a look at the design itself, versions that are equal would be `slower`.
func TestBadDesignsAreUnresolvable(t *testing.T) {
	for name, c := range map[string]struct {
		wrong func(*synthetic.World)
		why   string
	}{
		"one order, dearer places": {func(w *synthetic.World) {
			w.FixedOrder, w.Position = true, func(place int) float64 { return 1 - 0.006*float64(place) }
		}, "the order was not drawn"},
		"one order, nothing in it": {func(w *synthetic.World) { w.FixedOrder = true }, "the order was not drawn"},
		"other batches for a version": {func(w *synthetic.World) {
			w.BatchNs = 46 * 0.1 * w.RequestNs
			w.RequestsOf = func(version int) int {
				if version == 9 {
					return 23
				}
				return 46
			}
		}, "batches are not alike"},
	} {
		w := cleanMade(1)
		c.wrong(&w)
		f := judgeMade(w)
		for _, cell := range f.Cells {
			if cell.Verdict != Unresolvable || !strings.Contains(cell.Why, c.why) {
				t.Errorf("%s: v%d %s: %s", name, cell.Version, cell.Verdict, cell.Why)
			}
		}
		if len(f.Warnings) == 0 {
			t.Errorf("%s: no remedy", name)
		}
	}
}

// Every profile's own orders are balanced, for any number of versions, and stay so where rounds were dropped or the run ended early.
func TestDrawnOrdersAreBalanced(t *testing.T) {
	for _, profile := range []string{schedule.Quick, schedule.Standard} {
		for versions := 2; versions <= 15; versions++ {
			for drop := range 4 {
				w := synthetic.Clean(uint64(versions))
				w.Profile, w.Versions = profile, synthetic.Span(4, 3+versions)
				f := w.Run().Families[0]
				f.BlockRuns = f.BlockRuns[:len(f.BlockRuns)-drop]
				for i := range min(drop, len(f.BlockRuns)) {
					f.BlockRuns[i].Batches = f.BlockRuns[i].Batches[len(f.Cells):]
				}
				j := validated(f)
				if cell, places, found := j.unbalanced(); found {
					t.Errorf("%s, %d versions, %d forks missing: cell %d is %.1f places off", profile, versions, drop, cell, places)
				}
			}
		}
	}
}

// A batch that lost a request is the guards' business and spoils no family.
func TestOneOddBatchIsNoDesign(t *testing.T) {
	run := cleanMade(2).Run()
	for i := range 20 {
		run.Families[0].BlockRuns[3].Batches[i].Requests--
	}
	if f := Judge(run, goodGuards(run), Options{}).Families[0]; f.unusual(NotSlower) != "" {
		t.Error(f.unusual(NotSlower))
	}
}
