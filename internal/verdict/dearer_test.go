package verdict

import (
	"fmt"
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

// A fault that came with one version and stayed leaves every later one "not slower" than the newest, which has it, too. The step up has to fail the run.
func TestStepUpByTheMarginFailsARun(t *testing.T) {
	for name, c := range map[string]struct {
		cost   func(int) float64
		change func(*record.Run)
		word   string
		reason string
		dearer []int
	}{
		"nothing":                              {from(nil), nil, Pass, "no version", nil},
		"below the margin":                     {from(map[int]float64{13: 1.03}), nil, Pass, "no version", nil},
		"above it":                             {from(map[int]float64{13: 1.10}), nil, Fail, "costs more from v13 on than before, by ", []int{13}},
		"two steps, above it together":         {from(map[int]float64{9: 1.035, 13: 1.035}), nil, Fail, "costs more from v13 on", []int{13}},
		"down and half way up again":           {from(map[int]float64{7: 0.93, 13: 1.035}), nil, Pass, "no version", nil},
		"in a family that decides nothing":     {from(map[int]float64{13: 1.10}), func(r *record.Run) { r.Families[0].Deciding = false }, Inconclusive, "nothing that decides", []int{13}},
		"on the embedded broker":               {from(map[int]float64{13: 1.10}), func(r *record.Run) { r.Brokers[0].Provider = providerEmbedded }, Inconclusive, "embedded", []int{13}},
		"of messages alone, which have fields": {from(map[int]float64{13: 1.10}), func(r *record.Run) { r.Families[0].Message = "response" }, Pass, "no version", nil},
		"the newest alone is called slower":    {from(map[int]float64{18: 1.10}), nil, Fail, "v18 is slower by", []int{18}},
	} {
		w := standardWorld(21)
		w.families, w.noise, w.state, w.margin = 1, 0.004, 0.002, 0.05
		w.cost = c.cost
		run := w.run()
		if c.change != nil {
			c.change(run)
		}
		v := Judge(run, goodGuards(), Options{})
		var dearer []int
		for _, s := range v.Families[0].Steps {
			if s.Dearer {
				dearer = append(dearer, s.At)
			}
		}
		if v.Verdict != c.word || !strings.Contains(v.Reason, c.reason) || fmt.Sprint(dearer) != fmt.Sprint(c.dearer) {
			t.Errorf("%s: %s (%s), dearer from %v on, want %s (%s) and %v", name, v.Verdict, v.Reason, dearer, c.word, c.reason, c.dearer)
		}
		if c.word == Fail && strings.Count(v.Reason, "v18") > 1 || strings.Contains(v.Reason, "and 1 more") && len(c.dearer) > 0 {
			t.Errorf("%s: named twice: %s", name, v.Reason)
		}
	}
}

// Where the cost falls again it is not "on".
func TestStretch(t *testing.T) {
	f := Family{Cells: []Cell{{Version: 4}, {Version: 8}, {Version: 9}, {Version: 11}, {Version: 13}}, Steps: []Step{{At: 8}, {At: 9}, {At: 13}}}
	for i, want := range []string{"at v8", "from v9 to v11", "from v13 on"} {
		if got := f.Stretch(f.Steps[i]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What could not have been measured decides nothing, and what nobody notices neither.
func TestNoStepIsDearerWhereNothingCanBeSaid(t *testing.T) {
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
		"0.5 us per request":   {5_000, func(*judgement) {}, false},
	} {
		made := w
		made.requestNs = c.requestNs
		run := made.run()
		j := judgementOf(run.Families[0], 0.05)
		c.spoil(&j)
		steps := j.steps(run.Header.Seed)
		if len(steps) != 1 || steps[0].Dearer != c.dearer {
			t.Errorf("%s: %+v, want one, dearer %t", name, steps, c.dearer)
		}
	}
}

// What a family shows that decides nothing fails no run, and is said.
func TestWhatDecidesNothingIsSaidAloud(t *testing.T) {
	found := func(change func(*Family)) []Warning {
		f := Family{Name: "tier0/fetch/topics=100/gc", Cells: []Cell{{Version: 12, Verdict: NotSlower}, {Version: 13, Verdict: NotSlower}}, Steps: []Step{{At: 12, Material: true, Rise: 0.01}, {At: 13, Material: true, Dearer: true, Rise: 0.146}}}
		change(&f)
		v := Verdict{Families: []Family{f}}
		v.warnOfShown()
		return v.Warnings
	}
	if got := found(func(*Family) {}); len(got) != 1 || got[0].Text != "tier0/fetch/topics=100/gc decides nothing, and shows: from v13 on it costs 14.6 % more than before" {
		t.Errorf("%+v", got)
	}
	if got := found(func(f *Family) { f.Cells[1].Verdict, f.Cells[1].Difference = Slower, 0.2 }); len(got) != 1 || !strings.HasSuffix(got[0].Text, "shows: v13 is slower by 20.0 %") {
		t.Errorf("%+v", got)
	}
	for name, change := range map[string]func(*Family){
		"it decides":       func(f *Family) { f.Deciding = true },
		"a message":        func(f *Family) { f.Message = "response" },
		"no figure":        func(f *Family) { f.Embedded = true },
		"nothing is there": func(f *Family) { f.Steps = nil },
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
