package pin

import (
	"fmt"
	"slices"

	"protocolbench/internal/record"
)

// Build gives each implemented version its fate: left out by the scope, pinned where every build's preflight held it, or failed: then it is neither, and its tries say how.
// Without a broker nothing is tried, and all that is not left out is pinned.
func Build(s Scope, negotiated int, tries []record.Try) record.Plan {
	plan := record.Plan{Tier: s.Tier, API: s.API.Name, Key: s.API.Key, Implemented: s.Implemented, Advertised: s.Advertised,
		Negotiated: negotiated, BaselineImplemented: s.Baseline, Answers: []record.PlanAnswer{}, Pinned: []int{}, Tries: tries}
	for v := max(s.Implemented[0], 0); v <= s.Implemented[1]; v++ {
		a := record.PlanAnswer{Version: v, Advertised: s.live() && within(v, s.Advertised), Took: s.Took[v].What}
		a.Reason, a.Why = s.left(v)
		if a.Reason == "" {
			a.Pinned, a.Why = s.holds(v, tries)
		}
		a.Accepted = a.Took == record.TookAnswered || a.Pinned && s.live()
		plan.Answers = append(plan.Answers, a)
		if a.Pinned {
			plan.Pinned = append(plan.Pinned, v)
		}
	}
	return plan
}

// holds tells whether each build was tried at a version and held it.
func (s Scope) holds(v int, tries []record.Try) (pinned bool, why string) {
	if !s.live() {
		return true, ""
	}
	builds := []string{""}
	if s.Baseline != nil {
		builds = append(builds, record.BuildBaseline)
	}
	for _, build := range builds {
		i := slices.IndexFunc(tries, func(t record.Try) bool { return t.Version == v && t.Build == build })
		if i < 0 {
			return false, "not tried"
		}
		if f := Judge(s.API.Name, tries[i]); f.Fault != Held {
			return false, f.Why
		}
	}
	return true, ""
}

// Refused lists the versions that the user asked for by number and can't have, each with its reason. One at which the client failed is no such version: that it failed is
// the answer that the user asked for.
func Refused(plan record.Plan, asked [2]int) []string {
	if asked == None {
		return nil
	}
	var faults []string
	for v := asked[0]; v <= asked[1]; v++ {
		if why, ok := refusal(plan, v); ok {
			faults = append(faults, fmt.Sprintf("%s v%d can't be pinned: %s", plan.API, v, why))
		}
	}
	return faults
}

func refusal(plan record.Plan, v int) (string, bool) {
	for _, a := range plan.Answers {
		if a.Version == v {
			return a.Why, a.Reason != ""
		}
	}
	return fmt.Sprintf("the client implements v%d-v%d", plan.Implemented[0], plan.Implemented[1]), true
}
