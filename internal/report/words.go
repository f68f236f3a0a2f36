package report

import (
	"fmt"
	"slices"
	"strings"

	"protocolbench/internal/verdict"
)

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
	if d := f.Dearer; d != nil {
		parts = append(parts, fmt.Sprintf("DEARER: v%d than v%d by %s", f.Reference, d.Than, percent(d.Difference)))
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
