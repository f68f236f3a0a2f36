package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"protocolbench/internal/verdict"
)

func comparedFamily(out io.Writer, f verdict.ComparedFamily, notes *document, refused bool) {
	marks := ""
	for _, w := range f.Warnings {
		marks += fmt.Sprintf(" [%d]", notes.note(w))
	}
	shown := asFamily(f)
	line := wordCounts(shown)
	switch {
	case len(f.Refused) > 0:
		line = "not judged"
	case refused:
		line = "counters only"
	}
	fmt.Fprintf(out, "\n%s: %s%s\n", f.Name, line, marks)
	for _, why := range f.Refused {
		paragraph(out, "  ", clip(oneLine(why), "the record's own report"))
	}
	if len(f.Cells) > 0 {
		about := []string{fmt.Sprintf("reference v%d", f.Reference), "margin " + percent(f.Margin), "floor " + floorText(f.Floor), fmt.Sprintf("%d forks in A, %d in B", f.ForksA, f.ForksB)}
		if !f.Deciding {
			about = append(about, "not deciding")
		}
		paragraph(out, "  ", strings.Join(about, "; "))
		tableText(out, comparedTable(f))
	}
	for _, why := range whys(shown) {
		paragraph(out, "  ", clip(why, "--format json"))
	}
	for _, doubt := range f.Doubts {
		paragraph(out, "  ", clip(oneLine(doubt), "the record's own report"))
	}
	paragraph(out, "  ", "counters: "+countersText(f.Counters))
	for _, only := range []struct {
		label    string
		versions []int
	}{{"A", f.OnlyA}, {"B", f.OnlyB}} {
		if len(only.versions) > 0 {
			paragraph(out, "  ", fmt.Sprintf("only in %s: %s", only.label, versionList(only.versions)))
		}
	}
}

// asFamily lends the words of a comparison to what shows words.
func asFamily(f verdict.ComparedFamily) verdict.Family {
	shown := verdict.Family{Name: f.Name, Reference: f.Reference}
	for _, c := range f.Cells {
		shown.Cells = append(shown.Cells, verdict.Cell{Version: c.Version, Verdict: c.Verdict, Why: c.Why, Difference: c.Difference, Low: c.Low, High: c.High,
			Unbounded: c.Unbounded, Differs: c.Differs, Faster: c.Faster})
	}
	return shown
}

func comparedTable(f verdict.ComparedFamily) table {
	t := table{Head: []column{{"version", true}, {"in A %", false}, {"in B %", false}, {"B - A %", false}, {"interval %", false}, {"verdict", true}}}
	shown := asFamily(f)
	for i, c := range shown.Cells {
		t.Rows = append(t.Rows, []string{versionText(shown, c), signed(f.Cells[i].CurveA), signed(f.Cells[i].CurveB), signed(c.Difference), interval(c), wordOf(c)})
	}
	return t
}

// countersText joins versions that changed alike, in one line.
func countersText(list []verdict.ComparedCounter) string {
	if len(list) == 0 {
		return "none changed"
	}
	var parts []string
	last := ""
	for _, c := range list {
		text := fmt.Sprintf("%s %s -> %s", versionList(c.Versions), precise(c.From, c.To), precise(c.To, c.From))
		if c.Counter != last {
			text = c.Counter + " of " + text
		}
		last = c.Counter
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// precise writes a counter with as many digits as it takes to see that it is not the other one, and three at least.
func precise(x, other float64) string {
	const most = 6
	for decimals := range most {
		text := fmt.Sprintf("%.*f", decimals, x)
		if text != fmt.Sprintf("%.*f", decimals, other) && max(x, other)*math.Pow10(decimals) >= 100 {
			return text
		}
	}
	return fmt.Sprintf("%.*f", most, x)
}

// comparedSanity shows what tier 2 negotiated and counted. It has no times.
func comparedSanity(out io.Writer, list []verdict.ComparedSanity) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(out, "\nTier 2, sanity: negotiated versions and counters; its times are compared with nothing\n")
	for _, s := range list {
		version := fmt.Sprintf("v%d in both", s.VersionA)
		if s.VersionA != s.VersionB {
			version = fmt.Sprintf("v%d in A, v%d in B", s.VersionA, s.VersionB)
		}
		paragraph(out, "  ", fmt.Sprintf("%s: %s; counters: %s", s.Name, strings.ReplaceAll(version, "v-1", "unknown"), countersText(s.Counters)))
	}
}

func comparedOnly(out io.Writer, c verdict.Comparison) {
	if len(c.OnlyA)+len(c.OnlyB) > 0 {
		fmt.Fprintln(out)
	}
	for _, only := range []struct {
		label string
		names []string
	}{{"A", c.OnlyA}, {"B", c.OnlyB}} {
		if len(only.names) > 0 {
			paragraph(out, "", fmt.Sprintf("only in %s: %s", only.label, strings.Join(only.names, ", ")))
		}
	}
}
