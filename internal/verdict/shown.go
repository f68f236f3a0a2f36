package verdict

import (
	"fmt"
	"strings"
)

// warnOfShown says aloud what families that decide nothing have found: their numbers fail no run, since an idea of the noise that they have is coarse (the collector on, say), but whoever reads
// "pass" has to hear of it. Messages alone have a table of their own, of what stands out.
func (v *Verdict) warnOfShown() {
	for _, f := range v.Families {
		if f.Deciding || f.Message != "" || f.Embedded {
			continue
		}
		var found []string
		for _, c := range f.Cells {
			if c.Verdict == Slower {
				found = append(found, fmt.Sprintf("v%d is slower by %s", c.Version, percent(c.Difference)))
			}
		}
		for _, s := range f.dearer() {
			found = append(found, fmt.Sprintf("from v%d on it costs %s more than before", s.At, percent(s.Rise)))
		}
		if f.Growth != nil && f.Growth.any() {
			found = append(found, growthWhy(f))
		}
		if found != nil {
			v.warnOnce(Warning{Text: fmt.Sprintf("%s decides nothing, and shows: %s", f.Name, strings.Join(found, "; ")), Remedy: fmt.Sprintf("look at it: run --only %s --profile-cpu %s", f.Name, f.Name)})
		}
	}
}
