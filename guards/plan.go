package guards

import (
	"fmt"
	"slices"
	"strings"

	"protocolbench/internal/bank"
	"protocolbench/internal/record"
	"protocolbench/internal/shape"
)

// checkPlan asks, per tier and API, whether every version that the client implements was measured or has its reason: a version that
// is left out in silence looks like one that is fine.
func checkPlan(run *record.Run) []Finding {
	var findings []Finding
	var asked []string
	for _, f := range run.Families {
		key := fmt.Sprint(f.Tier, f.API)
		if slices.Contains(asked, key) {
			continue
		}
		asked = append(asked, key)
		findings = append(findings, apiPlan(run, f.Tier, f.API))
	}
	return findings
}

func apiPlan(run *record.Run, tier int, api string) Finding {
	f := Finding{Guard: PlanGuard, Tier: tier, Version: AllVersions, Evidence: map[string]any{"api": api}}
	index := slices.IndexFunc(run.Plans, func(p record.Plan) bool { return p.Tier == tier && p.API == api })
	if index < 0 {
		f.Outcome, f.Why = Blind, fmt.Sprintf("the record has no plan of %s, so versions could be missing in silence", api)
		return f
	}
	plan := run.Plans[index]
	if plan.Implemented[1] < 0 {
		f.Outcome, f.Why = Blind, fmt.Sprintf("the record doesn't say which versions of %s the client implements, so some could be missing in silence", api)
		return f
	}
	f.Evidence["pinned"], f.Evidence["implemented"], f.Evidence["advertised"] = plan.Pinned, plan.Implemented, plan.Advertised
	faults := planFaults(plan)
	if run.Header.Schema >= 4 {
		faults = append(faults, unreasoned(plan)...)
	}
	if tier < 2 {
		faults = append(faults, uncovered(run, tier, plan)...)
	}
	refused := refusedVersions(plan)
	if len(refused) > 0 {
		f.Evidence["refused"] = refused
	}
	switch {
	case len(faults) > 0:
		f.Outcome, f.Why = Fail, fmt.Sprintf("%s: %s; a gap without a reason is no plan", api, strings.Join(faults, "; "))
	case len(refused) > 0:
		f.Outcome, f.Why = Pass, fmt.Sprintf("%s: every version is measured or has its reason; the broker advertises v%s and refuses it", api, strings.Join(refused, ", v"))
	default:
		f.Outcome, f.Why = Pass, api+": every version that the client implements is measured or has its reason"
	}
	return f
}

// unreasoned are versions that are not pinned for no reason that a version may be left out for, or for one that the evidence doesn't bear out. What a client did when it was
// tried is none: that is for the pin and compatibility guards (preflight.go) to object to, and here it has to be there, else nobody does.
func unreasoned(plan record.Plan) []string {
	var faults []string
	for _, a := range plan.Answers {
		fault := ""
		switch {
		case a.Pinned && a.Reason != "":
			fault = "is pinned, and left out: " + a.Reason
		case a.Pinned:
		case a.Reason == "":
			if !failedPreflight(plan, a.Version) {
				fault = "is not pinned, has no reason, and no preflight failed at it"
			}
		case a.Reason == record.LeftNotAdvertised && a.Advertised:
			fault = "is left out as not advertised, and the broker advertises it"
		case a.Reason == record.LeftRefused && a.Took != record.TookClosed && a.Took != record.TookError:
			fault = fmt.Sprintf("is left out as refused, and what the broker did with a request of it is %q", a.Took)
		case a.Reason == record.LeftOneBuild && (plan.BaselineImplemented == nil || a.Version >= plan.BaselineImplemented[0] && a.Version <= plan.BaselineImplemented[1]):
			fault = "is left out since one build lacks it, and none does"
		case !slices.Contains(reasonsOfPlans, a.Reason):
			fault = fmt.Sprintf("is left out for %q, which is no reason", a.Reason)
		}
		if fault != "" {
			faults = append(faults, fmt.Sprintf("v%d %s", a.Version, fault))
		}
	}
	return faults
}

var reasonsOfPlans = []string{record.LeftNotAdvertised, record.LeftRefused, record.LeftOlderFormat, record.LeftOneBuild, record.LeftNotWritten, record.LeftNotAsked}

// planFaults are contradictions within a plan.
func planFaults(plan record.Plan) []string {
	var faults []string
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	answers := map[int]record.PlanAnswer{}
	for _, a := range plan.Answers {
		answers[a.Version] = a
	}
	for v := max(plan.Implemented[0], 0); v <= plan.Implemented[1]; v++ {
		a, there := answers[v]
		switch {
		case !there:
			add("v%d is implemented and has no answer", v)
		case !a.Pinned && a.Why == "":
			add("v%d is not pinned and has no reason", v)
		case a.Pinned && plan.Advertised[1] >= 0 && !(a.Advertised && a.Accepted):
			add("v%d is pinned, and the broker was not shown to take it", v)
		case a.Pinned != slices.Contains(plan.Pinned, v):
			add("v%d is both pinned and not", v)
		}
	}
	for _, v := range plan.Pinned {
		if v < plan.Implemented[0] || v > plan.Implemented[1] {
			add("v%d is pinned and not implemented", v)
		}
	}
	return faults
}

// leastZstd are the versions from which on records may be compressed by zstd (KIP-110).
var leastZstd = map[string]int{produceAPI: bank.ZstdProduce, fetchAPI: bank.ZstdFetch}

// uncovered are pinned versions that a family has no cell for and, in tier 0, no reason to leave out, and cells of versions that were not pinned. The newest one is in
// every family: nothing could be compared without it.
func uncovered(run *record.Run, tier int, plan record.Plan) []string {
	var faults []string
	for _, f := range run.Families {
		if f.Tier != tier || f.API != plan.API {
			continue
		}
		measured := versionsOf(f.Family)
		pinned := slices.Sorted(slices.Values(plan.Pinned))
		if tier == 0 && f.LeftOut != "" && len(pinned) > 0 && slices.Contains(measured, pinned[len(pinned)-1]) {
			pinned = slices.DeleteFunc(pinned, func(v int) bool { return !slices.Contains(measured, v) })
		}
		if tier == 1 && f.LeftOut != "" && f.Shape.Compression == shape.CompressionZstd {
			// On a broker only what the protocol forbids may be missing: a reason in words alone could leave out anything.
			pinned = slices.DeleteFunc(pinned, func(v int) bool { return v < leastZstd[plan.API] })
		}
		if !slices.Equal(measured, pinned) {
			faults = append(faults, fmt.Sprintf("%s measures versions %v where %v are pinned", f.Name, measured, pinned))
		}
	}
	return faults
}

func refusedVersions(plan record.Plan) []string {
	var refused []string
	for _, a := range plan.Answers {
		if a.Advertised && !a.Accepted {
			refused = append(refused, fmt.Sprint(a.Version))
		}
	}
	return refused
}
