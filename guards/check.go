package guards

import (
	"cmp"
	"slices"

	"protocolbench/internal/record"
)

// Tiers and versions that a finding isn't about one of.
const (
	WholeRun    = -1 // as a tier: the run
	AllVersions = -1 // as a version: all of the family
)

// Check asks every guard about every family, tier and the run. Findings come in a fixed order: the run first, then tier by tier,
// families as declared, guards as listed below, versions ascending.
func Check(run *record.Run) []Finding {
	findings := slices.Concat(checkRunComplete(run), checkIdentity(run), checkPlan(run))
	findings = append(findings, notAskedOfMessages(run)...)
	for _, f := range run.Families {
		if f.Message != "" {
			findings = append(findings, checkMessage(run, f)...)
			continue
		}
		for _, guard := range []func(*record.Run, record.FamilyRun) []Finding{
			checkCompleteness, checkPin, checkConversions, checkLog, checkData, checkKnownTruth, perBuild(checkCounters), perBuild(checkClocks), checkNegotiation, checkMemory,
		} {
			findings = append(findings, perLook(guard)(run, f)...)
		}
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.Tier, b.Tier) })
	return findings
}
