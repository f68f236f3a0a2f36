package report

import (
	"fmt"
	"slices"
	"strings"

	"protocolbench/guards"
	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

// familyProofs says in one line what each guard found about a family.
func familyProofs(findings []guards.Finding, family string) string {
	return proofLine(slices.DeleteFunc(slices.Clone(findings), func(f guards.Finding) bool { return f.Family != family }))
}

// proofLine counts outcomes by guard: "pin 15 pass, log pass, conversions not applicable".
func proofLine(findings []guards.Finding) string {
	var order []string
	counts := map[string]map[guards.Outcome]int{}
	for _, f := range findings {
		if counts[f.Guard] == nil {
			counts[f.Guard] = map[guards.Outcome]int{}
			order = append(order, f.Guard)
		}
		counts[f.Guard][f.Outcome]++
	}
	if order == nil {
		return "none"
	}
	var parts []string
	for _, guard := range order {
		var outcomes []string
		for _, o := range []guards.Outcome{guards.Fail, guards.Blind, guards.Pass, guards.NotApplicable} {
			word := string(o)
			if o == guards.Fail || o == guards.Blind {
				word = strings.ToUpper(word)
			}
			switch n := counts[guard][o]; {
			case n == 0:
			case n == 1 && len(counts[guard]) == 1:
				outcomes = append(outcomes, word)
			default:
				outcomes = append(outcomes, fmt.Sprintf("%d %s", n, word))
			}
		}
		parts = append(parts, guard+" "+strings.Join(outcomes, " + "))
	}
	return strings.Join(parts, ", ")
}

// proofsBeyondFamilies are the guards that are about a tier or the run.
func proofsBeyondFamilies(v verdict.Verdict) []string {
	var lines []string
	for _, tier := range []int{guards.WholeRun, 0, 1, 2} {
		var of []guards.Finding
		for _, f := range v.Guards {
			if f.Tier == tier && f.Family == "" {
				of = append(of, f)
			}
		}
		if of != nil {
			lines = append(lines, tierName(tier)+": "+proofLine(of))
		}
	}
	return lines
}

func tierName(tier int) string {
	if tier == guards.WholeRun {
		return "run"
	}
	return fmt.Sprintf("tier %d", tier)
}

// problems lists every failed and every blind guard in full, failures first. Versions of a family with the same words stand together.
func problems(findings []guards.Finding) []problem {
	var list []problem
	for _, outcome := range []guards.Outcome{guards.Fail, guards.Blind} {
		var order []guards.Finding
		versions := map[string][]int{}
		for _, f := range findings {
			if f.Outcome != outcome {
				continue
			}
			key := f.Guard + f.Family + fmt.Sprint(f.Tier) + f.Why
			if versions[key] == nil {
				order = append(order, f)
			}
			versions[key] = append(versions[key], f.Version)
		}
		for _, f := range order {
			key := f.Guard + f.Family + fmt.Sprint(f.Tier) + f.Why
			list = append(list, problem{strings.ToUpper(string(outcome)), subject(f, versions[key]), oneLine(f.Why)})
		}
	}
	return list
}

func subject(f guards.Finding, versions []int) string {
	text := f.Guard + ", " + tierName(f.Tier)
	if f.Family != "" {
		text = f.Guard + ", " + f.Family
	}
	if pinned := slices.DeleteFunc(slices.Clone(versions), func(v int) bool { return v < 0 }); len(pinned) > 0 {
		text += " " + versionList(pinned)
	}
	return text
}

// sanity shows tier 2. Its figures have a table of their own, with other columns, so that nobody lays them beside tier 1's.
func sanity(v verdict.Verdict, run *record.Run) *sanitySection {
	if len(v.Sanity) == 0 {
		return nil
	}
	s := &sanitySection{Title: "Tier 2, sanity: does the client, left alone, work against an old broker?",
		Why: "These figures can't be compared with those of tiers 0 and 1: the client has its own defaults and picks its own versions, and broker, formats and batches are others. " +
			"They show that it works, and only guards judge them.",
		Table: table{Head: []column{{"shape", true}, {"negotiated", true}, {"records checked", false}, {"ns/rec (sanity only)", false}, {"live heap MiB", false}}}}
	largest := 0.0
	for _, row := range v.Sanity {
		largest = max(largest, row.SanityCPUNsPerRecord)
	}
	for _, row := range v.Sanity {
		version := "unknown"
		if row.Version >= 0 {
			version = fmt.Sprintf("%s v%d", row.API, row.Version)
		}
		cost, heap := like(row.SanityCPUNsPerRecord, largest), fmt.Sprintf("%.1f to %.1f", float64(row.LiveHeapFirstBytes)/(1<<20), float64(row.LiveHeapLastBytes)/(1<<20))
		if onEmbedded(v, 2) {
			cost, heap = noFigure, "no figure"
		}
		s.Table.Rows = append(s.Table.Rows, []string{row.Name, version, fmt.Sprint(row.Records), cost, heap})
		s.Proofs = append(s.Proofs, fact{row.Name, familyProofs(v.Guards, row.Name)})
		if apis := apisTable(familyRun(run, row.Name)); len(apis.Rows) > 0 {
			s.APIs = append(s.APIs, namedTable{row.Name, apis})
		}
	}
	return s
}
