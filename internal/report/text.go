package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

// textWidth is what running text is wrapped to. Tables are as wide as they are: at most a tenth wider.
const textWidth = 100

// Text writes what a terminal shows. The first line names the brokers, or what was planted; the last is the verdict.
func Text(w io.Writer, v verdict.Verdict, run *record.Run) error {
	d := build(v, run)
	out := bufio.NewWriter(w)
	facts(out, d.Facts)
	for _, line := range d.Headline {
		paragraph(out, "", line)
	}
	for _, tier := range d.Tiers {
		fmt.Fprintf(out, "\n%s\n", tier.Title)
		for _, f := range tier.Families {
			familyText(out, f)
		}
	}
	if d.APIs != nil {
		apisText(out, *d.APIs)
	}
	if d.Sanity != nil {
		sanityText(out, *d.Sanity)
	}
	if len(d.Proofs) > 0 || len(d.Problems) > 0 {
		fmt.Fprintf(out, "\nProofs beyond the families\n")
		for _, line := range d.Proofs {
			paragraph(out, "  ", line)
		}
	}
	for _, p := range d.Problems {
		paragraph(out, "  ", fmt.Sprintf("%s  %s: %s", p.Outcome, p.Where, clip(p.Why, MarkdownFile)))
	}
	if len(d.Footnotes) > 0 {
		fmt.Fprintf(out, "\nWarnings\n")
		for _, n := range d.Footnotes {
			paragraph(out, "  ", fmt.Sprintf("[%d] %s: %s", n.Number, n.Text, n.Remedy))
		}
	}
	fmt.Fprintln(out)
	facts(out, d.Closing)
	limitsText(out, d.LimitsShort)
	fmt.Fprintln(out, d.Verdict)
	return out.Flush()
}

func familyText(out io.Writer, f familySection) {
	marks := ""
	for _, n := range f.Notes {
		marks += fmt.Sprintf(" [%d]", n)
	}
	fmt.Fprintln(out)
	paragraph(out, "", fmt.Sprintf("%s: %s%s", f.Name, f.Line, marks))
	if f.Facts != "" {
		paragraph(out, "  ", f.Facts)
	}
	tableText(out, f.Table)
	for _, why := range f.Whys {
		paragraph(out, "  ", clip(why, MarkdownFile))
	}
	for _, r := range f.Remarks {
		paragraph(out, "  ", clip(r.Text, MarkdownFile))
	}
	paragraph(out, "  ", "proofs: "+f.Proofs)
}

func apisText(out io.Writer, s apiSection) {
	fmt.Fprintf(out, "\n%s\n", s.Title)
	for _, line := range s.Lines {
		paragraph(out, "  ", line)
	}
	tableText(out, s.StandOut)
	if len(s.Folded) > 0 {
		paragraph(out, "  ", "Every version of every message and size is in "+MarkdownFile+", and "+VerdictFile+".")
	}
}

func sanityText(out io.Writer, s sanitySection) {
	fmt.Fprintf(out, "\n%s\n", s.Title)
	paragraph(out, "  ", s.Why)
	tableText(out, s.Table)
	for _, p := range s.Proofs {
		paragraph(out, "  ", p.Name+" proofs: "+p.Text)
	}
}

func facts(out io.Writer, list []fact) {
	for _, f := range list {
		paragraph(out, "", f.Name+": "+f.Text)
	}
}

// paragraph wraps a text, with its further lines indented by two more. Words that are longer than a line (a command to copy) stay whole.
func paragraph(out io.Writer, indent, text string) {
	line := indent
	// A number stays with its unit.
	text = strings.ReplaceAll(text, " %", "\u00a0%")
	for i, word := range strings.Split(text, " ") {
		word = strings.ReplaceAll(word, "\u00a0", " ")
		switch {
		case i == 0:
			line += word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > textWidth:
			fmt.Fprintln(out, line)
			line = indent + "  " + word
		default:
			line += " " + word
		}
	}
	fmt.Fprintln(out, line)
}

// tableText lays a table out in columns, by its own widths: text/tabwriter aligns a whole table one way, and here numbers go to the
// right and words to the left.
func tableText(out io.Writer, t table) {
	if len(t.Rows) == 0 {
		return
	}
	widths := make([]int, len(t.Head))
	head := make([]string, len(t.Head))
	for i, c := range t.Head {
		head[i] = c.Name
	}
	rows := append([][]string{head}, t.Rows...)
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		line := " "
		for i, cell := range row {
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if t.Head[i].Text {
				line += " " + cell + gap
			} else {
				line += " " + gap + cell
			}
			if i < len(row)-1 {
				line += " "
			}
		}
		fmt.Fprintln(out, strings.TrimRight(line, " "))
	}
}
