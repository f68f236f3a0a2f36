package verdict

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"protocolbench/internal/record"
)

// from makes versions cost more by a factor each from their own on.
func from(factors map[int]float64) func(int) float64 {
	return func(v int) float64 {
		cost := 1.0
		for since, factor := range factors {
			if v >= since {
				cost *= factor
			}
		}
		return cost
	}
}

// A fault that came with one version and stayed leaves every later one "not slower" than the newest, which has it, too. That the newest is dearer has to fail the run.
func TestANewestVersionThatIsDearerFailsARun(t *testing.T) {
	up := from(map[int]float64{13: 1.10})
	for name, c := range map[string]struct {
		cost   func(int) float64
		change func(*record.Run)
		word   string
		reason string
		dearer string // than, from
	}{
		"nothing":                              {from(nil), nil, Pass, "no version", ""},
		"below the margin":                     {from(map[int]float64{13: 1.03}), nil, Pass, "no version", ""},
		"above it":                             {up, nil, Fail, "more than v12, most of it since v13, margin 5.0 %", "v12, v13"},
		"two steps, above it together":         {from(map[int]float64{9: 1.035, 13: 1.04}), nil, Fail, "more than v8, most of it since v13", "v8, v13"},
		"a small step after a large one":       {from(map[int]float64{9: 1.10, 13: 1.008}), nil, Fail, "more than v8, most of it since v9", "v8, v9"},
		"it creeps":                            {func(v int) float64 { return 1 + 0.006*float64(v-4) }, nil, Fail, "v18 costs", "any"},
		"down and half way up again":           {from(map[int]float64{7: 0.93, 13: 1.035}), nil, Pass, "no version", ""},
		"a hump":                               {from(map[int]float64{9: 1.12, 12: 1 / 1.12}), nil, Fail, "v9 is slower by", ""},
		"in a family that decides nothing":     {up, func(r *record.Run) { r.Families[0].Deciding = false }, Inconclusive, "nothing that decides", "v12, v13"},
		"on the embedded broker":               {up, func(r *record.Run) { r.Brokers[0].Provider = providerEmbedded }, Inconclusive, "v18 costs more than v12, most of it since v13 (embedded broker: no figure)", "v12, v13"},
		"of messages alone, which have fields": {up, func(r *record.Run) { r.Families[0].Message = "response" }, Pass, "no version", ""},
		"the newest alone is called slower":    {from(map[int]float64{18: 1.10}), nil, Fail, "v18 is slower by", "v17, v18"},
	} {
		w := standardWorld(21)
		w.families, w.noise, w.state, w.margin = 1, 0.004, 0.002, 0.05
		w.cost = c.cost
		run := w.run()
		if c.change != nil {
			c.change(run)
		}
		v := Judge(run, goodGuards(run), Options{})
		dearer := ""
		if d := v.Families[0].Dearer; d != nil {
			dearer = fmt.Sprintf("v%d, v%d", d.Than, d.From)
			if d.Low > d.Difference || d.High < d.Difference || d.Low <= 0 || d.P >= 0.05 {
				t.Errorf("%s: %+v", name, d)
			}
		}
		if v.Verdict != c.word || !strings.Contains(v.Reason, c.reason) || dearer != c.dearer && (c.dearer != "any" || dearer == "") {
			t.Errorf("%s: %s (%s), dearer %q, want %s (%s) and %q", name, v.Verdict, v.Reason, dearer, c.word, c.reason, c.dearer)
		}
		if c.dearer != "" && strings.Contains(v.Reason, "and 1 more") {
			t.Errorf("%s: named twice: %s", name, v.Reason)
		}
	}
}

// It is as large as it is: 10 % from v13 on.
func TestDearerIsMeasured(t *testing.T) {
	for seed := uint64(30); seed < 36; seed++ {
		w := standardWorld(seed)
		w.families, w.margin = 1, 0.05
		w.cost = from(map[int]float64{13: 1.10})
		d := judgeGood(w.run(), Options{}).Families[0].Dearer
		if d == nil || math.Abs(d.Difference-0.10) > 0.03 {
			t.Errorf("seed %d: %+v", seed, d)
		}
	}
}

// What could not have been measured decides nothing, and what nobody notices neither.
func TestNothingIsDearerWhereNothingCanBeSaid(t *testing.T) {
	w := standardWorld(22)
	w.families, w.noise, w.state, w.margin = 1, 0.004, 0.002, 0.05
	w.cost = from(map[int]float64{13: 1.10})
	for name, c := range map[string]struct {
		requestNs float64
		spoil     func(*judgement)
		dearer    bool
	}{
		"as it is":             {w.requestNs, func(*judgement) {}, true},
		"the canary is missed": {w.requestNs, func(j *judgement) { j.spoilt = []string{"the canary was missed"} }, false},
		"nothing is there":     {w.requestNs, func(j *judgement) { j.nothing = []string{"it was not measured"} }, false},
		"draws disagree": {w.requestNs, func(j *judgement) {
			for i := range j.contrasts {
				j.contrasts[i].torn = true
			}
		}, false},
		"0.5 us per request": {5_000, func(*judgement) {}, false},
	} {
		made := w
		made.requestNs = c.requestNs
		j := newJudgement(made.run().Families[0], 0.05, alpha)
		j.examine(1)
		c.spoil(j)
		if d := j.dearer(nil); (d != nil) != c.dearer || d != nil && d.From != 18 {
			t.Errorf("%s: %+v, want dearer %t, and with no step nobody knows since when", name, d, c.dearer)
		}
	}
}

// What a family shows that decides nothing fails no run, and is said.
func TestWhatDecidesNothingIsSaidAloud(t *testing.T) {
	found := func(change func(*Family)) []Warning {
		f := Family{Name: "tier0/fetch/topics=100/gc", Reference: 18, Margin: 0.05, Cells: []Cell{{Version: 12, Verdict: NotSlower}, {Version: 18, Verdict: NotSlower}},
			Dearer: &Dearer{Than: 12, From: 13, Difference: 0.146, Low: 0.1, High: 0.2}}
		change(&f)
		v := Verdict{Families: []Family{f}}
		v.warnOfShown()
		return v.Warnings
	}
	const dearer = "v18 costs 14.6 % [10.0 %, 20.0 %] more than v12, most of it since v13, margin 5.0 %"
	if got := found(func(*Family) {}); len(got) != 1 || got[0].Text != "tier0/fetch/topics=100/gc decides nothing, and shows: "+dearer {
		t.Errorf("%+v", got)
	}
	if got := found(func(f *Family) { f.Cells[0].Verdict, f.Cells[0].Difference = Slower, 0.2 }); len(got) != 1 || !strings.HasSuffix(got[0].Text, "shows: v12 is slower by 20.0 %; "+dearer) {
		t.Errorf("%+v", got)
	}
	for name, change := range map[string]func(*Family){
		"it decides":       func(f *Family) { f.Deciding = true },
		"a message":        func(f *Family) { f.Message = "response" },
		"no figure":        func(f *Family) { f.Embedded = true },
		"nothing is there": func(f *Family) { f.Dearer = nil },
	} {
		if got := found(change); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A client all of whose versions are quadratic: none grows beside another.
func TestGrowthThatAllVersionsShareIsSaidAloud(t *testing.T) {
	for _, c := range []struct {
		axis  string
		slope float64
		tier  int
		said  bool
	}{
		{"partitions", 0.6, 0, true},
		{"delivery", 0.1, 0, true}, // 51 %
		{"records", 0.052, 0, false},
		{"records", -0.3, 0, false},
		{"values", 0.9, 0, false}, // a larger value costs more
		{"size", 0.6, 1, false},
	} {
		v := Verdict{Families: []Family{{Name: "tier0/fetch", Tier: c.tier, Reference: 18, Growth: &Growth{Axis: c.axis, Sizes: []float64{8, 64, 512}, Reference: c.slope}}}}
		v.warnOfSharedGrowth()
		if said := len(v.Warnings) == 1; said != c.said {
			t.Errorf("%s, slope %g: %+v", c.axis, c.slope, v.Warnings)
		}
	}
}
