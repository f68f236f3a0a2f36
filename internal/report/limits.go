package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

// saysWhatIsMissing is the schema from which on a record without notCovered is one of a run that left nothing out.
const saysWhatIsMissing = 4

const limitsTitle = "What this run could not have seen"

// axesShown is how many axes that were not measured a terminal names of each profile; report.md names all.
const axesShown = 3

// familyLimits is what one family could not have seen. Empty where no figure may be shown.
func familyLimits(f verdict.Family) string {
	if f.Limits == nil || f.Embedded {
		return ""
	}
	l := *f.Limits
	parts := []string{fmt.Sprintf("a version slower by less than %s (one by %s shows as different)", percent(l.SmallestDifference), percent(l.SmallestShown))}
	if l.SmallestDifference >= verdict.Unbounded {
		parts[0] = "a slower version, however slow"
	}
	switch {
	case l.Stalls == nil:
	case l.Stalls.OneIn == 0:
		parts = append(parts, "any stall")
	default:
		parts = append(parts, fmt.Sprintf("stalls shorter than %.3g ms, or rarer than one in %d responses", l.Stalls.Ms, l.Stalls.OneIn))
	}
	if len(l.NotCovered) > 0 {
		parts = append(parts, "versions "+numbers(l.NotCovered))
	}
	return strings.Join(parts, "; ")
}

// limits are the lines of the whole run. axes is how many of a profile are named; 0: all.
func limits(v verdict.Verdict, schema, axes int) []string {
	var lines []string
	for tier := range 2 {
		lines = append(lines, tierLimits(v, tier)...)
	}
	if lines != nil {
		lines = append(lines, "what all versions do alike: they are measured against each other")
	}
	if schema < saysWhatIsMissing && lines != nil {
		return append(lines, "which families were not measured: the record is of an earlier build, which doesn't say")
	}
	return append(lines, shapesLimits(v.NotCovered, axes)...)
}

// tierLimits are the narrowest and the widest limit of the families that decide, so that no better one hides a worse.
func tierLimits(v verdict.Verdict, tier int) (lines []string) {
	var differences []float64
	var blind []string
	families, oneIn, ms := 0, []int{}, 0.0
	for _, f := range v.Families {
		if f.Tier != tier || !f.Deciding || f.Embedded || f.Limits == nil {
			continue
		}
		families++
		if f.Limits.SmallestDifference >= verdict.Unbounded {
			blind = append(blind, f.Name)
		} else {
			differences = append(differences, f.Limits.SmallestDifference)
		}
		if s := f.Limits.Stalls; s != nil {
			oneIn, ms = append(oneIn, s.OneIn), max(ms, s.Ms)
		}
	}
	var parts []string
	if len(differences) > 0 {
		parts = append(parts, "a version slower by less than "+span(slices.Min(differences), slices.Max(differences)))
	}
	if len(blind) > 0 {
		parts = append(parts, "a slower version, however slow, in "+strings.Join(blind, ", "))
	}
	if len(oneIn) > 0 {
		parts = append(parts, stallsText(slices.Min(oneIn), slices.Max(oneIn), ms))
	}
	if families > 0 {
		lines = append(lines, fmt.Sprintf("tier %d, %d deciding %s: %s", tier, families, plural(families, "family", "families"), strings.Join(parts, "; ")))
	}
	if text := versionsLimits(v, tier); text != "" {
		lines = append(lines, text)
	}
	return lines
}

func stallsText(least, most int, ms float64) string {
	switch {
	case most == 0:
		return "any stall"
	case least == 0:
		return fmt.Sprintf("stalls shorter than %.3g ms, or rarer than one in %d responses, in some families any", ms, most)
	case least == most:
		return fmt.Sprintf("stalls shorter than %.3g ms, or rarer than one in %d responses", ms, most)
	}
	return fmt.Sprintf("stalls shorter than %.3g ms, or rarer than one in %d to %d responses, by family", ms, least, most)
}

// versionsLimits names the versions that no family of the tier has, and counts the families that leave out more.
func versionsLimits(v verdict.Verdict, tier int) string {
	var parts []string
	for _, api := range []string{"Produce", "Fetch"} {
		var nowhere []int
		fewer, families := 0, 0
		for _, f := range v.Families {
			if f.Tier != tier || f.API != api || f.Message != "" || f.Limits == nil {
				continue
			}
			if families++; families == 1 {
				nowhere = slices.Clone(f.Limits.NotCovered)
			}
			nowhere = slices.DeleteFunc(nowhere, func(version int) bool { return !slices.Contains(f.Limits.NotCovered, version) })
		}
		for _, f := range v.Families {
			if f.Tier == tier && f.API == api && f.Message == "" && f.Limits != nil && len(f.Limits.NotCovered) > len(nowhere) {
				fewer++
			}
		}
		text := ""
		if len(nowhere) > 0 {
			text = fmt.Sprintf("%s versions %s", api, numbers(nowhere))
		}
		if fewer > 0 {
			text = strings.TrimPrefix(fmt.Sprintf("%s, and more versions in %d of %d families of %s", text, fewer, families, api), ", and ")
		}
		if text != "" {
			parts = append(parts, text)
		}
	}
	if parts == nil {
		return ""
	}
	return fmt.Sprintf("tier %d: %s", tier, strings.Join(parts, "; "))
}

func shapesLimits(list []record.Unmeasured, axes int) []string {
	var lines []string
	for _, profile := range []string{"quick", "standard", "release"} {
		var names []string
		families := 0
		for _, u := range list {
			if u.Profile != profile {
				continue
			}
			families += u.Families
			name := u.Name
			if u.Sizes != nil {
				name += "=" + strings.Join(u.Sizes, "|")
			}
			names = append(names, name)
		}
		if families == 0 {
			continue
		}
		if more := len(names) - axes; axes > 0 && more > 0 {
			names = append(names[:axes], fmt.Sprintf("and %d more axes (%s)", more, MarkdownFile))
		}
		lines = append(lines, fmt.Sprintf("not measured, of profile %s: %d %s: %s", profile, families, plural(families, "family", "families"), strings.Join(names, ", ")))
	}
	return lines
}

func span(low, high float64) string {
	if math.Abs(high-low) < 0.0005 {
		return percent(high)
	}
	return strings.TrimSuffix(percent(low), " %") + " to " + percent(high) + ", by family"
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func limitsText(out io.Writer, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(out, "%s\n", limitsTitle)
	for _, line := range lines {
		paragraph(out, "  ", line)
	}
}

func limitsMarkdown(out io.Writer, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(out, "## %s\n\n", limitsTitle)
	for _, line := range lines {
		fmt.Fprintf(out, "- %s\n", markdownText(line))
	}
	fmt.Fprintln(out)
}
