package report

import (
	"fmt"
	"strings"

	"protocolbench/internal/verdict"
)

// wall sums up a family's wall time in one line, and names the versions that are not plainly fine.
func wall(f verdict.Family) []remark {
	var cells []verdict.Cell // wall time's words in the place of CPU time's
	var list []remark
	asCPU := true
	for _, c := range f.Cells {
		w := c.Wall
		if w == nil {
			continue
		}
		cells = append(cells, verdict.Cell{Version: c.Version, Verdict: w.Verdict, Why: oneLine(w.Why), Wall: w})
		asCPU = asCPU && w.Verdict == verdict.Unresolved && c.Verdict == verdict.Unresolved && w.Why == c.Why
		var loud []string
		if w.Verdict == verdict.Slower {
			loud = append(loud, "SLOWER IN WALL TIME")
		}
		if w.Stalls {
			loud = append(loud, "STALLS")
		}
		if loud != nil {
			list = append(list, remark{fmt.Sprintf("v%d %s: %s", c.Version, strings.Join(loud, " and "), oneLine(w.Why)), true})
		}
	}
	if cells == nil {
		return nil
	}
	shown := verdict.Family{Cells: cells}
	if asCPU {
		return append(list, remark{Text: fmt.Sprintf("wall time: %s, for the reason above", wordCounts(shown))})
	}
	list = append(list, remark{Text: fmt.Sprintf("wall time (margin %s): %s; %s", percent(f.WallMargin), wordCounts(shown), wallRanges(cells))})
	return append(list, wallDoubts(cells)...)
}

// wallRanges says how far the versions lie from what they are compared with.
func wallRanges(cells []verdict.Cell) string {
	span := func(of func(*verdict.Wall) float64, text func(float64) string) string {
		most, least := ends(cells, func(c verdict.Cell) float64 { return of(c.Wall) })
		return text(of(least.Wall)) + " ... " + text(of(most.Wall))
	}
	return fmt.Sprintf("differences %s %%; p50 %s %%; p99 %s %%; longest gap %s times the reference's",
		span(func(w *verdict.Wall) float64 { return w.Difference }, signed), span(func(w *verdict.Wall) float64 { return w.P50 }, signed),
		span(func(w *verdict.Wall) float64 { return w.P99 }, signed), span(func(w *verdict.Wall) float64 { return w.Gap }, figure))
}

// wallDoubts explains words other than the good one, and gaps that are no stall yet. Of versions with one word the first stands for all: their reasons differ in figures.
func wallDoubts(cells []verdict.Cell) []remark {
	var list []remark
	for _, word := range []string{verdict.Unresolvable, verdict.Unresolved, verdict.NotSlower} {
		var versions []int
		why, alike := "", true
		for _, c := range cells {
			if c.Verdict != word || c.Why == "" || c.Wall.Stalls {
				continue
			}
			if versions == nil {
				why = c.Why
			}
			alike = alike && c.Why == why
			versions = append(versions, c.Version)
		}
		switch {
		case versions == nil:
		case alike:
			list = append(list, remark{Text: fmt.Sprintf("wall time of %s %s: %s", versionList(versions), word, why)})
		default:
			list = append(list, remark{Text: fmt.Sprintf("wall time of %s %s; v%d: %s", versionList(versions), word, versions[0], why)})
		}
	}
	return list
}
