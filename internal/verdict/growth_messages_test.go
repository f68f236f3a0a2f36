package verdict

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"protocolbench/internal/record"
	"protocolbench/internal/shape"
)

// messageGrowth judges a made-up message with 1, 10 and 100 elements, of which some versions cost more.
func messageGrowth(seedValue uint64, axis string, extra func(ladder) func(version, records int) float64) *Growth {
	l := newLadder(seedValue, 0, "records", []int{1, 10, 100}, []int{1, 10, 100}, 200, 100)
	l.noise, l.state = 0.02, 0.01
	l.extra = extra(l)
	runs := l.families()
	for i := range runs {
		f := &runs[i]
		f.API, f.Message, f.Group = "MetadataResponse", "response", "metadata"
		n := l.sizes[i]
		f.Shape = shape.Shape{Name: fmt.Sprintf("%s=%d", axis, n), Elements: n, Nested: 2}
		if axis == "nested" {
			f.Shape.Elements, f.Shape.Nested = 1, n
		}
	}
	families, judged := judgedAlone(runs)
	addGrowth(families, judged)
	return families[2].Growth
}

// A message grows in its dimension where a good part of its cost is quadratic, and doesn't where caches bend the curve a little, or an element or a message costs more at every size.
func TestGrowthOfMessages(t *testing.T) {
	for name, c := range map[string]struct {
		extra func(ladder) func(int, int) float64
		grows []int
	}{
		"alike":             {func(l ladder) func(int, int) float64 { return l.squared(99, 99, 0) }, nil},
		"a quadratic half":  {func(l ladder) func(int, int) float64 { return l.squared(9, 11, 0.5) }, []int{9, 10, 11}},
		"a quadratic third": {func(l ladder) func(int, int) float64 { return l.squared(4, 6, 0.34) }, []int{4, 5, 6}},
		"a bent curve":      {func(l ladder) func(int, int) float64 { return l.squared(9, 11, 0.12) }, nil},
		"elements": {func(ladder) func(int, int) float64 {
			return func(version, n int) float64 { return map[bool]float64{true: 150 * float64(n)}[version >= 8] }
		}, nil},
		"messages": {func(ladder) func(int, int) float64 {
			return func(version, n int) float64 { return map[bool]float64{true: 500}[version >= 8] }
		}, nil},
	} {
		for _, axis := range []string{"elements", "nested"} {
			for seedValue := range uint64(5) {
				g := messageGrowth(seedValue, axis, c.extra)
				if g == nil || g.Axis != axis || !slices.Equal(g.Sizes, []float64{1, 10, 100}) {
					t.Fatalf("%s: growth over %s: %+v", name, axis, g)
				}
				var grows []int
				for _, cell := range g.Cells {
					if cell.Grows {
						grows = append(grows, cell.Version)
					}
				}
				if !slices.Equal(grows, c.grows) {
					t.Errorf("%s, %s, seed %d: %v grow, want %v", name, axis, seedValue, grows, c.grows)
				}
			}
		}
	}
}

// Messages beside them change nothing for the alarms of the families that decide.
func TestMessagesDontWeakenAlarms(t *testing.T) {
	run := quickWorld(3).run()
	before := Judge(run, goodGuards(run), Options{})
	more := record.FamilyRun{Family: record.Family{Tier: 0, Name: "tier0/apis/group/heartbeat.request/elements=1/bare", API: "HeartbeatRequest", Message: "request", Group: "group", Margin: 0.1, Reference: 4}}
	for range 700 {
		run.Families = append(run.Families, more)
	}
	after := Judge(run, goodGuards(run), Options{})
	for i, f := range before.Families {
		was, err1 := json.Marshal(f)
		is, err2 := json.Marshal(after.Families[i])
		if err1 != nil || err2 != nil || string(was) != string(is) {
			t.Errorf("%s is judged otherwise beside messages:\n%s\n%s (%v, %v)", f.Name, was, is, err1, err2)
		}
	}
	if after.Verdict != before.Verdict || after.Families[len(after.Families)-1].Message != "request" {
		t.Errorf("verdict %s (%s) beside messages, %s without", after.Verdict, after.Reason, before.Verdict)
	}
}
