package verdict

import (
	"fmt"
	"math"
	"strings"

	"protocolbench/internal/stats"
)

// Dearer says that the newest version costs more than an older one, by the margin and materially.
//
// What came with one version stays in those after it: each of them is "not slower" than the newest, which has it, too, and the newest is compared with its own plateau. By these words alone identifiers that
// are parsed slowly from v13 on passed. So the older versions' contrasts are looked at from the other side as well: as surely, and corrected for being as many, as for "slower".
//
// A step up by the margin in the row of versions was tried in its place. A cost that creeps up has no step or several halves of one, and of a second small step after a large one it said what was true of the first.
type Dearer struct {
	Than       int     `json:"than"`       // the last version before From that is cheaper by the margin
	Difference float64 `json:"difference"` // of the newest to that, relative
	Low        float64 `json:"low"`        // 95 %
	High       float64 `json:"high"`
	P          float64 `json:"p"` // one-sided, Holm-corrected over the family
	// From is the version of the largest step up after a cheaper version; the newest where no step says where.
	From int `json:"from"`
}

// dearer looks for it among the contrasts of the older versions. Of messages alone it is the rule: a version that has more fields takes longer to code.
func (j *judgement) dearer(steps []Step) *Dearer {
	if len(j.nothing) > 0 || j.Message != "" || j.newest < 0 {
		return nil
	}
	ps := make([]float64, len(j.contrasts))
	for i := range j.contrasts {
		ps[i] = 1
		if mirrored, ok := j.mirrored(i); ok {
			ps[i] = mirrored.PAbove(0)
		}
	}
	adjusted := stats.Holm(ps)
	referenceUs := j.referenceNsPerRequest() / 1e3
	var cheaper []Dearer
	for i, c := range j.contrasts {
		rise := math.Expm1(-c.Estimate)
		if ps[i] < 1 && adjusted[i] < c.alpha && rise >= j.margin && isMaterial(rise, referenceUs/(1+rise)) {
			low, high, _ := c.Interval(level)
			cheaper = append(cheaper, Dearer{Than: j.versions[i].Version, Difference: rise, Low: math.Expm1(-high), High: math.Expm1(-low), P: adjusted[i]})
		}
	}
	if cheaper == nil {
		return nil
	}
	from, most := j.Reference, 0.0
	for _, s := range steps {
		if s.Difference > most && cheaper[0].Than < s.At {
			from, most = s.At, s.Difference
		}
	}
	last := cheaper[0]
	for _, d := range cheaper {
		if d.Than < from {
			last = d
		}
	}
	last.From = from
	return &last
}

// mirrored is how much dearer than an older version the newest is; false where the family or the version can't say.
func (j *judgement) mirrored(i int) (stats.Contrast, bool) {
	c := j.contrasts[i]
	if i == j.newest || c.by == nil || len(c.by.nothing)+len(c.by.spoilt) > 0 || c.torn || !c.Bounded {
		return stats.Contrast{}, false
	}
	c.Estimate = -c.Estimate
	return c.Contrast, true
}

// warnOfOpen says what was not shown: that the newest version costs less than the margin more than each older one. It is no doubt of the run's: the words of versions don't ask it.
func (j *judgement) warnOfOpen() {
	if !j.Deciding || j.out.Dearer != nil || len(j.nothing) > 0 {
		return
	}
	var open []string
	most := 0.0
	referenceUs := j.referenceNsPerRequest() / 1e3
	for i, c := range j.contrasts {
		mirrored, ok := j.mirrored(i)
		if !ok {
			continue
		}
		upperLn, ok := mirrored.Upper(1 - c.alpha)
		if upper := asRatio(upperLn); ok && upper >= j.margin && isMaterial(upper, referenceUs*math.Exp(c.Estimate)) {
			open, most = append(open, fmt.Sprintf("v%d", j.versions[i].Version)), max(most, upper)
		}
	}
	if open != nil {
		j.warning(fmt.Sprintf("it is not shown that v%d costs less than %s more than %s: it may be up to %s", j.Reference, percent(j.margin), strings.Join(open, ", "), percent(most)),
			"close other programs, or take more rounds with --profile standard or release")
	}
}

// dearerWhy is a sentence about it, "" where there is nothing to say: a newest version that is called slower itself is not named twice.
func dearerWhy(f Family) string {
	d := f.Dearer
	if d == nil {
		return ""
	}
	for _, c := range f.Cells {
		if c.Version == f.Reference && c.Verdict == Slower {
			return ""
		}
	}
	text := fmt.Sprintf("v%d costs more than v%d", f.Reference, d.Than)
	if !f.Embedded {
		text = fmt.Sprintf("v%d costs %s [%s, %s] more than v%d", f.Reference, percent(d.Difference), percent(d.Low), percent(d.High), d.Than)
	}
	if d.From != f.Reference {
		text += fmt.Sprintf(", most of it since v%d", d.From)
	}
	if f.Embedded {
		return text + " (embedded broker: no figure)"
	}
	return text + ", margin " + percent(f.Margin)
}
