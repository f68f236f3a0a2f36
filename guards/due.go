package guards

import (
	"slices"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
)

// Due lists the guards that have to answer about a family that was measured. A guard that says nothing about it has not passed.
func Due(run *record.Run, f record.Family) []string {
	due := []string{Completeness, Pin, Data, Clocks, Host}
	switch {
	case f.Message != "":
		return append(due, Counters) // what is not asked of messages, and why, is said once for all (notAskedOfMessages)
	case f.Tier == 2:
		due = append(due, Negotiation, Memory)
	case run.Header.Schema >= 4:
		due = append(due, Memory)
	}
	due = append(due, Conversions, Log, KnownTruth, Counters)
	if hasWire(f) {
		due = append(due, OtherAPIs)
	}
	return due
}

// MayNotApply tells whether a guard's "not applicable" about a family stands: only where this tier, with this broker, has nothing that it could look at. Anywhere else it
// is a guard that could have run and did not.
func MayNotApply(run *record.Run, f record.Family, guard string) bool {
	broker, known := brokerOf(run, f.Tier)
	one := f.Reference < 0 || len(versionsOf(f)) < 2
	switch guard {
	case Conversions:
		return f.Tier == 0 || f.API == fetchAPI && known && !broker.FetchConverts
	case Log:
		return f.Tier == 0
	case OtherAPIs:
		return one
	case Counters:
		return one || f.Mode == driver.ModeShipped
	case Host: // a platform that can't pin to a CPU, or can't say whose time was used: its own list says so
		return len(run.Header.Machine.WorkerCPUs) == 0 || len(run.Header.Machine.Missing) > 0 || run.Header.Schema < 4
	}
	return false
}

// Silent lists the guards of a family that have not answered, and those whose answer is that they don't apply where they do.
func Silent(run *record.Run, f record.Family, findings []Finding) []string {
	var silent []string
	for _, guard := range Due(run, f) {
		var outcomes []Outcome
		for _, finding := range findings {
			if finding.Guard == guard && finding.Family == f.Name {
				outcomes = append(outcomes, finding.Outcome)
			}
		}
		if len(outcomes) == 0 || slices.Contains(outcomes, NotApplicable) && !MayNotApply(run, f, guard) {
			silent = append(silent, guard)
		}
	}
	return silent
}
