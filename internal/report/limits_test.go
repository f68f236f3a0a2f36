package report

import (
	"fmt"
	"strings"
	"testing"

	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

func limited(name string, difference float64, oneIn int) verdict.Family {
	return verdict.Family{Tier: 1, Name: name, API: "Fetch", Deciding: true,
		Limits: &verdict.Limits{SmallestDifference: difference, SmallestShown: difference / 2, Stalls: &verdict.StallLimit{OneIn: oneIn, Ms: 10}}}
}

// The worst family is in the line, whatever the others resolve, and one that resolves nothing is named.
func TestLimitsShowTheWorst(t *testing.T) {
	for name, c := range map[string]struct {
		families []verdict.Family
		want     []string
	}{
		"one":           {[]verdict.Family{limited("a", 0.12, 69)}, []string{"tier 1, 1 deciding family: a version slower by less than 12.0 %; stalls shorter than 10 ms, or rarer than one in 69 responses"}},
		"two":           {[]verdict.Family{limited("a", 0.12, 69), limited("b", 0.2, 7)}, []string{"less than 12.0 to 20.0 %, by family", "one in 7 to 69 responses"}},
		"no stall seen": {[]verdict.Family{limited("a", 0.12, 0)}, []string{"any stall"}},
		"none in one":   {[]verdict.Family{limited("a", 0.12, 0), limited("b", 0.12, 30)}, []string{"one in 30 responses, in some families any"}},
		"blind":         {[]verdict.Family{limited("a", 0.12, 69), limited("b", verdict.Unbounded, 69)}, []string{"less than 12.0 %", "a slower version, however slow, in b"}},
	} {
		lines := strings.Join(limits(verdict.Verdict{Families: c.families}, record.Schema, 0), "\n")
		for _, want := range append(c.want, "what all versions do alike") {
			if !strings.Contains(lines, want) {
				t.Errorf("%s: %q lacks %q", name, lines, want)
			}
		}
	}
	embedded, shown := limited("a", 0.12, 69), limited("b", 0.12, 69)
	embedded.Embedded, shown.Deciding = true, false
	if got := limits(verdict.Verdict{Families: []verdict.Family{embedded, shown}}, record.Schema, 0); got != nil || familyLimits(embedded) != "" {
		t.Errorf("figures of a family that has none, or decides nothing: %q", got)
	}
}

func TestLimitsNameVersionsAndShapes(t *testing.T) {
	a, b := limited("a", 0.12, 69), limited("b", 0.12, 69)
	a.Limits.NotCovered, b.Limits.NotCovered = []int{0, 1}, []int{0, 1, 5, 6}
	v := verdict.Verdict{Families: []verdict.Family{a, b}}
	for i := range 5 {
		v.NotCovered = append(v.NotCovered, record.Unmeasured{Name: fmt.Sprintf("tier0/fetch/axis%d", i), Profile: "release", Sizes: []string{"1", "2"}, Families: 2})
	}
	long, short := strings.Join(limits(v, record.Schema, 0), "\n"), strings.Join(limits(v, record.Schema, axesShown), "\n")
	for _, want := range []string{"Fetch versions 0,1, and more versions in 1 of 2 families of Fetch", "not measured, of profile release: 10 families: tier0/fetch/axis0=1|2, tier0/fetch/axis1=1|2"} {
		if !strings.Contains(long, want) || !strings.Contains(short, want) {
			t.Errorf("%q lacks %q", long, want)
		}
	}
	if got := strings.Join(limits(v, 3, 0), "\n"); !strings.Contains(got, "doesn't say") {
		t.Errorf("of an old record: %q", got)
	}
	if !strings.Contains(long, "axis4") || strings.Contains(short, "axis3") || !strings.Contains(short, "and 2 more axes") {
		t.Errorf("in full %q, in short %q", long, short)
	}
}

// They stand right above the verdict, which is a terminal's last line.
func TestLimitsStandAboveTheVerdict(t *testing.T) {
	var out strings.Builder
	v, run := exampleVerdict(), exampleRun()
	if err := Text(&out, v, run); err != nil {
		t.Fatal(err)
	}
	_, end, found := strings.Cut(out.String(), limitsTitle+"\n")
	lines := strings.Split(strings.TrimSpace(end), "\n")
	if !found || !strings.Contains(end, "one in 69 responses") || !strings.HasPrefix(lines[len(lines)-1], "verdict: ") {
		t.Errorf("the end is %q", end)
	}
}
