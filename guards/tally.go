package guards

import (
	"maps"
	"slices"

	"protocolbench/internal/record"
)

// shownSightings bounds how many blocks a finding quotes. How many more there were stands beside them.
const shownSightings = 5

// sighting is what a guard saw of one version in one block.
type sighting struct {
	where   record.Where
	outcome Outcome
	why     string
	numbers map[string]any
}

// tally gathers a guard's sightings over a family's blocks. The worst decides: one block in which a pin did not hold spoils the
// numbers of the family, however many blocks there were in which it did.
type tally struct {
	guard    string
	family   record.Family
	passWhy  string
	versions []int
	seen     map[int][]sighting
}

func newTally(guard string, family record.Family, passWhy string) *tally {
	return &tally{guard: guard, family: family, passWhy: passWhy, seen: map[int][]sighting{}}
}

func (t *tally) see(version int, where record.Where, outcome Outcome, why string, numbers map[string]any) {
	if !slices.Contains(t.versions, version) {
		t.versions = append(t.versions, version)
	}
	t.seen[version] = append(t.seen[version], sighting{where, outcome, why, numbers})
}

// pass notes a good sighting. Its int64 numbers are summed up in the finding.
func (t *tally) pass(version int, where record.Where, numbers map[string]any) {
	t.see(version, where, Pass, "", numbers)
}

// seeAll notes the same of several versions.
func (t *tally) seeAll(versions []int, where record.Where, outcome Outcome, why string) {
	for _, v := range versions {
		t.see(v, where, outcome, why, nil)
	}
}

func (t *tally) findings() []Finding {
	slices.Sort(t.versions)
	var findings []Finding
	for _, v := range t.versions {
		findings = append(findings, t.finding(v))
	}
	return findings
}

func (t *tally) finding(version int) Finding {
	sightings := t.seen[version]
	worst := sightings[0]
	for _, s := range sightings {
		if rank(s.outcome) > rank(worst.outcome) {
			worst = s
		}
	}
	f := Finding{Guard: t.guard, Tier: t.family.Tier, Family: t.family.Name, Version: version, Outcome: worst.outcome, Why: worst.why,
		Evidence: map[string]any{"blocks": countBlocks(sightings)}}
	if build := buildOfCell(t.family, worst.numbers["cell"]); build != "" && worst.outcome != Pass {
		f.Build, f.Why = build, aboutBaseline+f.Why
	}
	switch worst.outcome {
	case Pass:
		f.Why = t.passWhy
		maps.Copy(f.Evidence, totals(sightings))
	case NotApplicable:
		maps.Copy(f.Evidence, worst.numbers)
	default:
		quote(f.Evidence, worst.outcome, sightings)
	}
	return f
}

// rank orders outcomes from good to bad. A pass beside something that doesn't apply is a pass.
func rank(o Outcome) int { return slices.Index([]Outcome{NotApplicable, Pass, Blind, Fail}, o) }

func countBlocks(sightings []sighting) int {
	blocks := map[record.Where]bool{}
	for _, s := range sightings {
		blocks[s.where] = true
	}
	return len(blocks)
}

// totals sums the good sightings' numbers; what is no number is taken from the first.
func totals(sightings []sighting) map[string]any {
	sums := map[string]any{}
	for _, s := range sightings {
		for name, value := range s.numbers {
			before, there := sums[name].(int64)
			n, isNumber := value.(int64)
			switch {
			case isNumber && there:
				sums[name] = before + n
			case sums[name] == nil:
				sums[name] = value
			}
		}
	}
	return sums
}

// quote puts the sightings that decided into the evidence: which block, which numbers.
func quote(evidence map[string]any, outcome Outcome, sightings []sighting) {
	var quoted []map[string]any
	notShown := 0
	for _, s := range sightings {
		if s.outcome != outcome {
			continue
		}
		if len(quoted) == shownSightings {
			notShown++
			continue
		}
		entry := map[string]any{"draw": s.where.Draw, "fork": s.where.Fork, "why": s.why}
		maps.Copy(entry, s.numbers)
		quoted = append(quoted, entry)
	}
	evidence[string(outcome)] = quoted
	if notShown > 0 {
		evidence["notShown"] = notShown
	}
}
