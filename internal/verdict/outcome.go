package verdict

import (
	"fmt"
	"slices"
	"strings"

	"protocolbench/guards"
	"protocolbench/internal/record"
)

// Providers that make a run inconclusive, by their names in the record (package broker has them, and is not for judges).
const (
	providerEmbedded = "embedded"
	providerAttached = "attached"
)

// outcome finds the run's word: what is surely wrong first, then the tool's own trouble, then what could not be seen.
func outcome(run *record.Run, v *Verdict) (word string, exitCode int, reason string) {
	slower := slowerCells(v)
	fault := toolFault(run)
	failed := failedGuards(v, run)
	switch {
	case len(slower) > 0:
		return Fail, ExitFail, sentence(append(slower, failed...))
	case len(failed) > 0:
		return Fail, ExitFail, sentence(failed)
	case fault != nil:
		return Inconclusive, ExitHarness, fmt.Sprintf("%s fault%s: %s; mend that and run again", fault.What, in(fault.Family), oneLine(fault.Text))
	}
	if doubts := doubtsOf(run, v); len(doubts) > 0 {
		return Inconclusive, ExitInconclusive, sentence(doubts)
	}
	return Pass, ExitPass, passed(v)
}

func slowerCells(v *Verdict) []string {
	var list []string
	for _, f := range v.Families {
		for _, c := range f.Cells {
			if f.Deciding && c.Verdict == Slower {
				list = append(list, fmt.Sprintf("%s v%d is slower by %s", f.Name, c.Version, c.Why))
			}
		}
	}
	return list
}

// toolFault is the first fault that is neither the client's nor the user's doing.
func toolFault(run *record.Run) *record.Fault {
	for i := range run.Faults {
		if f := &run.Faults[i]; f.What == record.FaultBroker || f.What == record.FaultTool {
			return f
		}
	}
	return nil
}

// failedGuards lists guards that failed. Some fail as the consequence of a fault that is not the client's: after an interrupt
// or a fault of broker or tool completeness does, after the latter the broker's identity and whatever guards the block's family.
func failedGuards(v *Verdict, run *record.Run) []string {
	consequence := func(f guards.Finding) bool {
		return slices.ContainsFunc(run.Faults, func(fault record.Fault) bool {
			switch fault.What {
			case record.FaultUser:
				return f.Guard == guards.Completeness
			case record.FaultBroker, record.FaultTool:
				return f.Guard == guards.Completeness || f.Guard == guards.Identity || fault.Family != "" && fault.Family == f.Family
			default:
				return false
			}
		})
	}
	var list []string
	for _, f := range v.Guards {
		if f.Outcome == guards.Fail && !consequence(f) {
			list = append(list, fmt.Sprintf("the %s guard failed%s: %s", f.Guard, in(where(f)), oneLine(f.Why)))
		}
	}
	return list
}

// doubtsOf lists what keeps a run from passing, the causes before their consequences.
func doubtsOf(run *record.Run, v *Verdict) []string {
	var list []string
	for _, f := range run.Faults {
		if f.What == record.FaultUser {
			list = append(list, "the run was interrupted: run it again, or with --only for a part of it")
			break
		}
	}
	for _, f := range run.Faults {
		if f.What == record.FaultWorker {
			list = append(list, fmt.Sprintf("a worker failed%s: %s; see its log in the record", in(f.Family), oneLine(f.Text)))
			break
		}
	}
	list = append(list, brokerDoubts(v)...)
	for _, f := range v.Guards {
		if f.Outcome == guards.Blind {
			list = append(list, fmt.Sprintf("the %s guard is blind%s: %s", f.Guard, in(where(f)), oneLine(f.Why)))
		}
	}
	for _, word := range []string{Unresolvable, Unresolved} {
		for _, f := range v.Families {
			if doubt := familyDoubt(f, word); f.Deciding && doubt != "" {
				list = append(list, doubt)
			}
		}
	}
	if len(list) == 0 && (run.Trailer == nil || !run.Trailer.Complete) {
		list = append(list, "the record is not complete: run it again")
	}
	if len(list) == 0 && !slices.ContainsFunc(v.Families, func(f Family) bool { return f.Deciding }) && len(v.Sanity) == 0 {
		list = append(list, "nothing that decides was measured: choose more families with --only, or leave it out")
	}
	return list
}

func brokerDoubts(v *Verdict) []string {
	var list []string
	for _, b := range v.Brokers {
		switch {
		case b.Provider == providerEmbedded:
			return append(list, "the broker was the embedded one, which shows the flow and no figures: install Java 17 or later and Maven, and run again")
		case b.Provider == providerAttached && !b.Jolokia:
			return append(list, "the attached broker has no Jolokia, so nothing shows which versions it got: start its agent and give --jolokia URL")
		}
	}
	return list
}

// familyDoubt sums up the versions of a family that have the word.
func familyDoubt(f Family, word string) string {
	var versions []string
	why := ""
	for _, c := range f.Cells {
		if c.Verdict == word {
			versions = append(versions, fmt.Sprintf("v%d", c.Version))
			if why == "" {
				why = c.Why
			}
		}
	}
	switch {
	case len(versions) == 0:
		return ""
	case len(versions) == len(f.Cells):
		return fmt.Sprintf("%s is %s: %s%s", f.Name, word, oneLine(why), advice(f))
	default:
		return fmt.Sprintf("%s %s %s: %s%s", f.Name, strings.Join(versions, ", "), wordOf(len(versions), word), oneLine(why), advice(f))
	}
}

func wordOf(n int, word string) string {
	if n == 1 {
		return "is " + word
	}
	return "are " + word
}

func advice(f Family) string {
	if f.Forks < 2 {
		return ""
	}
	return "; run again on a quiet machine or with a longer --profile"
}

func passed(v *Verdict) string {
	deciding := 0
	for _, f := range v.Families {
		if f.Deciding {
			deciding++
		}
	}
	if deciding == 0 {
		return fmt.Sprintf("every guard of %d shapes passed", len(v.Sanity))
	}
	return fmt.Sprintf("no version is slower by the margin in any of %d deciding families, and every guard passed", deciding)
}

// sentence gives the first cause in full and counts the rest.
func sentence(causes []string) string {
	if len(causes) == 1 {
		return causes[0]
	}
	return fmt.Sprintf("%s; and %d more", causes[0], len(causes)-1)
}

func where(f guards.Finding) string {
	switch {
	case f.Family != "" && f.Version >= 0:
		return fmt.Sprintf("%s v%d", f.Family, f.Version)
	case f.Family != "":
		return f.Family
	case f.Tier >= 0:
		return fmt.Sprintf("tier %d", f.Tier)
	default:
		return "" // the whole run
	}
}

func in(place string) string {
	if place == "" {
		return ""
	}
	return " in " + place
}

// oneLine keeps a reason one sentence, whatever a fault's text has.
func oneLine(text string) string {
	return strings.Join(strings.Fields(text), " ")
}
