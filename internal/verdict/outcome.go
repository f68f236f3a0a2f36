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

// outcome finds the run's word: what is surely wrong first, then the tool's own trouble, then what could not be seen. An interrupted run, and
// what was found on a broker that shows nothing by itself (embedded, or attached without Jolokia), has no such word, only what was found so far.
func outcome(run *record.Run, v *Verdict) (word string, exitCode int, reason string) {
	sure, held := found(run, v)
	fault := toolFault(run)
	if wasInterrupted(run) {
		return Inconclusive, ExitInconclusive, soFar(sentence(doubtsOf(run, v)), append(sure, held...))
	}
	switch {
	case len(sure) > 0:
		reason = sentence(sure)
		for _, doubt := range overridden(v) {
			reason += "; and " + doubt
		}
		return Fail, ExitFail, reason
	case fault != nil:
		return Inconclusive, ExitHarness, fmt.Sprintf("%s fault%s: %s; mend that and run again", fault.What, in(fault.Family), oneLine(fault.Text))
	}
	if doubts := doubtsOf(run, v); len(doubts) > 0 {
		return Inconclusive, ExitInconclusive, soFar(sentence(doubts), held)
	}
	return Pass, ExitPass, passed(v)
}

func wasInterrupted(run *record.Run) bool {
	return slices.ContainsFunc(run.Faults, func(f record.Fault) bool { return f.What == record.FaultUser })
}

// found lists slower versions and failed guards: those that make the run fail, and those of a tier whose broker shows nothing by itself. A worker
// that failed is the client's doing on any broker.
func found(run *record.Run, v *Verdict) (sure, held []string) {
	put := func(text string, isHeld bool) {
		if isHeld {
			held = append(held, text)
		} else {
			sure = append(sure, text)
		}
	}
	for _, f := range v.Families {
		for _, c := range f.Cells {
			switch {
			case !f.Deciding || c.Verdict != Slower:
			case f.Embedded:
				put(fmt.Sprintf("%s v%d came out slower (embedded broker: no figure)", f.Name, c.Version), true)
			default:
				put(fmt.Sprintf("%s v%d is slower by %s", f.Name, c.Version, c.Why), brokerDoubt(v, f.Tier) != "")
			}
		}
		isHeld := f.Embedded || brokerDoubt(v, f.Tier) != ""
		if why := growthWhy(f); f.Deciding && why != "" {
			put(f.Name+" "+why, isHeld)
		}
		if why := dearerWhy(f); f.Deciding && why != "" {
			put(f.Name+" "+why, isHeld)
		}
		for _, fault := range wallFaults(f) {
			put(fault, isHeld)
		}
	}
	for _, text := range preflightFaults(v) {
		put(text.words, text.isHeld)
	}
	for _, f := range v.Guards {
		if isPreflight(f) {
			continue
		}
		if f.Outcome == guards.Fail && !isConsequence(run, f) {
			put(fmt.Sprintf("the %s guard failed%s: %s", f.Guard, in(where(f)), oneLine(f.Why)), brokerDoubt(v, f.Tier) != "" && !workerGap(run, f))
		}
	}
	return sure, held
}

func soFar(doubt string, found []string) string {
	if len(found) == 0 {
		return doubt
	}
	return doubt + "; found so far: " + sentence(found)
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

// workerGap: completeness failed in a family whose worker failed.
func workerGap(run *record.Run, f guards.Finding) bool {
	return f.Guard == guards.Completeness && slices.ContainsFunc(run.Faults, func(fault record.Fault) bool {
		return fault.What == record.FaultWorker && fault.Family == f.Family
	})
}

// isConsequence: some guards fail because of a fault that is not the client's. After an interrupt completeness does; after a fault of broker or
// tool, and in its tier alone, completeness and the broker's identity, and whatever guards the block's family.
func isConsequence(run *record.Run, f guards.Finding) bool {
	if workerGap(run, f) {
		return false
	}
	return slices.ContainsFunc(run.Faults, func(fault record.Fault) bool {
		switch fault.What {
		case record.FaultUser:
			return f.Guard == guards.Completeness
		case record.FaultBroker, record.FaultTool:
			if fault.Family != "" && fault.Family == f.Family {
				return true
			}
			sameTier := fault.Tier == f.Tier || fault.Tier == guards.WholeRun || f.Tier == guards.WholeRun
			return sameTier && (f.Guard == guards.Completeness || f.Guard == guards.Identity)
		default:
			return false
		}
	})
}

// doubtsOf lists what keeps a run from passing, the causes before their consequences.
func doubtsOf(run *record.Run, v *Verdict) []string {
	var list []string
	if wasInterrupted(run) {
		list = append(list, "the run was interrupted: run it again, or with --only for a part of it")
	}
	list = append(list, overridden(v)...)
	list = append(list, brokerDoubts(v)...)
	for _, f := range run.Faults {
		if f.What == record.FaultWorker {
			list = append(list, fmt.Sprintf("a worker failed%s: %s; see its log in the record", in(f.Family), oneLine(f.Text)))
			break
		}
	}
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
	if missing := v.Accounting.Missing; len(list) == 0 && len(missing) > 0 { // the causes above have it for a consequence
		list = append(list, fmt.Sprintf("not everything that was planned is accounted for: %s; run it again, or with --only for what is missing", sentence(missing)))
	}
	if len(list) == 0 && !slices.ContainsFunc(v.Families, func(f Family) bool { return f.Deciding }) && len(v.Sanity) == 0 {
		list = append(list, "nothing that decides was measured: choose more families with --only, or leave it out")
	}
	return list
}

// overridden lists brokers that are not what their tiers are for. The user wanted them all the same, so nobody is refused; a pass would answer another question, though.
func overridden(v *Verdict) []string {
	var list []string
	for _, b := range v.Brokers {
		if b.Overridden != "" {
			list = append(list, "--any-broker: "+b.Overridden)
		}
	}
	return list
}

func brokerDoubts(v *Verdict) []string {
	for _, b := range v.Brokers {
		if doubt := brokerDoubt(v, b.Tier); doubt != "" {
			return []string{doubt}
		}
	}
	return nil
}

// brokerDoubt says why what was found in a tier proves nothing by itself, or "".
func brokerDoubt(v *Verdict, tier int) string {
	for _, b := range v.Brokers {
		switch {
		case b.Tier != tier:
		case b.Provider == providerEmbedded:
			return "the broker was the embedded one, which shows the flow and no figures: install Java 17 or later and Maven, and run again"
		case b.Provider == providerAttached && !b.Jolokia:
			return "the attached broker has no Jolokia, so nothing shows which versions it got: start its agent and give --jolokia URL"
		}
	}
	return ""
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
	than := ""
	if v.Baseline != nil {
		than = " than with the baseline"
	}
	return fmt.Sprintf("no version is materially slower%s, by the margin or more, in any of %d deciding families, and every guard passed", than, deciding)
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
