package cli

import (
	"fmt"
	"testing"
	"time"

	"protocolbench/tiers"
)

// Many messages are a line per group, with all that they take; a few are listed as they are.
func TestMessagesAreListedByGroup(t *testing.T) {
	var few, many []tiers.Listed
	for i := range listedWhole + 6 {
		f := tiers.Listed{Name: fmt.Sprintf("tier0/apis/group/a%d.request/elements=1/bare", i), Group: "group", Cells: 5, Expected: time.Second, Margin: 0.1}
		if i%2 == 1 {
			f.Group = "other"
		}
		many = append(many, f)
	}
	few = append(few, many[:3]...)
	many = append(many, tiers.Listed{Name: "tier0/fetch/records=1/bare", Cells: 18, Expected: time.Minute})
	if got := folded(few); len(got) != 3 || got[0] != few[0] {
		t.Errorf("a few: %+v", got)
	}
	got := folded(many)
	half := (listedWhole + 6) / 2
	want := fmt.Sprintf("tier0/apis/group/... (%d families)", half)
	if len(got) != 3 || got[0].Name != want || got[0].Cells != 5*half || got[0].Expected != time.Duration(half)*time.Second || got[2].Name != "tier0/fetch/records=1/bare" {
		t.Errorf("many: %+v", got)
	}
	if many[0].Cells != 5 || many[1].Name == got[1].Name {
		t.Error("folding changes what is folded")
	}
}
