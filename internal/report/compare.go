package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"protocolbench/internal/verdict"
)

// comparisonHeadline says what two runs can't, before any figure.
const comparisonHeadline = "Two runs: no CPU times are compared, since machines drift by tens of per cent between runs. Compared is the curve, which is what each version costs against the " +
	"reference version of its own run. A change that made all versions slower alike is invisible here; protocolbench run --baseline, with both builds in the same rounds, is for that."

const comparisonColumns = "Columns: the version's cost against the reference (ref) within A and within B; how far B's curve lies above A's, with its 95 % interval. " +
	"The reference itself is measured from the largest group of versions that kept together."

// Comparison writes two records side by side for a terminal. The last line is the verdict.
func Comparison(w io.Writer, c verdict.Comparison) error {
	out := bufio.NewWriter(w)
	facts(out, comparedSides(c))
	comparedIdentity(out, c.Identity)
	paragraph(out, "", comparisonHeadline)
	for _, why := range c.Refused {
		paragraph(out, "", "No time is judged: "+why)
	}
	if slices.ContainsFunc(c.Families, func(f verdict.ComparedFamily) bool { return len(f.Cells) > 0 }) {
		paragraph(out, "", comparisonColumns)
	}
	notes := &document{}
	for tier, title := range tierTitles {
		shown := false
		for _, f := range c.Families {
			if f.Tier != tier {
				continue
			}
			if !shown {
				fmt.Fprintf(out, "\n%s\n", title)
				shown = true
			}
			comparedFamily(out, f, notes, len(c.Refused) > 0)
		}
	}
	comparedSanity(out, c.Sanity)
	comparedOnly(out, c)
	for _, warning := range c.Warnings {
		notes.note(warning)
	}
	if len(notes.Footnotes) > 0 {
		fmt.Fprintf(out, "\nWarnings\n")
		for _, n := range notes.Footnotes {
			paragraph(out, "  ", fmt.Sprintf("[%d] %s: %s", n.Number, n.Text, n.Remedy))
		}
	}
	fmt.Fprintf(out, "\nverdict: %s (%s)\n", c.Verdict, clip(oneLine(c.Reason), "--format json"))
	return out.Flush()
}

func comparedSides(c verdict.Comparison) []fact {
	var list []fact
	for _, side := range []struct {
		label string
		verdict.Side
	}{{"A", c.A}, {"B", c.B}} {
		text := side.Client.Name + " " + side.Client.Version
		var about []string
		if spec := side.Client.Spec; spec != "" && spec != side.Client.Name && spec != side.Client.Name+"@"+side.Client.Version {
			about = append(about, spec)
		}
		if len(side.Client.ContentHash) >= shownHash {
			about = append(about, "content "+side.Client.ContentHash[:shownHash])
		}
		if side.Candidate {
			about = append(about, "the candidate of a run of two builds")
		}
		about = append(about, fmt.Sprintf("%s profile, seed %d", side.Profile, side.Seed))
		list = append(list, fact{side.label, text + " (" + strings.Join(about, "; ") + ")"})
		for _, trouble := range firstFew(side.Troubles) {
			list = append(list, fact{"  in " + side.label, clip(trouble, "its report")})
		}
	}
	return append(list, fact{"builds", relationTexts[c.Build]})
}

var relationTexts = map[string]string{
	verdict.BuildSame:      "the same, by content: the build is compared with itself, so what moved is the machine, the tool or chance",
	verdict.BuildModules:   "the same client sources, by their sums; nothing shows that the rest of the build is the same",
	verdict.BuildDifferent: "two different ones",
	verdict.BuildUnknown:   "unknown whether they are the same: a record has no sums",
}

// firstFew keeps a broken run's tail of troubles from filling the screen.
func firstFew(texts []string) []string {
	const shown = 4
	if len(texts) <= shown {
		return texts
	}
	return append(slices.Clone(texts[:shown]), fmt.Sprintf("and %d more; see its own report", len(texts)-shown))
}

// comparedIdentity has a row for what differs, and one line for what is equal. What would make the table too wide stands in lines of its own.
func comparedIdentity(out io.Writer, traits []verdict.Trait) {
	const widest = 40
	t := table{Head: []column{{"differs", true}, {"A", true}, {"B", true}}}
	var wide []verdict.Trait
	var same, unknown []string
	for _, trait := range traits {
		a, b := shortHash(trait.A), shortHash(trait.B)
		switch {
		case trait.Same && trait.A == "unknown":
			unknown = append(unknown, trait.Name)
		case trait.Same && utf8.RuneCountInString(a) > 2*widest:
			same = append(same, trait.Name)
		case trait.Same:
			same = append(same, trait.Name+" "+a)
		case max(utf8.RuneCountInString(a), utf8.RuneCountInString(b)) > widest:
			wide = append(wide, trait)
		default:
			t.Rows = append(t.Rows, []string{trait.Name, a, b})
		}
	}
	fmt.Fprintln(out)
	tableText(out, t)
	for _, trait := range wide {
		fmt.Fprintf(out, "  %s\n", trait.Name)
		paragraph(out, "    ", "A "+trait.A)
		paragraph(out, "    ", "B "+trait.B)
	}
	paragraph(out, "  ", "the same in both: "+strings.Join(same, "; "))
	if unknown != nil {
		paragraph(out, "  ", "unknown in both: "+strings.Join(unknown, ", "))
	}
	fmt.Fprintln(out)
}

// shortHash shortens the sums in a text; they are there to tell two apart, and JSON has all of them.
func shortHash(text string) string {
	words := strings.Split(text, " ")
	for i, word := range words {
		prefix, sum, ok := strings.Cut(word, ":")
		switch {
		case ok && (prefix == "h1" || prefix == "sha256") && len(sum) > shownHash:
			words[i] = prefix + ":" + sum[:shownHash]
		case len(word) == 64 && strings.Trim(word, "0123456789abcdef") == "":
			words[i] = word[:shownHash]
		}
	}
	return strings.Join(words, " ")
}
