// Package report shows a verdict: as text for a terminal, as Markdown, as a self-contained HTML page, and in the Go benchmark format. It is made from the
// verdict and the record alone, so an old run can be shown again anywhere.
package report

import (
	"fmt"
	"slices"
	"strings"

	"protocolbench/guards"
	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

// document is what every form of the report shows. It has words and numbers already formatted, so that all forms say the same.
type document struct {
	Planted    string // what was slowed down on purpose, before all else; "" in every real run
	Overridden string // brokers that are not what their tiers are for; "" in every ordinary run
	Facts      []fact // what was planted, what was overridden, then brokers
	Headline   []string
	Tiers      []tierSection
	APIs       *apiSection    // nil without messages of other APIs
	Sanity     *sanitySection // nil without tier 2
	Proofs     []string       // counts, per tier and run
	Problems   []problem      // every guard that failed or is blind, in full
	Footnotes  []footnote
	Negotiated string
	Closing    []fact // time, orchestrator, replay
	// Limits are what the run could not have seen, in full; LimitsShort for a screen.
	Limits, LimitsShort []string
	Verdict             string // the last line
	Word                string
	Findings            []guards.Finding
	Sources             []string
}

type fact struct{ Name, Text string }

type tierSection struct {
	Title    string
	Families []familySection
}

type familySection struct {
	Name    string
	Line    string // how many versions have which word
	Facts   string // with Table: empty where no figure may be shown
	Table   table
	APIs    table // every API that its clients used; folded away where that can be done
	Proofs  string
	Limits  string   // what it could not have seen
	Whys    []string // why a version is not "not slower", or only because it doesn't matter
	Remarks []remark
	Notes   []int // footnotes
}

type sanitySection struct {
	Title, Why string
	Table      table
	Proofs     []fact
	APIs       []namedTable
}

type namedTable struct {
	Name  string
	Table table
}

type problem struct{ Outcome, Where, Why string }

type footnote struct {
	Number       int
	Text, Remedy string
}

// build makes the document.
func build(v verdict.Verdict, run *record.Run) document {
	d := document{Planted: plantedText(v), Overridden: overriddenText(v), Facts: heading(v, run), Word: v.Verdict, Verdict: verdictLine(v), Findings: withoutFolded(v).Guards,
		Negotiated: negotiated(v), Closing: closing(v, run), Proofs: proofsBeyondFamilies(v), Problems: problems(v.Guards), Sources: sourcesOf(v), Limits: limits(v, run.Header.Schema, 0), LimitsShort: limits(v, run.Header.Schema, axesShown)}
	for _, w := range v.Warnings {
		d.note(w)
	}
	for tier := range 2 {
		section := tierSection{Title: tierTitles[tier]}
		if v.Baseline != nil {
			section.Title = buildsTitles[tier]
		}
		for _, f := range v.Families {
			if f.Tier == tier && !folds(v, f) {
				section.Families = append(section.Families, d.family(v, f, familyRun(run, f.Name)))
			}
		}
		if section.Families != nil {
			d.Tiers = append(d.Tiers, section)
		}
	}
	d.Headline = headline(v, d.showsTraffic())
	d.APIs = apis(v)
	d.Proofs = append(d.Proofs, proofsOfFolded(v)...)
	d.Sanity = sanity(v, run)
	return d
}

// familyRun is a family's part of the record, without what is void; empty where it has none.
func familyRun(run *record.Run, name string) record.FamilyRun {
	for _, f := range run.Families {
		if f.Name == name {
			valid, _ := guards.Valid(run, f)
			return valid
		}
	}
	return record.FamilyRun{}
}

var tierTitles = []string{
	"Tier 0, codecs: does any version encode or decode slower?",
	"Tier 1, pinned: does the client as a whole pay more CPU per message on any version?",
}

func verdictLine(v verdict.Verdict) string {
	return fmt.Sprintf("verdict: %s (%s)", v.Verdict, clip(oneLine(v.Reason), VerdictFile))
}

// clip keeps a text that quotes a log from filling the screen, and says where all of it is.
func clip(text, file string) string {
	const most = 400
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + " ... in full in " + file
	}
	return text
}

// note gives a warning its footnote. The same warning has one number wherever it is given.
func (d *document) note(w verdict.Warning) int {
	for _, n := range d.Footnotes {
		if n.Text == w.Text && n.Remedy == w.Remedy {
			return n.Number
		}
	}
	n := footnote{len(d.Footnotes) + 1, w.Text, w.Remedy}
	d.Footnotes = append(d.Footnotes, n)
	return n.Number
}

// noFigure stands for whatever an embedded broker had a part in: it shows the flow, and its figures would be taken for a broker's.
const noFigure = "embedded broker: no figure"

func (d *document) family(v verdict.Verdict, f verdict.Family, run record.FamilyRun) familySection {
	if f.Embedded {
		return familySection{Name: f.Name, Line: noFigure, Proofs: familyProofs(v.Guards, f.Name)}
	}
	s := familySection{Name: f.Name, Line: standing(f), Facts: familyFacts(f), Table: familyTable(f, run), Proofs: familyProofs(v.Guards, f.Name),
		Whys: whysBeside(f, run.Look), Remarks: remarks(f, run), APIs: apisTable(run), Limits: familyLimits(f)}
	if f.Builds != nil {
		s.Facts, s.Table, s.Whys = buildsFacts(f), buildsTable(f), append(changedCounters(f), s.Whys...)
	}
	for _, w := range f.Warnings {
		if n := d.note(w); !slices.Contains(s.Notes, n) {
			s.Notes = append(s.Notes, n)
		}
	}
	return s
}

func familyFacts(f verdict.Family) string {
	facts := []string{fmt.Sprintf("against v%d", f.Reference), "margin " + percent(f.Margin), "floor " + floorText(f.Floor),
		fmt.Sprintf("%d rounds in %d forks", f.Rounds, f.Forks), "twins within " + percent(f.Twin)}
	if f.Canary.Planted > 0 {
		facts = append(facts, canaryText(f.Canary))
	}
	if f.Unit == verdict.UnitRequest {
		facts = append(facts, "the cost is that of a request: its responses bring no records")
	}
	if !f.Deciding {
		facts = append(facts, "not deciding")
	}
	return strings.Join(facts, "; ")
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
