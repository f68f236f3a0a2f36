package guards

import (
	"fmt"
	"slices"

	"protocolbench/internal/record"
	"protocolbench/pin"
)

// checkPreflights asks what came of every version when it was tried, with one real request of the client: that is a result about the client, and never a reason to leave the
// version out. A version other than the one asked for is the pin's failure; an error, a hang or an end at a version that the broker takes is the client's, too, by the
// compatibility guard.
func checkPreflights(run *record.Run) []Finding {
	if run.Header.Schema < 4 {
		return nil // nobody kept what came of them
	}
	var findings []Finding
	for _, plan := range run.Plans {
		switch {
		case plan.Advertised[1] >= 0:
			findings = append(findings, preflights(plan)...)
		case plan.Tier > 0:
			findings = append(findings, ofPreflight(plan, Compatibility, AllVersions, Blind, fmt.Sprintf("%s: the record doesn't say which versions both sides have, so it is not known which had to be tried", plan.API)))
		}
	}
	return findings
}

func preflights(plan record.Plan) []Finding {
	var findings []Finding
	held := 0
	for _, a := range plan.Answers {
		if a.Reason != "" {
			continue
		}
		tried := 0
		for _, t := range plan.Tries {
			if t.Version != a.Version {
				continue
			}
			tried++
			if f, bad := preflight(plan, a, t); bad {
				findings = append(findings, f)
			} else {
				held++
			}
		}
		if missing := builds(plan) - tried; missing > 0 {
			f := ofPreflight(plan, Compatibility, a.Version, Blind, fmt.Sprintf("%s v%d was to be tried with every build, and %d preflights of it are not in the record", plan.API, a.Version, missing))
			findings = append(findings, f)
		}
	}
	alone := 0
	for _, t := range plan.Tries {
		if t.Version >= 0 {
			continue
		}
		alone++
		if found := pin.Alone(plan.API, t, implementedBy(plan, t.Build), plan.Advertised); found.Fault != pin.Held {
			findings = append(findings, fromTry(plan, t, found, Fail))
		}
	}
	if alone < builds(plan) {
		findings = append(findings, ofPreflight(plan, Compatibility, AllVersions, Blind, fmt.Sprintf("%s: that a build was left alone to negotiate is not in the record", plan.API)))
	}
	if len(findings) == 0 {
		f := ofPreflight(plan, Compatibility, AllVersions, Pass, fmt.Sprintf("%s: the client speaks every version that it and the broker both name, and left alone one of them", plan.API))
		f.Evidence["preflights"] = held
		findings = append(findings, f)
	}
	return findings
}

// preflight judges one. Where the broker was not seen to take the version, a client that can't speak it may be right.
func preflight(plan record.Plan, a record.PlanAnswer, t record.Try) (Finding, bool) {
	found := pin.Judge(plan.API, t)
	switch {
	case found.Fault == pin.Held:
		return Finding{}, false
	case found.Fault == pin.Incompatible && a.Took != record.TookAnswered:
		f := fromTry(plan, t, found, Blind)
		f.Why = fmt.Sprintf("nobody can tell whether client or broker is wrong: asked by this program itself, the broker %s, and %s", a.Took, found.Why)
		return f, true
	}
	return fromTry(plan, t, found, Fail), true
}

func fromTry(plan record.Plan, t record.Try, found pin.Found, outcome Outcome) Finding {
	guard := Pin
	if found.Fault == pin.Incompatible {
		guard = Compatibility
	}
	f := ofPreflight(plan, guard, t.Version, outcome, found.Why)
	if t.Build == record.BuildBaseline {
		f.Build, f.Why = t.Build, aboutBaseline+f.Why
	}
	f.Evidence["outcome"], f.Evidence["answerVersion"] = t.Outcome, t.AnswerVersion
	if t.Sent != nil {
		f.Evidence["sentByVersion"] = t.Sent
	}
	if t.Arrived != nil {
		f.Evidence["arrivedByVersion"] = t.Arrived
	}
	if found.Sent >= 0 {
		f.Evidence["sent"] = found.Sent
	}
	if len(t.Log) > 0 {
		f.Evidence["log"] = t.Log
	}
	return f
}

func ofPreflight(plan record.Plan, guard string, version int, outcome Outcome, why string) Finding {
	return Finding{Guard: guard, Tier: plan.Tier, Version: version, Outcome: outcome, Why: why, Evidence: map[string]any{"api": plan.API, "preflight": true}}
}

// failedPreflight tells whether a preflight of a version is a finding of its own.
func failedPreflight(plan record.Plan, version int) bool {
	return slices.ContainsFunc(plan.Tries, func(t record.Try) bool {
		return t.Version == version && pin.Judge(plan.API, t).Fault != pin.Held
	})
}

// builds is how many builds a plan's versions are tried with.
func builds(plan record.Plan) int {
	if plan.BaselineImplemented != nil {
		return 2
	}
	return 1
}

func implementedBy(plan record.Plan, build string) [2]int {
	if build == record.BuildBaseline && plan.BaselineImplemented != nil {
		return *plan.BaselineImplemented
	}
	return plan.Implemented
}
