package guards

import "protocolbench/internal/record"

// aboutSecondLook is put before a reason that is about the second look at a family.
const aboutSecondLook = "in the second look: "

// inLook tells whether a fault of a family belongs to the look that f is the view of. Draws are numbered on from the first look's, so it goes by the draw: a worker may die
// before there is a block.
func inLook(run *record.Run, f record.FamilyRun, fault record.Fault) bool {
	if f.LookNumber == 0 || f.Look == nil || !f.Look.Taken {
		return true
	}
	return (fault.Draw >= run.Header.Budget.Draws) == (f.LookNumber == record.SecondLook)
}

// perLook asks a guard about each look at a family: a second one has blocks, cells and a plan of its own.
func perLook(guard func(*record.Run, record.FamilyRun) []Finding) func(*record.Run, record.FamilyRun) []Finding {
	return func(run *record.Run, f record.FamilyRun) []Finding {
		looks := f.Looks()
		findings := guard(run, looks[0])
		for _, look := range looks[1:] {
			for _, finding := range guard(run, look) {
				finding.Why = aboutSecondLook + finding.Why
				findings = append(findings, finding)
			}
		}
		return findings
	}
}
