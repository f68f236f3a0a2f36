package pin

import (
	"fmt"

	"protocolbench/internal/record"
)

// None stands for a range that isn't there: no broker, or an API it doesn't know.
var None = [2]int{-1, -1}

// Question is what is known of one API before its versions are planned.
type Question struct {
	Tier        int
	API         API
	Implemented [2]int
	// Baseline is what the other build of a run of two builds implements; nil where there is none.
	Baseline *[2]int
	// Written is what this program itself can write of a message, which is what a worker is given; nil where a worker is given none.
	Written    *[2]int
	Advertised [2]int // None without a broker
	// Accepted has, per version that was tried with one real request, nil or why it failed. Versions that were not tried are
	// not in it. It is not looked at without a broker.
	Accepted   map[int]error
	Negotiated int
	// Asked narrows the plan (--versions); None asks for all.
	Asked [2]int
}

// Build decides each implemented version's fate. Every version that isn't pinned has its reason.
func Build(q Question) record.Plan {
	plan := record.Plan{Tier: q.Tier, API: q.API.Name, Key: q.API.Key, Implemented: q.Implemented, Advertised: q.Advertised,
		Negotiated: q.Negotiated, BaselineImplemented: q.Baseline, Answers: []record.PlanAnswer{}, Pinned: []int{}}
	for v := max(q.Implemented[0], 0); v <= q.Implemented[1]; v++ {
		answer := q.answer(v)
		plan.Answers = append(plan.Answers, answer)
		if answer.Pinned {
			plan.Pinned = append(plan.Pinned, v)
		}
	}
	return plan
}

func (q Question) answer(v int) record.PlanAnswer {
	answer := record.PlanAnswer{Version: v, Advertised: within(v, q.Advertised)}
	live := q.Advertised != None
	tried, err := q.tried(v)
	answer.Accepted = live && tried && err == nil
	switch {
	case live && !answer.Advertised:
		answer.Why = fmt.Sprintf("the broker advertises %s v%d-v%d only", q.API.Name, q.Advertised[0], q.Advertised[1])
	case live && !tried:
		answer.Why = "not tried"
	case live && err != nil:
		answer.Why = "advertised, but refused: " + err.Error()
	case v < q.API.Floor:
		answer.Why = fmt.Sprintf("older than record batches of format v2, which begin at %s v%d: another payload, so no fair comparison", q.API.Name, q.API.Floor)
	case q.Baseline != nil && !within(v, *q.Baseline):
		answer.Why = fmt.Sprintf("the baseline implements %s v%d-v%d only: builds are compared on the versions that both have", q.API.Name, q.Baseline[0], q.Baseline[1])
	case q.Written != nil && !within(v, *q.Written):
		answer.Why = fmt.Sprintf("this program can write %s v%d-v%d only, and what a client reads and writes is judged by what it wrote", q.API.Name, q.Written[0], q.Written[1])
	case q.Asked != None && !within(v, q.Asked):
		answer.Why = fmt.Sprintf("not asked for (--versions %d-%d)", q.Asked[0], q.Asked[1])
	default:
		answer.Pinned = true
	}
	return answer
}

func (q Question) tried(v int) (bool, error) {
	err, ok := q.Accepted[v]
	return ok, err
}

// Refused lists the versions that the user asked for by number and can't have, each with its reason.
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
			return a.Why, !a.Pinned
		}
	}
	return fmt.Sprintf("the client implements v%d-v%d", plan.Implemented[0], plan.Implemented[1]), true
}

func within(v int, r [2]int) bool { return v >= r[0] && v <= r[1] }
