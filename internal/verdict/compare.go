package verdict

import (
	"fmt"
	"slices"
	"strings"

	"protocolbench/guards"
	"protocolbench/internal/record"
)

// CompareSchema is the number of a Comparison's JSON.
const CompareSchema = 1

// Comparison lays two records side by side: what differs between them, which counters changed, and, where that can be known at all, which
// versions moved among the others. A is the earlier state, B the later one.
//
// It has no CPU time in it and no difference of CPU times between the runs: a machine drifts by tens of per cent between two runs, and nothing in
// two records could tell that from the client. Two builds in the same rounds (--baseline) are for that.
type Comparison struct {
	Schema   int    `json:"schema"`
	Verdict  string `json:"verdict"`
	Reason   string `json:"reason"`
	ExitCode int    `json:"exitCode"`
	A        Side   `json:"a"`
	B        Side   `json:"b"`
	// Build says how the two clients under test are related: one of the words below.
	Build    string  `json:"build"`
	Identity []Trait `json:"identity"` // all that was looked at, what is the same among it
	// Refused is why no curve of any family is judged; a family's own reasons stand there.
	Refused  []string         `json:"refused"`
	Families []ComparedFamily `json:"families"` // those that both have
	OnlyA    []string         `json:"onlyA"`    // families
	OnlyB    []string         `json:"onlyB"`
	Sanity   []ComparedSanity `json:"sanity"` // tier 2
	Warnings []Warning        `json:"warnings"`
}

// How the builds of two records are related.
const (
	BuildSame      = "same"         // one content hash
	BuildModules   = "same modules" // the same client sources, built otherwise (another worker, toolchain, or program around it)
	BuildDifferent = "different"
	BuildUnknown   = "unknown"
)

// Side is one of the two records.
type Side struct {
	Client Client `json:"client"`
	// Candidate: the record is one of two builds. Its candidate is what is compared, its baseline is left out.
	Candidate bool     `json:"candidate,omitempty"`
	Seed      uint64   `json:"seed"`
	Profile   string   `json:"profile"`
	Complete  bool     `json:"complete"`
	Troubles  []string `json:"troubles"` // interruption, faults, guards that failed or are blind
}

// Trait is one thing that says what a record is of.
type Trait struct {
	Name string `json:"name"`
	A    string `json:"a"`
	B    string `json:"b"`
	Same bool   `json:"same"`
}

// ComparedFamily is a family that both records have, by its name.
type ComparedFamily struct {
	Tier      int     `json:"tier"`
	Name      string  `json:"name"`
	API       string  `json:"api"`
	Deciding  bool    `json:"deciding"`
	Reference int     `json:"reference"` // the newest version that both have; -1 none
	Margin    float64 `json:"margin"`
	Floor     float64 `json:"floor"` // of the differences of the two curves
	ForksA    int     `json:"forksA"`
	ForksB    int     `json:"forksB"`
	// Refused is why its curves are not judged; it has no cells then.
	Refused  []string          `json:"refused"`
	Doubts   []string          `json:"doubts"` // blind guards: nothing passes with them
	Cells    []ComparedCell    `json:"cells"`
	Counters []ComparedCounter `json:"counters"` // those that changed
	OnlyA    []int             `json:"onlyA"`    // versions
	OnlyB    []int             `json:"onlyB"`
	Warnings []Warning         `json:"warnings"`
}

// ComparedCell is one version's place among the others, in both records. Ratios are relative (0.05 = 5 %).
type ComparedCell struct {
	Version int    `json:"version"`
	Verdict string `json:"verdict"`
	Why     string `json:"why,omitempty"`
	Against []int  `json:"against"` // versions that the curves are measured from
	// CurveA and CurveB are the version's cost against those, within each run.
	CurveA float64 `json:"curveA"`
	CurveB float64 `json:"curveB"`
	// Difference is CurveB's against CurveA's; Low and High its two-sided 95 % interval.
	Difference float64 `json:"difference"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Unbounded  bool    `json:"unbounded,omitempty"` // as in Cell
	P          float64 `json:"p"`                   // one-sided, Holm-corrected over the family
	Differs    bool    `json:"differs"`             // not slower, and yet really above
	Faster     bool    `json:"faster"`              // its interval lies below 0, and not because the reference rose
}

// ComparedCounter is a counter that is not what it was, and of which versions.
type ComparedCounter struct {
	Counter  string  `json:"counter"`
	Versions []int   `json:"versions"`
	From     float64 `json:"from"`
	To       float64 `json:"to"`
}

// ComparedSanity is what both records have of one shape of tier 2: counters only.
type ComparedSanity struct {
	Name     string            `json:"name"`
	API      string            `json:"api"`
	VersionA int               `json:"versionA"` // negotiated; -1 unknown
	VersionB int               `json:"versionB"`
	Counters []ComparedCounter `json:"counters"`
}

// compared is one record on its way into a comparison.
type compared struct {
	label    string // A or B
	run      *record.Run
	findings []guards.Finding
	families int // of tiers 0 and 1
}

func newCompared(label string, run *record.Run, findings []guards.Finding) compared {
	c := compared{label: label, run: run, findings: findings}
	for _, f := range run.Families {
		if f.Tier < 2 {
			c.families++
		}
	}
	return c
}

func (c compared) family(name string) (record.FamilyRun, bool) {
	i := slices.IndexFunc(c.run.Families, func(f record.FamilyRun) bool { return f.Name == name })
	if i < 0 {
		return record.FamilyRun{}, false
	}
	return c.run.Families[i], true
}

// Compare lays two records side by side, each with the guards' findings about it. It is pure, as Judge is.
func Compare(a, b *record.Run, findingsA, findingsB []guards.Finding, options Options) Comparison {
	sideA, sideB := newCompared("A", a, findingsA), newCompared("B", b, findingsB)
	c := Comparison{Schema: CompareSchema, A: sideA.side(), B: sideB.side(), Build: buildRelation(a.Header, b.Header), Identity: identity(a, b),
		Refused: []string{}, Families: []ComparedFamily{}, OnlyA: []string{}, OnlyB: []string{}, Sanity: []ComparedSanity{}, Warnings: []Warning{}}
	c.Refused = append(c.Refused, refusedRuns(a, b)...)
	c.warn(a, b)
	for _, f := range a.Families {
		other, both := sideB.family(f.Name)
		switch {
		case !both:
			c.OnlyA = append(c.OnlyA, f.Name)
		case f.Tier >= 2 || other.Tier >= 2:
			c.Sanity = append(c.Sanity, compareSanity(sideA, sideB, f, other))
		default:
			c.Families = append(c.Families, compareFamily(pair{sideA, sideB, f, other}, c.Refused, options))
		}
	}
	for _, f := range b.Families {
		if _, both := sideA.family(f.Name); !both {
			c.OnlyB = append(c.OnlyB, f.Name)
		}
	}
	c.Verdict, c.ExitCode, c.Reason = c.outcome()
	return c
}

// outcome: a curve that rose is a fail. What could not be seen in a family that decides keeps the rest from passing.
func (c *Comparison) outcome() (word string, exitCode int, reason string) {
	var slower, doubts []string
	deciding := 0
	if len(c.Refused) > 0 {
		doubts = append(doubts, "no time is judged: "+sentence(c.Refused))
	}
	for _, f := range c.Families {
		if !f.Deciding {
			continue
		}
		deciding++
		for _, cell := range f.Cells {
			if cell.Verdict == Slower {
				slower = append(slower, fmt.Sprintf("%s v%d is slower by %s", f.Name, cell.Version, cell.Why))
			}
		}
		if len(c.Refused) == 0 {
			doubts = append(doubts, f.doubts()...)
		}
	}
	switch {
	case len(slower) > 0:
		return Fail, ExitFail, sentence(slower)
	case len(c.Families) == 0 && len(doubts) == 0:
		doubts = append(doubts, "the two have no family of tiers 0 and 1 in common: run both with the same --tier and --only")
	case deciding == 0 && len(doubts) == 0:
		doubts = append(doubts, "no family that both have decides: choose more with --only, or leave it out")
	}
	if len(doubts) > 0 {
		return Inconclusive, ExitInconclusive, sentence(doubts)
	}
	return Pass, ExitPass, fmt.Sprintf("no version's curve rose materially, by the margin or more, in any of %d deciding families; "+
		"what all versions have in common only --baseline can judge", deciding)
}

// doubts of a family: refusals, words that are none, guards that saw nothing.
func (f ComparedFamily) doubts() []string {
	var list []string
	if len(f.Refused) > 0 {
		list = append(list, fmt.Sprintf("%s is not judged: %s", f.Name, strings.Join(f.Refused, "; ")))
	}
	for _, word := range []string{Unresolvable, Unresolved} {
		shown := Family{Name: f.Name, Forks: min(f.ForksA, f.ForksB)}
		for _, c := range f.Cells {
			shown.Cells = append(shown.Cells, Cell{Version: c.Version, Verdict: c.Verdict, Why: c.Why})
		}
		if doubt := familyDoubt(shown, word); doubt != "" {
			list = append(list, doubt)
		}
	}
	return append(list, f.Doubts...)
}
