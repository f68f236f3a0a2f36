package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"protocolbench/guards"
	"protocolbench/internal/verdict"
)

// shownWhole is up to how many families of messages are shown as all others are. Above that, what stands out is one table, and the rest is folded: hundreds of tables
// would hide it.
const shownWhole = 12

// apiSection is the messages of the other APIs.
type apiSection struct {
	Title    string
	Lines    []string
	StandOut table
	Folded   []foldedTable
}

type foldedTable struct {
	Summary string
	Table   table
}

const apiTitle = "Tier 0, messages of the other APIs: what stands out?"

// apiLines say how the table is to be read.
var apiLines = []string{
	"A line is a place in a message's versions at which its cost changes by more than 10 % and 1 us (step), versions on which it grows faster with the number of elements than on others (GROWS), a message whose elements cost more at 100 of them than at 10 on " +
		"every version (own growth), or a version that is slower than the newest (of two builds: than with the baseline). Of a step at several sizes the largest is shown: 100 outermost (el.) or nested (nest.) elements. us, bytes and allocs are those of one message at the version before and at this one.",
	"Most steps are fields that the version added: then bytes, allocations or both explain them (why), changing by at least a third as much. Where NOTHING does, look at the code of that version; the encoding of flexible versions is one such thing.",
}

// apis shows the messages, nil without any.
func apis(v verdict.Verdict) *apiSection {
	families := messageFamilies(v)
	if families == nil {
		return nil
	}
	s := &apiSection{Title: apiTitle, StandOut: table{Head: []column{{"message", true}, {"size", true}, {"what", true}, {"us", false}, {"cost %", false}, {"bytes", false}, {"allocs", false}, {"why", true}}}}
	s.Lines = append(slices.Clone(apiLines), apiCounts(families))
	for _, m := range byMessage(families) {
		s.StandOut.Rows = append(s.StandOut.Rows, standingOut(m)...)
	}
	if len(s.StandOut.Rows) == 0 {
		s.Lines = append(s.Lines, "Nothing stands out.")
	}
	if len(families) > shownWhole {
		s.Folded = foldedGroups(families)
	}
	return s
}

func messageFamilies(v verdict.Verdict) (list []verdict.Family) {
	for _, f := range v.Families {
		if f.Message != "" {
			list = append(list, f)
		}
	}
	return list
}

// folds tells whether a family is shown in the section of messages alone.
func folds(v verdict.Verdict, f verdict.Family) bool {
	return f.Message != "" && len(messageFamilies(v)) > shownWhole
}

func apiCounts(families []verdict.Family) string {
	cells, words := 0, map[string]int{}
	for _, f := range families {
		for _, c := range f.Cells {
			cells++
			words[c.Verdict]++
		}
	}
	var parts []string
	for _, word := range []string{verdict.NotSlower, verdict.Slower, verdict.Unresolved, verdict.Unresolvable} {
		if words[word] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", words[word], word))
		}
	}
	return fmt.Sprintf("%d messages at %d sizes, %d versions and sizes in all: %s. They decide nothing; a message with one version has nothing to be compared with, and is unresolved.",
		len(byMessage(families)), len(families), cells, strings.Join(parts, ", "))
}

// byMessage puts the sizes of a message together, messages in the order of the record.
func byMessage(families []verdict.Family) [][]verdict.Family {
	var list [][]verdict.Family
	place := map[string]int{}
	for _, f := range families {
		i, known := place[f.API]
		if !known {
			i = len(list)
			place[f.API] = i
			list = append(list, nil)
		}
		list[i] = append(list[i], f)
	}
	return list
}

// Thresholds of what stands out.
const (
	standOutPart = 0.10
	standOutUs   = 1.0
)

// standingOut has the rows of one message.
func standingOut(sizes []verdict.Family) (rows [][]string) {
	type found struct {
		family verdict.Family
		step   verdict.Step
	}
	steps := map[int]found{}
	for _, f := range sizes {
		for _, s := range f.Steps {
			if s.Material && math.Abs(s.Difference) > standOutPart && math.Abs(s.UsPerRequest) > math.Abs(steps[s.At].step.UsPerRequest) {
				steps[s.At] = found{f, s}
			}
		}
	}
	var at []int
	for v := range steps {
		at = append(at, v)
	}
	slices.Sort(at)
	for _, v := range at {
		rows = append(rows, stepRow(steps[v].family, steps[v].step))
	}
	for _, f := range sizes {
		rows = append(rows, slowerRows(f, at)...)
		if versions := growing(f); versions != nil {
			steepest, flattest := ends(f.Growth.Cells, func(c verdict.GrowthCell) float64 { return c.Slope })
			rows = append(rows, []string{f.API, shortSize(f), "GROWS " + versionList(versions), "", fmt.Sprintf("slope %+.2f", steepest.Slope-flattest.Slope), "", "", "NOTHING"})
		}
		if row := ownGrowthRow(f, sizes); row != nil {
			rows = append(rows, row)
		}
	}
	return rows
}

func stepRow(f verdict.Family, s verdict.Step) []string {
	here, _ := cellOf(f, s.At)
	left, _ := cellOf(f, before(f, s.At))
	return pairRow(f, fmt.Sprintf("v%d step", s.At), left, here, s.Difference)
}

// pairRow lays two versions side by side.
func pairRow(f verdict.Family, what string, from, to verdict.Cell, difference float64) []string {
	return []string{f.API, shortSize(f), what, fromTo(from.CPUUsPerRequest, to.CPUUsPerRequest), times(difference),
		fromTo(perMessage(from, from.WireBytesPerRecord), perMessage(to, to.WireBytesPerRecord)), fromTo(perMessage(from, from.AllocsPerRecord), perMessage(to, to.AllocsPerRecord)),
		explained(from, to, difference)}
}

// slowerRows are versions that are slower than the newest, or than those before it, where no step has been said to make them so.
func slowerRows(f verdict.Family, steps []int) (rows [][]string) {
	for _, c := range f.Cells {
		if c.Baseline != nil { // of two builds a version is compared with itself
			if c.Verdict == verdict.Slower {
				rows = append(rows, pairRow(f, fmt.Sprintf("v%d slower", c.Version), ofBaseline(c), c, c.Difference))
			}
			continue
		}
		against := f.Reference
		if c.Version == f.Reference {
			against = before(f, c.Version)
		}
		if other, ok := cellOf(f, against); ok && c.Verdict == verdict.Slower && len(steps) == 0 {
			rows = append(rows, pairRow(f, fmt.Sprintf("v%d slower", c.Version), other, c, c.Difference))
		}
	}
	return rows
}

// ofBaseline is the same version with the baseline.
func ofBaseline(c verdict.Cell) verdict.Cell {
	b := c.Baseline
	return verdict.Cell{Version: c.Version, CPUUsPerRequest: b.CPUUsPerRequest, CPUNsPerRecord: b.CPUNsPerRecord, AllocsPerRecord: b.AllocsPerRecord, WireBytesPerRecord: b.WireBytesPerRecord, RequestsPer1000: b.RequestsPer1000}
}

// ownGrowthRow asks whether an element of the reference costs more at the largest size of an axis than at a tenth of it. What a message costs by itself makes it fall.
func ownGrowthRow(f verdict.Family, sizes []verdict.Family) []string {
	if f.Growth == nil && len(f.Cells) > 1 {
		return nil
	}
	axis, size, ok := strings.Cut(sizeOf(f), "=")
	if !ok || size != "100" {
		return nil
	}
	i := slices.IndexFunc(sizes, func(g verdict.Family) bool { return sizeOf(g) == axis+"=10" })
	if i < 0 {
		return nil
	}
	large, ok1 := cellOf(f, f.Reference)
	small, ok2 := cellOf(sizes[i], f.Reference)
	if !ok1 || !ok2 || small.CPUNsPerRecord <= 0 {
		return nil
	}
	rises := large.CPUNsPerRecord/small.CPUNsPerRecord - 1
	if rises <= standOutPart || large.CPUUsPerRequest*rises < standOutUs {
		return nil
	}
	return []string{f.API, shortSize(f), fmt.Sprintf("own growth v%d", f.Reference), fmt.Sprintf("%s->%s ns/el", figure(small.CPUNsPerRecord), figure(large.CPUNsPerRecord)), times(rises), "", "", ""}
}

// explained says what else changed with the cost, as much at least as a third of it.
func explained(from, to verdict.Cell, difference float64) string {
	bytes, allocs := change(from.WireBytesPerRecord, to.WireBytesPerRecord), change(from.AllocsPerRecord, to.AllocsPerRecord)
	const hardly = 0.02
	enough := func(part float64) bool { return part*difference > 0 && math.Abs(part) >= math.Abs(difference)/3 }
	switch {
	case enough(allocs) && enough(bytes):
		return "both"
	case enough(allocs):
		return "allocs"
	case enough(bytes):
		return "bytes"
	case math.Abs(bytes) < hardly && math.Abs(allocs) < hardly:
		return "NOTHING"
	}
	return "little"
}

// times is a relative difference in percent, and from three times as much on the factor.
func times(difference float64) string {
	if difference >= 2 {
		return "x " + figure(1+difference)
	}
	return signed(difference)
}

func change(from, to float64) float64 {
	switch {
	case from == to:
		return 0
	case from <= 0:
		return 1
	}
	return to/from - 1
}

func cellOf(f verdict.Family, version int) (verdict.Cell, bool) {
	i := slices.IndexFunc(f.Cells, func(c verdict.Cell) bool { return c.Version == version })
	if i < 0 {
		return verdict.Cell{}, false
	}
	return f.Cells[i], true
}

// perMessage turns a figure per element into one per message.
func perMessage(c verdict.Cell, perElement float64) float64 {
	if c.RequestsPer1000 <= 0 {
		return 0
	}
	return math.Round(perElement*1000/c.RequestsPer1000*100) / 100
}

func fromTo(from, to float64) string {
	largest := max(from, to)
	if largest >= 100 || from == math.Trunc(from) && to == math.Trunc(to) {
		return fmt.Sprintf("%.0f->%.0f", from, to)
	}
	return fmt.Sprintf("%s->%s", like(from, largest), like(to, largest))
}

// shortSize leaves room for the figures: "el. 100", "nest. 100".
func shortSize(f verdict.Family) string {
	return strings.NewReplacer("elements=", "el. ", "nested=", "nest. ").Replace(sizeOf(f))
}

// sizeOf is the part of a family's name that says its size.
func sizeOf(f verdict.Family) string {
	parts := strings.Split(f.Name, "/")
	return parts[max(0, len(parts)-2)]
}

// foldedGroups has a table per group of APIs, with a row for every version of every message and size.
func foldedGroups(families []verdict.Family) []foldedTable {
	var order []string
	groups := map[string][]verdict.Family{}
	for _, f := range families {
		if groups[f.Group] == nil {
			order = append(order, f.Group)
		}
		groups[f.Group] = append(groups[f.Group], f)
	}
	var list []foldedTable
	for _, group := range order {
		t := table{Head: []column{{"message", true}, {"size", true}, {"version", true}, {"us", false}, {"ns/element", false}, {"diff %", false}, {"interval %", false}, {"bytes", false}, {"allocs", false}, {"floor", false}, {"verdict", true}}}
		messages := byMessage(groups[group])
		for _, f := range slices.Concat(messages...) {
			for _, c := range f.Cells {
				t.Rows = append(t.Rows, []string{f.API, sizeOf(f), versionText(f, c), figure(c.CPUUsPerRequest), figure(c.CPUNsPerRecord), signed(c.Difference), interval(c),
					fmt.Sprintf("%.0f", perMessage(c, c.WireBytesPerRecord)), figure(perMessage(c, c.AllocsPerRecord)), floorText(f.Floor), wordOf(c)})
			}
		}
		list = append(list, foldedTable{fmt.Sprintf("%s: %d messages at %d sizes, every version", group, len(messages), len(groups[group])), t})
	}
	return list
}

// withoutFolded leaves out of the findings those that pass, of families that are folded: each has five, and verdict.json has them all.
func withoutFolded(v verdict.Verdict) verdict.Verdict {
	folded := map[string]bool{}
	for _, f := range v.Families {
		folded[f.Name] = folds(v, f)
	}
	kept := v.Guards[:0:0]
	for _, f := range v.Guards {
		if !folded[f.Family] || f.Outcome == guards.Fail || f.Outcome == guards.Blind {
			kept = append(kept, f)
		}
	}
	v.Guards = kept
	return v
}

// proofsOfFolded is a line about the guards of folded families.
func proofsOfFolded(v verdict.Verdict) []string {
	var of []string
	for _, f := range v.Families {
		if folds(v, f) {
			of = append(of, f.Name)
		}
	}
	if of == nil {
		return nil
	}
	slices.Sort(of)
	findings := slices.DeleteFunc(slices.Clone(v.Guards), func(g guards.Finding) bool {
		_, found := slices.BinarySearchFunc(of, g.Family, cmp.Compare[string])
		return !found
	})
	return []string{"messages of other APIs: " + proofLine(findings)}
}
