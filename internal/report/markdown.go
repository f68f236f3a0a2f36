package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"protocolbench/guards"
	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

// Markdown writes report.md: what Text shows, every finding with its evidence, and what the figures are made of.
func Markdown(w io.Writer, v verdict.Verdict, run *record.Run) error {
	d := build(v, run)
	out := bufio.NewWriter(w)
	title := d.Word
	if d.Planted != "" {
		title += " (PLANTED: " + d.Planted + ")"
	}
	if d.Overridden != "" {
		title += " (OVERRIDDEN: " + d.Overridden + ")"
	}
	fmt.Fprintf(out, "# protocolbench: %s\n\n%s\n\n", markdownText(title), markdownText(d.Verdict))
	factsMarkdown(out, d.Facts)
	for _, line := range d.Headline {
		fmt.Fprintf(out, "%s\n\n", markdownText(line))
	}
	for _, tier := range d.Tiers {
		fmt.Fprintf(out, "## %s\n\n", markdownText(tier.Title))
		for _, f := range tier.Families {
			familyMarkdown(out, f)
		}
	}
	if d.APIs != nil {
		apisMarkdown(out, *d.APIs)
	}
	if d.Sanity != nil {
		fmt.Fprintf(out, "## %s\n\n%s\n\n", markdownText(d.Sanity.Title), markdownText(d.Sanity.Why))
		tableMarkdown(out, d.Sanity.Table)
		factsMarkdown(out, d.Sanity.Proofs)
		for _, apis := range d.Sanity.APIs {
			foldedMarkdown(out, apisTitle+": "+markdownText(apis.Name), apis.Table)
		}
	}
	fmt.Fprintf(out, "## Proofs beyond the families\n\n")
	for _, line := range d.Proofs {
		fmt.Fprintf(out, "- %s\n", markdownText(line))
	}
	for _, p := range d.Problems {
		fmt.Fprintf(out, "- **%s** %s: %s\n", p.Outcome, markdownText(p.Where), markdownText(p.Why))
	}
	fmt.Fprintln(out)
	if len(d.Footnotes) > 0 {
		fmt.Fprintf(out, "## Warnings\n\n")
		for _, n := range d.Footnotes {
			fmt.Fprintf(out, "- [%d] %s: %s\n", n.Number, markdownText(n.Text), markdownText(n.Remedy))
		}
		fmt.Fprintln(out)
	}
	limitsMarkdown(out, d.Limits)
	factsMarkdown(out, d.Closing)
	fmt.Fprintf(out, "## What the figures are made of\n\n")
	for _, s := range d.Sources {
		fmt.Fprintf(out, "- %s\n", markdownText(s))
	}
	if err := findingsMarkdown(out, d.Findings); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s\n", markdownText(d.Verdict))
	return out.Flush()
}

func familyMarkdown(out io.Writer, f familySection) {
	marks := ""
	for _, n := range f.Notes {
		marks += fmt.Sprintf(" [%d]", n)
	}
	fmt.Fprintf(out, "### %s\n\n%s%s.", markdownText(f.Name), markdownText(f.Line), marks)
	if f.Facts != "" {
		fmt.Fprintf(out, " %s.", markdownText(f.Facts))
	}
	fmt.Fprint(out, "\n\n")
	tableMarkdown(out, f.Table)
	for _, why := range f.Whys {
		fmt.Fprintf(out, "- %s\n", markdownText(why))
	}
	for _, r := range f.Remarks {
		text := markdownText(r.Text)
		if r.Loud {
			text = "**" + text + "**"
		}
		fmt.Fprintf(out, "- %s\n", text)
	}
	if f.Limits != "" {
		fmt.Fprintf(out, "- could not have seen: %s\n", markdownText(f.Limits))
	}
	fmt.Fprintf(out, "- proofs: %s\n\n", markdownText(f.Proofs))
	foldedMarkdown(out, apisTitle, f.APIs)
}

// foldedMarkdown hides a table behind its title. Markdown within HTML needs the empty lines.
func foldedMarkdown(out io.Writer, title string, t table) {
	if len(t.Rows) == 0 {
		return
	}
	fmt.Fprintf(out, "<details><summary>%s</summary>\n\n", title)
	tableMarkdown(out, t)
	fmt.Fprint(out, "</details>\n\n")
}

func apisMarkdown(out io.Writer, s apiSection) {
	fmt.Fprintf(out, "## %s\n\n", markdownText(s.Title))
	for _, line := range s.Lines {
		fmt.Fprintf(out, "%s\n\n", markdownText(line))
	}
	tableMarkdown(out, s.StandOut)
	for _, folded := range s.Folded {
		fmt.Fprintf(out, "<details>\n<summary>%s</summary>\n\n", markdownText(folded.Summary))
		tableMarkdown(out, folded.Table)
		fmt.Fprint(out, "</details>\n\n")
	}
}

func factsMarkdown(out io.Writer, list []fact) {
	for _, f := range list {
		fmt.Fprintf(out, "- %s: %s\n", markdownText(f.Name), markdownText(f.Text))
	}
	fmt.Fprintln(out)
}

func tableMarkdown(out io.Writer, t table) {
	if len(t.Rows) == 0 {
		return
	}
	var head, rule []string
	for _, c := range t.Head {
		head = append(head, markdownText(c.Name))
		if c.Text {
			rule = append(rule, "---")
		} else {
			rule = append(rule, "---:")
		}
	}
	fmt.Fprintf(out, "| %s |\n| %s |\n", strings.Join(head, " | "), strings.Join(rule, " | "))
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = markdownText(cell)
		}
		fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
	}
	fmt.Fprintln(out)
}

func findingsMarkdown(out io.Writer, findings []guards.Finding) error {
	fmt.Fprintf(out, "\n## All findings\n\n")
	t := table{Head: []column{{"guard", true}, {"about", true}, {"outcome", true}, {"why", true}, {"evidence", true}}}
	for _, f := range findings {
		evidence, err := evidenceText(f)
		if err != nil {
			return err
		}
		t.Rows = append(t.Rows, []string{f.Guard, about(f), string(f.Outcome), f.Why, evidence})
	}
	tableMarkdown(out, t)
	return nil
}

// about says what a finding is about.
func about(f guards.Finding) string {
	text := tierName(f.Tier)
	if f.Family != "" {
		text = f.Family
	}
	if f.Version >= 0 {
		text += fmt.Sprintf(" v%d", f.Version)
	}
	if f.Build != "" {
		text += ", " + f.Build
	}
	return text
}

func evidenceText(f guards.Finding) (string, error) {
	if len(f.Evidence) == 0 {
		return "", nil
	}
	text, err := json.Marshal(f.Evidence)
	if err != nil {
		return "", fmt.Errorf("the evidence of guard %q about %s cannot be shown: %w", f.Guard, about(f), err)
	}
	return string(text), nil
}

var markdownEscapes = strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", ">", "&gt;", "*", "\\*", "_", "\\_", "`", "\\`")

// markdownText keeps a text what it is: log lines and keys come from outside, and may have anything in them.
func markdownText(text string) string { return markdownEscapes.Replace(oneLine(text)) }
