package verdict

import (
	"fmt"
	"slices"

	"protocolbench/guards"
	"protocolbench/internal/record"
)

// refusedRuns is why no curve of the two records may be judged against each other, whatever the family. A curve moves with the machine, too: what a
// version costs more is memory traffic on one CPU and arithmetic on another.
func refusedRuns(a, b *record.Run) []string {
	var why []string
	differs := func(what, of, against string) {
		if of != against {
			why = append(why, fmt.Sprintf("%s differs: %s in A, %s in B", what, known(of), known(against)))
		}
	}
	if isOneRun(a.Header, b.Header) {
		return []string{"A and B are one run: give two"}
	}
	m, n := a.Header.Machine, b.Header.Machine
	differs("the client library", a.Header.Client.Client, b.Header.Client.Client)
	differs("the operating system", m.OS, n.OS)
	differs("the architecture", m.Arch, n.Arch)
	differs("the CPU model", m.CPUModel, n.CPUModel)
	differs("the number of CPUs", fmt.Sprint(m.CPUs), fmt.Sprint(n.CPUs))
	return why
}

// isOneRun: a run's start is known to the nanosecond.
func isOneRun(a, b record.Header) bool {
	return a.Seed == b.Seed && !a.Started.IsZero() && a.Started.Equal(b.Started)
}

// refusedFamily is why the curves of one family may not be judged against each other.
func refusedFamily(p pair) []string {
	var why []string
	differs := func(what string, same bool) {
		if !same {
			why = append(why, what+" differs")
		}
	}
	differs("the API", p.inA.API == p.inB.API)
	differs("the tier", p.inA.Tier == p.inB.Tier)
	differs("the mode", p.inA.Mode == p.inB.Mode)
	differs("what is carried (its shape)", p.inA.Shape == p.inB.Shape)
	if p.inA.Tier > 0 || p.inB.Tier > 0 {
		why = append(why, refusedBrokers(p)...)
	}
	for _, side := range p.sides() {
		if gap := gapOf(side.family); gap != "" {
			why = append(why, fmt.Sprintf("%s has not all of it: %s", side.label, gap))
		}
		for _, f := range side.findings {
			if f.Outcome == guards.Fail && side.concerns(f) {
				why = append(why, fmt.Sprintf("in %s %s", side.label, guardText(f)))
				break // one is enough, and a fault has a tail of them
			}
		}
	}
	return why
}

func refusedBrokers(p pair) []string {
	var why []string
	var brokers []record.Broker
	for _, side := range p.sides() {
		b, ok := brokerOf(side.run, side.family.Tier)
		brokers = append(brokers, b)
		shown := &Verdict{Brokers: []Broker{{Tier: b.Tier, Provider: b.Provider, Jolokia: b.JolokiaURL != ""}}}
		switch doubt := brokerDoubt(shown, side.family.Tier); {
		case !ok:
			why = append(why, fmt.Sprintf("%s does not name its broker", side.label))
		case doubt != "":
			why = append(why, fmt.Sprintf("in %s %s", side.label, doubt))
		case b.Release == "":
			why = append(why, fmt.Sprintf("the broker's release is unknown in %s", side.label))
		}
	}
	if a, b := brokers[0], brokers[1]; len(why) == 0 && (a.Release != b.Release || a.Provider != b.Provider) {
		why = append(why, fmt.Sprintf("the broker differs: Kafka %s (%s) in A, %s (%s) in B", a.Release, a.Provider, b.Release, b.Provider))
	}
	return why
}

// gapOf says what of a family was planned and is not there.
func gapOf(f record.FamilyRun) string {
	if len(f.BlockRuns) < f.Blocks {
		return fmt.Sprintf("%d of %d blocks were begun", len(f.BlockRuns), f.Blocks)
	}
	for _, b := range f.BlockRuns {
		taken := 0
		for range b.Counted() {
			taken++
		}
		if planned := len(b.Orders) * len(f.Cells); taken < planned {
			return fmt.Sprintf("%d of %d batches of draw %d, fork %d", taken, planned, b.Draw, b.Fork)
		}
	}
	return ""
}

// concerns tells whether a finding is about the family under test. What the baseline alone did is not; what is the consequence of a fault is said by
// the fault; and that a run as a whole is not complete says nothing about a family that is (gapOf asks that).
func (s pairSide) concerns(f guards.Finding) bool {
	if f.Build == record.BuildBaseline || isConsequence(s.run, f) {
		return false
	}
	if f.Family != "" {
		return f.Family == s.family.Name
	}
	return f.Tier == s.family.Tier || f.Tier == guards.WholeRun && f.Guard != guards.Completeness
}

// blindSpots are the guards that could not have seen a fault of the family.
func blindSpots(p pair) []string {
	doubts := []string{}
	for _, side := range p.sides() {
		i := slices.IndexFunc(side.findings, func(f guards.Finding) bool { return f.Outcome == guards.Blind && side.concerns(f) })
		if i >= 0 {
			doubts = append(doubts, fmt.Sprintf("in %s %s", side.label, guardText(side.findings[i])))
		}
	}
	return doubts
}

// warn says what does not forbid a verdict, and what it means for one.
func (c *Comparison) warn(a, b *record.Run) {
	add := func(text, remedy string) { c.Warnings = append(c.Warnings, Warning{Text: text, Remedy: remedy}) }
	goA, goB := clientGo(a), clientGo(b)
	var flagsA, flagsB string
	if a.Header.ClientBuild != nil && b.Header.ClientBuild != nil {
		flagsA, flagsB = a.Header.ClientBuild.Flags, b.Header.ClientBuild.Flags
	}
	switch {
	case goA != goB:
		add(fmt.Sprintf("the client was built with %s in A and %s in B: what moved, times and allocations alike, may be the compiler's doing", known(goA), known(goB)),
			"build both with one toolchain before the client is blamed")
	case flagsA != flagsB:
		add("the client was built with other flags in B than in A: what moved may be their doing", "build both with the same flags before the client is blamed")
	}
	if a.Header.Budget != b.Header.Budget {
		add(fmt.Sprintf("the budgets differ (%s in A, %s in B): the coarser one sets what can be seen", budgetText(a), budgetText(b)), "run both with the same --profile")
	}
	m, n := a.Header.Machine, b.Header.Machine
	switch {
	case len(c.Refused) > 0:
	case m.CPUModel == "":
		add("neither record names its CPU, so nothing shows that it was the same", "be sure that both ran on one machine")
	case len(m.WorkerCPUs) == 0 != (len(n.WorkerCPUs) == 0):
		add("the worker was bound to a CPU in one of the runs only", "run both the same way")
	}
	for _, side := range []struct {
		label string
		run   *record.Run
	}{{"A", a}, {"B", b}} {
		if side.run.Header.Baseline != nil {
			add(side.label+" is a run of two builds: its candidate is what is compared here", fmt.Sprintf("its own verdict, protocolbench judge, says more about its two builds than %s can", side.label))
		}
		for _, w := range side.run.Warnings {
			add("in "+side.label+" "+w, "keep the record as it is; run again if the missing rows matter")
		}
	}
}
