package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// warnOfShown says aloud what families that decide nothing have found. They fail no run, since they are too noisy (the collector on) or too small a part of what a client does (frames, polls), but whoever
// reads "pass" has to hear of it. Messages alone have a table of their own, of what stands out.
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
		if why := dearerWhy(f); why != "" {
			found = append(found, why)
		}
		if f.Growth != nil && f.Growth.any() {
			found = append(found, growthWhy(f))
		}
		if found != nil {
			v.warnOnce(Warning{Text: fmt.Sprintf("%s decides nothing, and shows: %s", f.Name, strings.Join(found, "; ")), Remedy: fmt.Sprintf("look at it: run --only %s --profile-cpu %s", f.Name, f.Name)})
		}
	}
}

// sharedRise is by how much the cost per record of the newest version has to rise over the three largest sizes before anybody hears of it: caches alone make a quarter (100,000 records in a request, on
// the machines of METHODOLOGY.md); a quadratic part that is a tenth of the cost at the middle size doubles it where sizes are ten times apart.
const sharedRise = 0.5

// scaling are the axes along which a record should cost the same at any size. The others make records, or what stands around each, larger.
var scaling = []string{"records", "batches", "partitions", "topics", "delivery"}

// warnOfSharedGrowth says what no comparison of versions can: all of them grow.
func (v *Verdict) warnOfSharedGrowth() {
	for _, f := range v.Families {
		g := f.Growth
		if g == nil || f.Message != "" || f.Embedded || f.Tier > 0 || !slices.Contains(scaling, g.Axis) {
			continue
		}
		smallest, largest := g.Sizes[0], g.Sizes[len(g.Sizes)-1]
		if rise := math.Expm1(g.Reference * math.Log(largest/smallest)); rise >= sharedRise {
			v.warnOnce(Warning{Text: fmt.Sprintf("%s: the cost per record of the newest version itself rises by %s from %s to %s, and versions are only compared with each other", g.Axis, percent(rise), sizeText(smallest), sizeText(largest)),
				Remedy: fmt.Sprintf("look at it: run --only %s --profile-cpu %s@%d", f.Name, f.Name, f.Reference)})
		}
	}
}
