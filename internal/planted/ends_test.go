package planted

import (
	"strings"
	"testing"

	"protocolbench/guards"
	"protocolbench/internal/verdict"
)

// An end is right when the code is both the process's and the verdict's, everything that has to be said is said by a guard that failed, and nobody else objects.
func TestEndsAreComparedWithWhatHasToBe(t *testing.T) {
	failed := guards.Finding{Guard: guards.Pin, Family: "tier1/fetch", Version: 9, Outcome: guards.Fail, Why: "asked for Fetch v9, v18 was sent"}
	blind := failed
	blind.Outcome = guards.Blind
	strange := guards.Finding{Guard: guards.Log, Version: 9, Outcome: guards.Fail}
	for name, c := range map[string]struct {
		end      End
		exit     int
		v        verdict.Verdict
		missed   string
		stranger string
	}{
		"found":               {found(guards.Pin, 9, "v18 was sent"), 3, verdict.Verdict{ExitCode: 3, Guards: []guards.Finding{failed}}, "", ""},
		"another version":     {found(guards.Pin, 8, "v18 was sent"), 3, verdict.Verdict{ExitCode: 3, Guards: []guards.Finding{failed}}, "pin about v8", ""},
		"other words":         {found(guards.Pin, 9, "v17 was sent"), 3, verdict.Verdict{ExitCode: 3, Guards: []guards.Finding{failed}}, "v17 was sent", ""},
		"blind is no failure": {found(guards.Pin, 9, "v18 was sent"), 3, verdict.Verdict{ExitCode: 3, Guards: []guards.Finding{blind}}, "pin about v9", ""},
		"another code":        {found(guards.Pin, 9, "v18 was sent"), 4, verdict.Verdict{ExitCode: 4, Guards: []guards.Finding{failed}}, "exit code 3", ""},
		"two codes":           {found(guards.Pin, 9, "v18 was sent"), 3, verdict.Verdict{ExitCode: 0, Guards: []guards.Finding{failed}}, "verdict.json", ""},
		"a stranger":          {found(guards.Pin, 9, "v18 was sent"), 3, verdict.Verdict{ExitCode: 3, Guards: []guards.Finding{failed, strange}}, "", guards.Log},
		"who may":             {found(guards.Pin, 9, "v18 was sent", guards.Log), 3, verdict.Verdict{ExitCode: 3, Guards: []guards.Finding{failed, strange}}, "", ""},
		"the reason":          {End{Exit: 3, Said: []Saying{{"", guards.AllVersions, "slower"}}}, 3, verdict.Verdict{ExitCode: 3, Reason: "v9 is slower"}, "", ""},
		"hidden, and found":   {End{Exit: 0}, 3, verdict.Verdict{ExitCode: 3, Guards: []guards.Finding{failed}}, "exit code 0", guards.Pin},
	} {
		got := c.end.judge(c.v, c.exit)
		missed, stranger := strings.Join(got.Missed, "; "), strings.Join(got.Strange, "; ")
		if (missed == "") != (c.missed == "") || !strings.Contains(missed, c.missed) || stranger != c.stranger || got.Right() != (c.missed+c.stranger == "") {
			t.Errorf("%s: missed %q, strange %q, right %t", name, missed, stranger, got.Right())
		}
	}
}

// A fault that is known to stay hidden says why, and expects a pass: else a run in which it is found would count as right.
func TestHiddenFaultsSayWhy(t *testing.T) {
	for _, f := range LiveFaults() {
		switch hides := f.Hidden != ""; {
		case f.Ends == nil || f.Tier == 0:
			t.Errorf("%s: it needs a tier with a broker, and an end", f.Name)
		case hides != (f.Ends.Exit == 0), !hides && len(f.Ends.Said) == 0:
			t.Errorf("%s: hidden %t, and its end is %+v", f.Name, hides, *f.Ends)
		}
	}
}
