package tiers

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"protocolbench/pin"
)

func TestValidateReportsEveryFaultAtOnce(t *testing.T) {
	c := Config{Profile: "fast", Tiers: []int{0, 3}, Versions: map[string][2]int{"join": {1, 2}, "fetch": {9, 4}}, Margin: 2,
		Only: []string{"tier9/"}, Jolokia: "http://127.0.0.1:1/jolokia"}
	err := c.Validate()
	var usage *UsageError
	if !errors.As(err, &usage) {
		t.Fatalf("got %v, want a UsageError", err)
	}
	for _, want := range []string{`profile "fast"`, "tier 3", `API "join"`, "fetch=9-4", "margin 2", "unknown family", "--jolokia goes with"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not reported in: %v", want, err)
		}
	}
	if len(usage.Faults) != 7 {
		t.Errorf("%d faults, want 7: %v", len(usage.Faults), usage.Faults)
	}
	if err := (Config{Profile: "quick", Tiers: []int{0, 1, 2}}).Validate(); err != nil {
		t.Errorf("a plain request is refused: %v", err)
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"tier1/fetch", "tier1/fetch/size=64KiB/bare", true},
		{"tier1/fetch/size=64KiB/bare", "tier1/fetch/size=64KiB/bare", true},
		{"*/fetch/*", "tier1/fetch/size=64KiB/bare", true},
		{"tier?/produce/records=1,acks=0/*", "tier1/produce/records=1,acks=0/bare", true},
		{"fetch", "tier1/fetch/size=64KiB/bare", false},
		{"*/produce/*", "tier1/fetch/size=64KiB/bare", false},
	} {
		if got := matches(c.pattern, c.name); got != c.want {
			t.Errorf("matches(%q, %q) = %v", c.pattern, c.name, got)
		}
	}
}

func TestFamilyNamesAreUniqueAndShapesValid(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range everything() {
		if seen[f.name()] {
			t.Errorf("two families are called %s", f.name())
		}
		seen[f.name()] = true
		if err := f.shape.Validate(); err != nil {
			t.Errorf("%s: %v", f.name(), err)
		}
	}
}

func names(c Config) []string {
	var list []string
	for _, f := range c.chosen(false) {
		list = append(list, f.name())
	}
	return list
}

func TestProfilesAreNested(t *testing.T) {
	all := []int{0, 1, 2}
	quick, standard, release := names(Config{Profile: "quick", Tiers: all}), names(Config{Profile: "standard", Tiers: all}), names(Config{Profile: "release", Tiers: all})
	for _, name := range quick {
		if !slices.Contains(standard, name) {
			t.Errorf("%s is in quick, not in standard", name)
		}
	}
	for _, name := range standard {
		if !slices.Contains(release, name) {
			t.Errorf("%s is in standard, not in release", name)
		}
	}
	// The shapes that the product promises: of the codecs six in the core, with the collector off and on, and six more; three fetch, six produce and three of other shapes, and tier 2's six.
	if len(standard) != 6+6+6+3+6+3+6 {
		t.Errorf("standard has %d families: %v", len(standard), standard)
	}
}

func TestOnlyReachesBeyondTheProfileOnlyForWhoNamesIt(t *testing.T) {
	got := names(Config{Profile: "quick", Tiers: []int{1}, Only: []string{"tier1/fetch/size=4KiB"}})
	if !slices.Equal(got, []string{"tier1/fetch/size=4KiB/bare"}) {
		t.Errorf("a family named outside the profile: %v", got)
	}
	for _, name := range names(Config{Profile: "quick", Tiers: []int{1}, Only: []string{"tier1/fetch"}}) {
		if strings.Contains(name, "=4KiB") {
			t.Error("a prefix that fits families of the profile brought in others")
		}
	}
}

// Of an axis all sizes are wanted, since it is its growth that is asked for.
func TestOnlyOfAnAxisTakesAllItsSizes(t *testing.T) {
	for pattern, want := range map[string]int{
		"tier0/fetch/delivery":               4, // one of them in standard
		"tier0/fetch/topics=*/bare":          3,
		"tier0/fetch/partitions":             4, // and the frames alone
		"tier0/fetch/records=100":            1, // a size, and not 1000
		"tier0/fetch":                        10,
		"tier0/fetch/*/bare":                 7,
		"tier0/fetch/records=10000/bare":     1,
		"tier0/apis/metadata/metadata.reque": 3,
	} {
		got := names(Config{Profile: "standard", Tiers: []int{0}, Only: []string{pattern}})
		if len(got) != want {
			t.Errorf("%s: %d families, want %d: %v", pattern, len(got), want, got)
		}
	}
}

func TestMarginsOfQuickAndOfTheUser(t *testing.T) {
	for _, f := range (Config{Profile: "quick", Tiers: []int{0, 1}}).chosen(false) {
		if f.margin != quickMargin {
			t.Errorf("%s: margin %g in quick", f.name(), f.margin)
		}
	}
	for _, f := range (Config{Profile: "standard", Tiers: []int{0, 1}, Margin: 0.02}).chosen(false) {
		if f.margin != 0.02 {
			t.Errorf("%s: margin %g, want the user's", f.name(), f.margin)
		}
	}
}

func TestEmbeddedHasOneFamilyPerLiveTier(t *testing.T) {
	perTier := map[int]int{}
	for _, f := range (Config{Profile: "standard", Tiers: []int{0, 1, 2}}).chosen(true) {
		perTier[f.tier]++
	}
	if perTier[0] != 18 || perTier[1] != 1 || perTier[2] != 1 {
		t.Errorf("families per tier: %v, want 18, 1, 1", perTier)
	}
}

func TestCellsHaveTwinsAndACanary(t *testing.T) {
	plan := pin.Build(pin.Scope{API: pin.Fetch, Implemented: [2]int{0, 18}, Advertised: pin.None, Asked: pin.None}, -1, nil)
	list := cells(0, plan, []*side{{}})
	roles := map[string]int{}
	for i, c := range list {
		roles[c.Role]++
		if c.Cell != i {
			t.Errorf("cell %d stands at %d", c.Cell, i)
		}
		if c.Role != "version" && c.Version != 18 {
			t.Errorf("a %s of v%d, want the reference", c.Role, c.Version)
		}
	}
	if len(list) != 18 || roles["twin"] != 2 || roles["canary"] != 1 {
		t.Errorf("%d cells, roles %v; want 18 with two twins and a canary", len(list), roles)
	}
	if alone := cells(2, plan, []*side{{}}); len(alone) != 1 || alone[0].Version != -1 {
		t.Errorf("tier 2: %v", alone)
	}
}
