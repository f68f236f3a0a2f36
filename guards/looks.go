package guards

import "protocolbench/internal/record"

// aboutSecondLook is put before a reason that is about the second look at a family.
const aboutSecondLook = "in the second look: "

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
