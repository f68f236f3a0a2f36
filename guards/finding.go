// Package guards turns a record's raw evidence into findings. It is pure: it knows no broker and no client, so a run can be
// judged again anywhere.
package guards

// Outcome is a guard's answer.
type Outcome string

const (
	Pass          Outcome = "pass"
	Fail          Outcome = "fail"
	Blind         Outcome = "blind" // it could not have failed: never a pass
	NotApplicable Outcome = "not applicable"
)

// Names of guards.
const (
	Pin          = "pin"
	Conversions  = "conversions"
	Log          = "log"
	Data         = "data"
	Identity     = "broker identity"
	PlanGuard    = "plan"
	Completeness = "completeness"
	Clocks       = "clocks"
	Memory       = "memory"      // live heap flat; in tiers 0 and 1 version by version
	Negotiation  = "negotiation" // tier 2: negotiated as expected
	KnownTruth   = "known truth"
	Counters     = "counters"
	OtherAPIs    = "other APIs"
	Host         = "host"
	// Compatibility: the client speaks every version that it and the broker both name.
	Compatibility = "compatibility"
)

// Finding is one guard's answer about one family (or a tier, or the run, where Family is empty), with its evidence.
type Finding struct {
	Guard   string `json:"guard"`
	Tier    int    `json:"tier"`
	Family  string `json:"family,omitempty"`
	Version int    `json:"version"` // -1: all versions of the family
	// Build is "baseline" where the finding is about the baseline's worker alone, in a run of two builds.
	Build   string  `json:"build,omitempty"`
	Outcome Outcome `json:"outcome"`
	Why     string  `json:"why"`
	// Evidence is what the answer rests on: small, raw, JSON.
	Evidence map[string]any `json:"evidence,omitempty"`
}
