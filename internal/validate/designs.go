package validate

import (
	"fmt"
	"strconv"
	"strings"

	"protocolbench/internal/synthetic"
	"protocolbench/internal/verdict"
)

func number(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }

func sizeText(ln float64) string { return fmt.Sprintf("%.1f %%", 100*ln) }

// design is a way to measure wrongly, or a run that went wrong, of versions that are equal.
type design struct {
	name  string
	wrong func(w *synthetic.World)
	// spoils: every family has to be unresolvable or flagged. Otherwise what went wrong may be too small to matter, and only a false `slower` would be a fault.
	spoils bool
}

const oddVersion = 9

// oddDraw makes a version dearer in one draw of three.
func oddDraw(by float64) func(w *synthetic.World) {
	return func(w *synthetic.World) {
		w.Draw = func(version, draw int) float64 {
			if version == oddVersion && draw == 1 {
				return 1 + by
			}
			return 1
		}
	}
}

// drift makes every place of a round dearer than the one before it, by as much altogether.
func drift(by float64) func(position int) float64 {
	return func(position int) float64 { return 1 + by*float64(position)/17 }
}

var designs = []design{
	{"one order in every round, and a drift of 10 % up within the round", func(w *synthetic.World) { w.FixedOrder, w.Position = true, drift(0.10) }, true},
	{"one order in every round, and a drift of 10 % down", func(w *synthetic.World) { w.FixedOrder, w.Position = true, drift(-0.10) }, true},
	{"drawn orders, and the same drift of 10 % (a drawn order makes noise of it, and the position test sees it)", func(w *synthetic.World) { w.Position = drift(0.10) }, false},
	{"batches calibrated per version: v9 has half the requests, a batch costs 10 % beside them", func(w *synthetic.World) {
		w.BatchNs = 0.10 * w.RequestNs * float64(w.RequestsPerBatch)
		whole := w.RequestsPerBatch
		w.RequestsOf = func(version int) int {
			if version == oddVersion {
				return whole / 2
			}
			return whole
		}
	}, true},
	{"one draw of three has v9 5 % dearer", oddDraw(0.05), false},
	{"one draw of three has v9 10 % dearer", oddDraw(0.10), false},
	{"one draw of three has v9 20 % dearer", oddDraw(0.20), true},
	{"one draw of three has v9 40 % dearer", oddDraw(0.40), true},
}

func badDesigns(s *sheet, o Options) {
	n := max(4, o.Families/5)
	s.say("\nBad designs, %d families of equal versions each (%s)", n, live)
	for _, d := range designs {
		slower, flagged, whole, others := 0, 0, 0, 0
		reasons := map[string]int{}
		for i := range n {
			w := named(live).world(o.seedOf("design", i))
			d.wrong(&w)
			f := judge(makeRun(w.Seed, w).run).Families[0]
			marked := len(f.Warnings) > 0
			for _, c := range f.Cells {
				switch {
				case c.Verdict == verdict.Slower:
					slower++
				case c.Verdict == verdict.Unresolvable:
					marked = true
					reasons[kindOf(c.Why)]++
				}
				if c.Version != oddVersion && c.Verdict != verdict.NotSlower {
					others++
				}
			}
			if marked {
				flagged++
			}
			if unlike(f, verdict.NotSlower) == 0 {
				whole++
			}
		}
		s.say("  %s", d.name)
		s.atMost(slower, n*15, 0, "  versions called slower")
		if d.spoils {
			s.atLeast(flagged, n, 1, "  families unresolvable or flagged")
		} else {
			s.shown(flagged, n, "  families unresolvable or flagged")
		}
		s.shown(whole, n, "  families `not slower` throughout")
		s.shown(others, n*14, "  versions other than v9 that have no `not slower`")
		var list []string
		for _, reason := range byCount(reasons) {
			list = append(list, fmt.Sprintf("%s (%d versions)", reason, reasons[reason]))
		}
		if len(list) > 0 {
			s.say("    because: %s", strings.Join(list, ", "))
		}
	}
}
