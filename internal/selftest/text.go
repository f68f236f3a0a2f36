package selftest

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// shownObjections of a fault's own guard: one proves it, and the record has all.
const shownObjections = 1

// Line prints one result.
func Line(out io.Writer, r Result) error {
	word := "caught"
	switch {
	case r.Untried != "":
		word = "not tried"
	case r.Guard == "" && r.Caught():
		word = "silent"
	case r.Guard == "":
		word = "NOT SILENT"
	case len(r.By) == 0:
		word = "MISSED"
	case !r.Caught():
		word = "CAUGHT, BUT NOT ALONE"
	}
	title := r.Name
	if r.Guard != "" {
		title += " -> " + r.Guard
	}
	_, err := fmt.Fprintf(out, "%-14s %s (%.1f s)\n    planted: %s\n", word, title, r.Took.Seconds(), r.Planted)
	text := func(format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(out, "    "+format+"\n", args...)
		}
	}
	if r.Untried != "" {
		text("%s", r.Untried)
	}
	for i, o := range r.By {
		if i == shownObjections {
			text("and %d more of its findings", len(r.By)-i)
			break
		}
		text("%s: %s%s: %s%s", o.Guard, o.Outcome, about(o), o.Why, evidence(o))
	}
	if also := names(r.Besides); also != "" {
		text("beside it %s, which see the same: %s", also, r.Why)
	}
	for _, o := range r.Strangers {
		text("NOT ITS BUSINESS: %s: %s%s: %s%s", o.Guard, o.Outcome, about(o), o.Why, evidence(o))
	}
	return err
}

func about(o Objection) string {
	var parts []string
	if o.Family != "" {
		parts = append(parts, o.Family)
	}
	if o.Version >= 0 {
		parts = append(parts, fmt.Sprintf("v%d", o.Version))
	}
	if parts == nil {
		return ""
	}
	return ", " + strings.Join(parts, " ")
}

// evidence is what the finding rests on, as it stands in the verdict.
func evidence(o Objection) string {
	const most = 300
	if len(o.Evidence) == 0 {
		return ""
	}
	text, err := json.Marshal(o.Evidence)
	if err != nil {
		return ""
	}
	if len(text) > most {
		return "; evidence " + string(text[:most]) + "..."
	}
	return "; evidence " + string(text)
}

func names(objections []Objection) string {
	var list []string
	for _, o := range objections {
		if !slices.Contains(list, o.Guard) {
			list = append(list, o.Guard)
		}
	}
	return strings.Join(list, ", ")
}

// Summary says how many were caught, and gives what decides the exit code: all, some missed, or some not tried.
func Summary(results []Result) (text string, missed, untried int) {
	faults, caught, silent, quiet := 0, 0, 0, 0
	for _, r := range results {
		switch {
		case r.Untried != "":
			untried++
			continue
		case !r.Caught():
			missed++
		}
		if r.Guard == "" {
			quiet++
			if r.Caught() {
				silent++
			}
			continue
		}
		faults++
		if r.Caught() {
			caught++
		}
	}
	text = fmt.Sprintf("%d of %d faults were caught by their own guard and by nothing else, and in %d of %d runs without a fault all stayed silent", caught, faults, silent, quiet)
	if untried > 0 {
		text += fmt.Sprintf("; %d were not tried", untried)
	}
	return text, missed, untried
}
