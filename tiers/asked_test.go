package tiers

import (
	"slices"
	"strings"
	"testing"
)

func TestOnlyAsksForTheTiersThatItNames(t *testing.T) {
	all := []int{0, 1, 2}
	for _, c := range []struct {
		tiers []int
		only  []string
		want  []int
	}{
		{all, nil, all},
		{all, []string{"tier1/fetch/size=64KiB/bare"}, []int{1}},
		{all, []string{"tier1/fetch/size=4KiB/bare"}, []int{1}}, // not in quick: who names it wants it
		{all, []string{"tier2/"}, []int{2}},
		{all, []string{"tier2/fetch", "tier0/fetch/topics"}, []int{0, 2}},
		{all, []string{"*/fetch/size=64KiB/*"}, []int{1, 2}},
		{all, []string{"tier?/produce/records=100,acks=all/*"}, []int{1, 2}},
		{all, []string{"*"}, all},
		{[]int{1}, []string{"*/fetch/size=64KiB/*"}, []int{1}},
		{[]int{0}, []string{"tier1/fetch"}, []int{0}}, // a fault, below
		{all, []string{"tier9/"}, all},                // a fault of its own
	} {
		for _, profile := range []string{"quick", "standard", "release"} {
			asked := Config{Profile: profile, Tiers: c.tiers, Only: c.only}
			narrowed := asked.Narrowed()
			if !slices.Equal(narrowed.Tiers, c.want) {
				t.Errorf("%s, tiers %v, --only %q: tiers %v, want %v", profile, c.tiers, c.only, narrowed.Tiers, c.want)
			}
			if before, after := names(asked), names(narrowed); !slices.Equal(before, after) {
				t.Errorf("%s, --only %q: the families changed from %v to %v", profile, c.only, before, after)
			}
		}
	}
}

// Every tier that is left has something to measure: else the record asks for what nobody measures, and the run is never conclusive.
func TestNoNarrowedTierIsEmpty(t *testing.T) {
	for _, f := range everything() {
		for _, baseline := range []*Client{nil, {}} {
			c := Config{Profile: "quick", Tiers: []int{0, 1, 2}, Only: []string{f.name()}, Baseline: baseline}.Narrowed()
			if c.Validate() != nil {
				continue // refused in words, not run for nothing
			}
			if got := names(c); len(got) != 1 || got[0] != f.name() || !slices.Equal(c.Tiers, []int{f.tier}) {
				t.Errorf("--only %s (two builds: %v): families %v of tiers %v", f.name(), baseline != nil, got, c.Tiers)
			}
		}
	}
}

func TestAFamilyOfATierThatIsNotAskedForIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		config Config
		want   string
	}{
		"another tier":           {Config{Tiers: []int{0}, Only: []string{"tier1/fetch/size=64KiB/bare"}}, "names no family of tier 0, which --tier asks for, but of tier 1"},
		"several others":         {Config{Tiers: []int{0}, Only: []string{"*/fetch/size=64KiB/*"}}, "but of tier 1 and 2"},
		"one of two":             {Config{Tiers: []int{1}, Only: []string{"tier1/fetch", "tier0/fetch"}}, `--only "tier0/fetch" names no family of tier 1`},
		"compressed, two builds": {Config{Tiers: []int{0}, Only: []string{"tier0/fetch/compression=gzip"}, Baseline: &Client{}}, "compresses"},
		"tier 2 of two builds": {Config{Tiers: []int{0, 1, 2}, Only: []string{"tier2/"}, Baseline: &Client{}}.Narrowed(),
			"--baseline goes with tier 0 or 1"},
	} {
		c.config.Profile = "quick"
		err := c.config.Validate()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
