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
	findings := slices.Concat(checkRunComplete(run), checkIdentity(run), checkPlan(run), checkPreflights(run))
	findings = append(findings, notAskedOfMessages(run)...)
	for _, f := range run.Families {
		if f.Message != "" {
			findings = append(findings, checkMessage(run, f)...)
			continue
		}
		valid, voids := Valid(run, f)
		for _, ask := range []struct {
			guard func(*record.Run, record.FamilyRun) []Finding
			of    record.FamilyRun
		}{
			{checkCompleteness, f}, {checkPin, valid}, {checkConversions, valid}, {checkLog, valid}, {checkData, valid}, {checkKnownTruth, valid},
			{perBuild(checkAPIs), valid}, {perBuild(checkCounters), valid}, {perBuild(checkClocks), f}, {checkNegotiation, valid}, {perBuild(checkMemory), valid}, {checkHost, f},
		} { // a void block was taken, and in time: that is for two of them to say
			if voids > 0 && len(ask.of.BlockRuns) == 0 {
				continue // nothing is left to ask about; identity says why
			}
			findings = append(findings, perLook(ask.guard)(run, ask.of)...)
		}
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.Tier, b.Tier) })
	return findings
}
