package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"protocolbench/guards"
	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

// messageOf is a message at one size, with costs in us, bytes and allocations per message by version.
func messageOf(api, group, size string, elements float64, versions ...[3]float64) verdict.Family {
	f := verdict.Family{Name: fmt.Sprintf("tier0/apis/%s/%s/%s/bare", group, strings.ToLower(api), size), API: api, Group: group, Message: "response", Mode: "bare", Margin: 0.1, Reference: len(versions) - 1}
	for v, x := range versions {
		f.Cells = append(f.Cells, verdict.Cell{Version: v, Verdict: verdict.NotSlower, CPUUsPerRequest: x[0], CPUNsPerRecord: x[0] * 1000 / elements, WireBytesPerRecord: x[1] / elements,
			AllocsPerRecord: x[2] / elements, RequestsPer1000: 1000 / elements})
	}
	return f
}

func stepped(f verdict.Family, at int, difference float64) verdict.Family {
	before := f.Cells[at-1].CPUUsPerRequest
	f.Steps = append(f.Steps, verdict.Step{At: at, Difference: difference, UsPerRequest: before * difference, Material: before*difference >= 1})
	return f
}

func standOutOf(families ...verdict.Family) []string {
	var rows []string
	for _, row := range apis(verdict.Verdict{Families: families}).StandOut.Rows {
		rows = append(rows, strings.Join(row, "|"))
	}
	return rows
}

func TestWhatStandsOut(t *testing.T) {
	grown := messageOf("CResponse", "group", "elements=100", 100, [3]float64{10, 100, 10}, [3]float64{90, 100, 10})
	grown.Growth = &verdict.Growth{Axis: "elements", Sizes: []float64{1, 10, 100}, Cells: []verdict.GrowthCell{{Version: 0, Slope: -0.9}, {Version: 1, Grows: true}}}
	slower := messageOf("DResponse", "group", "elements=100", 100, [3]float64{15, 100, 10}, [3]float64{10, 100, 10})
	slower.Cells[0].Verdict, slower.Cells[0].Difference = verdict.Slower, 0.5
	newest := messageOf("EResponse", "group", "elements=100", 100, [3]float64{10, 100, 10}, [3]float64{15, 100, 10})
	newest.Cells[1].Verdict, newest.Cells[1].Difference = verdict.Slower, 0.5
	builds := messageOf("GResponse", "group", "elements=100", 100, [3]float64{15, 100, 10}, [3]float64{10, 100, 10})
	builds.Cells[0].Verdict, builds.Cells[0].Difference = verdict.Slower, 0.25
	builds.Cells[0].Baseline = &verdict.Figures{CPUUsPerRequest: 12, WireBytesPerRecord: 1, AllocsPerRecord: 0.08, RequestsPer1000: 10}
	quadratic := messageOf("FResponse", "group", "elements=100", 100, [3]float64{50, 100, 10})
	for name, c := range map[string]struct {
		families []verdict.Family
		want     []string
	}{
		"a field": {[]verdict.Family{stepped(messageOf("AResponse", "group", "elements=100", 100, [3]float64{10, 1000, 100}, [3]float64{15, 1500, 200}), 1, 0.5)},
			[]string{"AResponse|el. 100|v1 step|10->15|+50.0|1000->1500|100->200|both"}},
		"no field": {[]verdict.Family{stepped(messageOf("AResponse", "group", "nested=100", 100, [3]float64{10, 1000, 100}, [3]float64{15, 1000, 100}), 1, 0.5)},
			[]string{"AResponse|nest. 100|v1 step|10->15|+50.0|1000->1000|100->100|NOTHING"}},
		"the wrong way": {[]verdict.Family{stepped(messageOf("AResponse", "group", "elements=100", 100, [3]float64{10, 1000, 100}, [3]float64{15, 700, 100}), 1, 0.5)},
			[]string{"AResponse|el. 100|v1 step|10->15|+50.0|1000->700|100->100|little"}},
		"many times": {[]verdict.Family{stepped(messageOf("AResponse", "group", "elements=100", 100, [3]float64{2, 1000, 0}, [3]float64{10, 9000, 0}), 1, 4)},
			[]string{"AResponse|el. 100|v1 step|2->10|x 5.00|1000->9000|0->0|bytes"}},
		"the largest of two sizes": {[]verdict.Family{
			stepped(messageOf("AResponse", "group", "elements=100", 100, [3]float64{10, 1000, 100}, [3]float64{15, 1500, 200}), 1, 0.5),
			stepped(messageOf("AResponse", "group", "nested=100", 100, [3]float64{20, 1000, 100}, [3]float64{30, 1500, 200}), 1, 0.5)},
			[]string{"AResponse|nest. 100|v1 step|20->30|+50.0|1000->1500|100->200|both"}},
		"too small a part": {[]verdict.Family{stepped(messageOf("AResponse", "group", "elements=100", 100, [3]float64{100, 1, 1}, [3]float64{109, 1, 1}), 1, 0.09)}, nil},
		"too little":       {[]verdict.Family{stepped(messageOf("AResponse", "group", "elements=1", 1, [3]float64{1, 1, 1}, [3]float64{1.5, 1, 1}), 1, 0.5)}, nil},
		"grows":            {[]verdict.Family{grown}, []string{"CResponse|el. 100|GROWS v1||slope +0.90|||NOTHING"}},
		"slower":           {[]verdict.Family{slower}, []string{"DResponse|el. 100|v0 slower|10->15|+50.0|100->100|10->10|NOTHING"}},
		"the newest":       {[]verdict.Family{newest}, []string{"EResponse|el. 100|v1 slower|10->15|+50.0|100->100|10->10|NOTHING"}},
		"two builds":       {[]verdict.Family{builds}, []string{"GResponse|el. 100|v0 slower|12->15|+25.0|100->100|8->10|allocs"}},
		"own growth":       {[]verdict.Family{messageOf("FResponse", "group", "elements=10", 10, [3]float64{3, 100, 10}), quadratic}, []string{"FResponse|el. 100|own growth v0|300.0->500.0 ns/el|+66.7|||"}},
		"no own growth":    {[]verdict.Family{messageOf("FResponse", "group", "elements=10", 10, [3]float64{6, 100, 10}), quadratic}, nil},
	} {
		if got := standOutOf(c.families...); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if apis(verdict.Verdict{Families: []verdict.Family{{Name: "tier0/fetch/records=1/bare"}}}) != nil {
		t.Error("a run without messages has no section of them")
	}
}

// A few messages are shown as all families are; hundreds are folded, and what failed of them is still said.
func TestManyMessagesAreFolded(t *testing.T) {
	many := verdict.Verdict{Families: []verdict.Family{{Name: "tier0/fetch/records=1/bare", Mode: "bare"}}}
	for i := range shownWhole + 1 {
		f := messageOf(fmt.Sprintf("M%02dResponse", i), []string{"group", "other"}[i/7], "elements=1", 1, [3]float64{1, 20, 3})
		many.Families = append(many.Families, f)
		many.Guards = append(many.Guards, guards.Finding{Guard: guards.Data, Family: f.Name, Version: guards.AllVersions, Outcome: guards.Pass, Why: "as it was given"})
	}
	many.Guards[3].Outcome, many.Guards[3].Why = guards.Fail, "a field is lost"
	few := many
	few.Families, few.Guards = many.Families[:4], many.Guards[:3]
	for _, c := range []struct {
		v     verdict.Verdict
		whole int
	}{{many, 0}, {few, 3}} {
		var text, markdown bytes.Buffer
		run := &record.Run{}
		if err := Text(&text, c.v, run); err != nil {
			t.Fatal(err)
		}
		if err := Markdown(&markdown, c.v, run); err != nil {
			t.Fatal(err)
		}
		sections := strings.Count(text.String(), "\ntier0/apis/")
		if sections != c.whole {
			t.Errorf("%d messages: %d of them have a section", len(c.v.Families)-1, sections)
		}
		if folded := strings.Count(markdown.String(), "<details>"); folded != map[bool]int{true: 2, false: 0}[c.whole == 0] {
			t.Errorf("%d messages: %d folded tables", len(c.v.Families)-1, folded)
		}
		for i := range len(c.v.Families) - 1 {
			if !strings.Contains(markdown.String(), fmt.Sprintf("M%02dResponse", i)) && !strings.Contains(markdown.String(), fmt.Sprintf("m%02dresponse", i)) {
				t.Errorf("message %d is nowhere in the Markdown", i)
			}
		}
		if c.whole == 0 {
			if n := strings.Count(markdown.String(), "as it was given"); n != 0 {
				t.Errorf("%d passes of folded messages among the findings", n)
			}
			if !strings.Contains(markdown.String(), "a field is lost") || !strings.Contains(text.String(), "a field is lost") || !strings.Contains(text.String(), "data 1 FAIL + 12 pass") {
				t.Errorf("what failed is not said:\n%s", text.String())
			}
		}
	}
}
