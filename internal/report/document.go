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
	Facts      []fact // what was planted, then brokers
	Headline   []string
	Tiers      []tierSection
	Sanity     *sanitySection // nil without tier 2
	Proofs     []string       // counts, per tier and run
	Problems   []problem      // every guard that failed or is blind, in full
	Footnotes  []footnote
	Negotiated string
	Closing    []fact // time, orchestrator, replay
	Verdict    string // the last line
	Word       string
	Findings   []guards.Finding
	Sources    []string
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
	Proofs  string
	Whys    []string // why a version is not "not slower", or only because it doesn't matter
	Remarks []remark
	Notes   []int // footnotes
}

type sanitySection struct {
	Title, Why string
	Table      table
	Proofs     []fact
}

type problem struct{ Outcome, Where, Why string }

type footnote struct {
	Number       int
	Text, Remedy string
}

// build makes the document.
func build(v verdict.Verdict, run *record.Run) document {
	d := document{Planted: plantedText(v), Facts: heading(v, run), Word: v.Verdict, Verdict: verdictLine(v), Findings: v.Guards,
		Negotiated: negotiated(v), Closing: closing(v, run), Proofs: proofsBeyondFamilies(v), Problems: problems(v.Guards), Sources: sourcesOf(v)}
	for _, w := range v.Warnings {
		d.note(w)
	}
	for tier := range 2 {
		section := tierSection{Title: tierTitles[tier]}
		if v.Baseline != nil {
			section.Title = buildsTitles[tier]
		}
		for _, f := range v.Families {
			if f.Tier == tier {
				section.Families = append(section.Families, d.family(v, f, familyRun(run, f.Name)))
			}
		}
		if section.Families != nil {
			d.Tiers = append(d.Tiers, section)
		}
	}
	d.Headline = headline(v, d.showsTraffic())
	d.Sanity = sanity(v)
	return d
}

// familyRun is a family's part of the record; empty where it has none.
func familyRun(run *record.Run, name string) record.FamilyRun {
	for _, f := range run.Families {
		if f.Name == name {
			return f
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
		Whys: whysBeside(f, run.Look), Remarks: remarks(f, run)}
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

// FamilyLine is one family's standing in one line.
func FamilyLine(f verdict.Family) string {
	if f.Embedded {
		return f.Name + ": " + noFigure
	}
	return fmt.Sprintf("%s: %s; floor %s, margin %s", f.Name, standing(f), floorText(f.Floor), percent(f.Margin))
}

// standing is what a family comes to: its versions' words, and what else can make a run fail.
func standing(f verdict.Family) string {
	parts := []string{wordCounts(f)}
	if versions := growing(f); len(versions) > 0 {
		parts = append(parts, fmt.Sprintf("GROWS with %s: %s", f.Growth.Axis, versionList(versions)))
	}
	var slower, stalling []int
	for _, c := range f.Cells {
		if c.Wall != nil && c.Wall.Verdict == verdict.Slower && c.Verdict != verdict.Slower {
			slower = append(slower, c.Version)
		}
		if c.Wall != nil && c.Wall.Stalls {
			stalling = append(stalling, c.Version)
		}
	}
	if slower != nil {
		parts = append(parts, "SLOWER IN WALL TIME: "+versionList(slower))
	}
	if stalling != nil {
		parts = append(parts, "STALLS: "+versionList(stalling))
	}
	return strings.Join(parts, "; ")
}

// wordCounts says how many versions have which word, the worst first.
func wordCounts(f verdict.Family) string {
	words := byWord(f.Cells)
	switch len(words) {
	case 0:
		return "no version measured"
	case 1:
		return fmt.Sprintf("all %d versions %s", len(f.Cells), words[0].word)
	}
	return namedWords(f.Cells)
}

// namedWords is wordCounts with every version named.
func namedWords(cells []verdict.Cell) string {
	var parts []string
	for _, w := range byWord(cells) {
		parts = append(parts, versionList(w.versions)+" "+w.word)
	}
	return strings.Join(parts, ", ")
}

type wordVersions struct {
	word     string
	versions []int
}

// byWord has the versions of each word that there is, the worst word first.
func byWord(cells []verdict.Cell) []wordVersions {
	var list []wordVersions
	for _, word := range []string{verdict.Slower, verdict.Unresolvable, verdict.Unresolved, verdict.NotSlower, wordFaster} {
		w := wordVersions{word: word}
		for _, c := range cells {
			if c.Faster && word == wordFaster || !c.Faster && word == c.Verdict {
				w.versions = append(w.versions, c.Version)
			}
		}
		if w.versions != nil {
			list = append(list, w)
		}
	}
	return list
}

// versionList writes versions as v4-v8, v12.
func versionList(versions []int) string {
	versions = slices.Compact(slices.Sorted(slices.Values(versions)))
	var parts []string
	for i := 0; i < len(versions); {
		j := i
		for j+1 < len(versions) && versions[j+1] == versions[j]+1 {
			j++
		}
		if part := fmt.Sprintf("v%d", versions[i]); j > i {
			parts = append(parts, fmt.Sprintf("%s-v%d", part, versions[j]))
		} else {
			parts = append(parts, part)
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}

// whys explains every version that isn't plainly fine, an immaterial difference among them. One explanation that holds for several stands once.
func whys(f verdict.Family) []string {
	var order []string
	versions := map[string][]int{}
	for _, c := range f.Cells {
		if c.Why == "" {
			continue
		}
		key := c.Verdict + ": " + oneLine(c.Why)
		if versions[key] == nil {
			order = append(order, key)
		}
		versions[key] = append(versions[key], c.Version)
	}
	var lines []string
	for _, key := range order {
		lines = append(lines, versionList(versions[key])+" "+key)
	}
	return lines
}

func familyFacts(f verdict.Family) string {
	facts := []string{fmt.Sprintf("against v%d", f.Reference), "margin " + percent(f.Margin), "floor " + floorText(f.Floor),
		fmt.Sprintf("%d rounds in %d forks", f.Rounds, f.Forks), "twins within " + percent(f.Twin)}
	if f.Canary.Planted > 0 {
		facts = append(facts, canaryText(f.Canary))
	}
	if !f.Deciding {
		facts = append(facts, "not deciding")
	}
	return strings.Join(facts, "; ")
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
