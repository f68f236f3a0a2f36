package tiers

import (
	"slices"
	"strings"
	"testing"

	"protocolbench/internal/record"
)

// What is measured and what is said not to be are together all that there is, in every profile: a family in neither would be missed by nobody.
func TestNothingIsNeitherMeasuredNorSaidNotToBe(t *testing.T) {
	for _, profile := range []string{"quick", "standard", "release"} {
		for _, c := range []Config{{Tiers: []int{0, 1, 2}}, {Tiers: []int{1}}, {Tiers: []int{0, 1, 2}, Only: []string{"tier1/fetch/size=64KiB/bare"}},
			{Tiers: []int{0, 1}, Baseline: &Client{}}} {
			c.Profile = profile
			c = c.Narrowed()
			count := len(c.chosen(false))
			for _, u := range c.notCovered(false) {
				count += u.Families
				for _, f := range everything() {
					if axis, size := axisOf(f.name()); axis == u.Name && f.profile == u.Profile && (size == "") != (len(u.Sizes) == 0) {
						t.Errorf("%s: size %q beside sizes %v", f.name(), size, u.Sizes)
					}
				}
			}
			if all := len(everything()); count != all {
				t.Errorf("%s, tiers %v, only %q: %d families are measured or said not to be, of %d", profile, c.Tiers, c.Only, count, all)
			}
		}
	}
}

func TestWhatQuickDoesNotCover(t *testing.T) {
	find := func(list []record.Unmeasured, name, profile string) record.Unmeasured {
		i := slices.IndexFunc(list, func(u record.Unmeasured) bool { return u.Name == name && u.Profile == profile })
		if i < 0 {
			t.Fatalf("%s of %s is not said", name, profile)
		}
		return list[i]
	}
	quick := Config{Profile: "quick", Tiers: []int{0, 1, 2}}.notCovered(false)
	if got := find(quick, "tier1/fetch/size", "standard"); !slices.Contains(got.Sizes, "4KiB") || slices.Contains(got.Sizes, "64KiB") {
		t.Errorf("sizes of Fetch: %+v", got)
	}
	if got := find(quick, "tier0/apis/metadata", "release"); got.Families < 2 || got.Sizes != nil {
		t.Errorf("messages: %+v", got)
	}
	for _, u := range quick {
		if names(Config{Profile: "release", Tiers: []int{0, 1, 2}, Only: []string{u.Name}}) == nil {
			t.Errorf("--only %s takes nothing", u.Name)
		}
		if strings.Contains(u.Name, "=") {
			t.Errorf("%s is no axis", u.Name)
		}
	}
	narrow := Config{Profile: "quick", Tiers: []int{1}, Only: []string{"tier1/fetch/size=64KiB/bare"}}.notCovered(false)
	if got := find(narrow, "tier1/produce/records", "quick"); got.Families < 2 {
		t.Errorf("what --only left out of its own profile: %+v", got)
	}
}
