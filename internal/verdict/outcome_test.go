package verdict

import (
	"strings"
	"testing"

	"protocolbench/guards"
	"protocolbench/internal/record"
)

func finding(guard string, outcome guards.Outcome) guards.Finding {
	return guards.Finding{Guard: guard, Tier: 1, Family: "tier1/fetch/size=0/bare", Version: 9, Outcome: outcome, Why: "because\nof it"}
}

// Each row adds one thing to a clean run; the order of causes is tested by rows that add two.
func TestOutcome(t *testing.T) {
	const name = "tier1/fetch/size=0/bare"
	fault := func(what string) record.Fault {
		return record.Fault{What: what, Tier: 1, Where: record.Where{Family: name}, Text: "it died"}
	}
	interrupt := func(r *record.Run) { r.Faults, r.Trailer.Complete = []record.Fault{fault(record.FaultUser)}, false }
	embed := func(r *record.Run) { r.Brokers[0].Provider = "embedded" }
	detach := func(r *record.Run) { r.Brokers[0].Provider, r.Brokers[0].JolokiaURL = "attached", "" }
	for _, c := range []struct {
		name   string
		slow   float64
		change func(*record.Run)
		guards []guards.Finding
		word   string
		code   int
		reason string
	}{
		{name: "clean", word: Pass, code: 0, reason: "no version is materially slower"},
		{name: "slower", slow: 1.3, word: Fail, code: 3, reason: "v9 is slower by"},
		{name: "failed guard", guards: []guards.Finding{finding(guards.Pin, guards.Fail)}, word: Fail, code: 3, reason: "the pin guard failed in tier1/fetch/size=0/bare v9: because of it"},
		{name: "blind guard", guards: []guards.Finding{finding(guards.Pin, guards.Blind)}, word: Inconclusive, code: 4, reason: "the pin guard is blind"},
		{name: "not applicable, where it could have been asked", guards: []guards.Finding{finding(guards.Pin, guards.NotApplicable)}, word: Inconclusive, code: 4,
			reason: "the pin guard says nothing about tier1/fetch/size=0/bare, where it could have been asked"},
		{name: "not applicable", guards: []guards.Finding{finding(guards.Conversions, guards.NotApplicable)}, word: Pass, code: 0},
		{name: "slower and blind", slow: 1.3, guards: []guards.Finding{finding(guards.Pin, guards.Blind)}, word: Fail, code: 3, reason: "v9 is slower"},
		{name: "slower and failed", slow: 1.3, guards: []guards.Finding{finding(guards.Pin, guards.Fail)}, word: Fail, code: 3, reason: "and 1 more"},
		{name: "failed and blind", guards: []guards.Finding{finding(guards.Log, guards.Blind), finding(guards.Pin, guards.Fail)}, word: Fail, code: 3, reason: "pin guard failed"},
		{name: "broker died", change: func(r *record.Run) { r.Faults = []record.Fault{fault(record.FaultBroker)} }, word: Inconclusive, code: 1, reason: "broker fault in"},
		{name: "harness", change: func(r *record.Run) { r.Faults = []record.Fault{fault(record.FaultTool)} }, word: Inconclusive, code: 1, reason: "it died"},
		{name: "broker died, and completeness with it", change: func(r *record.Run) { r.Faults = []record.Fault{fault(record.FaultBroker)} },
			guards: []guards.Finding{finding(guards.Completeness, guards.Fail)}, word: Inconclusive, code: 1},
		{name: "broker died in one family, a pin failed in another", change: func(r *record.Run) {
			r.Faults = []record.Fault{{What: record.FaultBroker, Tier: 1, Where: record.Where{Family: "other"}}}
		}, guards: []guards.Finding{finding(guards.Pin, guards.Fail)}, word: Fail, code: 3},
		{name: "worker died", change: func(r *record.Run) {
			f := fault(record.FaultWorker)
			r.Faults, r.Families[0].BlockRuns[0].Faults = []record.Fault{f}, []record.Fault{f}
		}, word: Inconclusive, code: 4, reason: "a worker failed in"},
		{name: "interrupted", change: func(r *record.Run) {
			r.Faults, r.Trailer.Complete = []record.Fault{fault(record.FaultUser)}, false
		}, guards: []guards.Finding{finding(guards.Completeness, guards.Fail)}, word: Inconclusive, code: 4, reason: "interrupted"},
		{name: "broker of another tier died, and completeness failed", change: func(r *record.Run) {
			r.Faults = []record.Fault{{What: record.FaultBroker, Tier: 2, Text: "it died"}}
		}, guards: []guards.Finding{finding(guards.Completeness, guards.Fail)}, word: Fail, code: 3, reason: "completeness guard failed"},
		{name: "broker of this tier died in another family", change: func(r *record.Run) {
			r.Faults = []record.Fault{{What: record.FaultBroker, Tier: 1, Where: record.Where{Family: "other"}}}
		}, guards: []guards.Finding{finding(guards.Completeness, guards.Fail)}, word: Inconclusive, code: 1},
		{name: "harness fault of the whole run", change: func(r *record.Run) {
			r.Faults = []record.Fault{{What: record.FaultTool, Tier: -1}}
		}, guards: []guards.Finding{finding(guards.Completeness, guards.Fail)}, word: Inconclusive, code: 1},
		{name: "a worker died, and the broker in the same family", change: func(r *record.Run) {
			r.Faults = []record.Fault{fault(record.FaultWorker), fault(record.FaultBroker)}
		}, guards: []guards.Finding{finding(guards.Completeness, guards.Fail)}, word: Fail, code: 3, reason: "completeness guard failed"},
		{name: "interrupted, and slower so far", slow: 1.3, change: interrupt, word: Inconclusive, code: 4,
			reason: "the run was interrupted: run it again, or with --only for a part of it; found so far: tier1/fetch/size=0/bare v9 is slower by"},
		{name: "interrupted, and a guard failed", change: interrupt, guards: []guards.Finding{finding(guards.Pin, guards.Fail)}, word: Inconclusive, code: 4,
			reason: "; found so far: the pin guard failed in tier1/fetch/size=0/bare v9: because of it"},
		{name: "interrupted after a worker died", change: func(r *record.Run) {
			interrupt(r)
			r.Faults = append(r.Faults, fault(record.FaultWorker))
		}, guards: []guards.Finding{finding(guards.Completeness, guards.Fail)}, word: Inconclusive, code: 4, reason: "found so far: the completeness guard failed"},
		{name: "interrupted after the broker died", change: func(r *record.Run) {
			interrupt(r)
			r.Faults = append(r.Faults, fault(record.FaultBroker))
		}, word: Inconclusive, code: 4, reason: "interrupted"},
		{name: "embedded and slower", slow: 1.3, change: embed, word: Inconclusive, code: 4,
			reason: "and run again; found so far: tier1/fetch/size=0/bare v9 came out slower (embedded broker: no figure)"},
		{name: "embedded and a failed guard", change: embed, guards: []guards.Finding{finding(guards.Pin, guards.Fail)}, word: Inconclusive, code: 4, reason: "found so far: the pin guard failed"},
		{name: "embedded and a worker that died", change: func(r *record.Run) {
			embed(r)
			r.Faults = []record.Fault{fault(record.FaultWorker)}
		}, guards: []guards.Finding{finding(guards.Completeness, guards.Fail)}, word: Fail, code: 3, reason: "completeness guard failed"},
		{name: "embedded, and slower in tier 0", slow: 1.3, change: func(r *record.Run) {
			embed(r)
			r.Families[0].Tier = 0
		}, word: Fail, code: 3, reason: "v9 is slower by"},
		{name: "embedded, and a guard of tier 0 failed", change: embed, guards: []guards.Finding{{Guard: guards.Data, Tier: 0, Version: -1, Outcome: guards.Fail}}, word: Fail, code: 3, reason: "data guard failed"},
		{name: "attached without Jolokia, and slower", slow: 1.3, change: detach, word: Inconclusive, code: 4, reason: "--jolokia URL; found so far: tier1/fetch/size=0/bare v9 is slower by"},
		{name: "attached without Jolokia, and a failed guard", change: detach, guards: []guards.Finding{finding(guards.Log, guards.Fail)}, word: Inconclusive, code: 4, reason: "found so far: the log guard failed"},
		{name: "attached without Jolokia, and slower in tier 0", slow: 1.3, change: func(r *record.Run) {
			detach(r)
			r.Families[0].Tier = 0
		}, word: Fail, code: 3, reason: "v9 is slower by"},
		{name: "no trailer", change: func(r *record.Run) { r.Trailer = nil }, word: Inconclusive, code: 4, reason: "not complete"},
		{name: "embedded", change: func(r *record.Run) { r.Brokers[0].Provider = "embedded" }, word: Inconclusive, code: 4, reason: "install Java"},
		{name: "attached with Jolokia", change: func(r *record.Run) { r.Brokers[0].Provider = "attached" }, word: Pass, code: 0},
		{name: "attached without", change: func(r *record.Run) { r.Brokers[0].Provider, r.Brokers[0].JolokiaURL = "attached", "" }, word: Inconclusive, code: 4, reason: "--jolokia"},
		{name: "slower in a family that does not decide", slow: 1.3, change: func(r *record.Run) {
			r.Families[0].Deciding = false
			r.Families = append(r.Families, quickWorld(33).run().Families[0])
		}, word: Pass, code: 0},
		{name: "nothing that decides", change: func(r *record.Run) { r.Families[0].Deciding = false }, word: Inconclusive, code: 4, reason: "nothing that decides"},
		{name: "nothing at all", change: func(r *record.Run) { r.Families = nil }, word: Inconclusive, code: 4, reason: "nothing that decides"},
		{name: "unresolved", change: func(r *record.Run) { r.Families[0].BlockRuns = r.Families[0].BlockRuns[:1] }, word: Inconclusive, code: 4, reason: "is unresolved: only one fork"},
	} {
		w := quickWorld(21)
		if c.slow > 0 {
			w.cost = slow(9, c.slow)
		}
		run := w.run()
		if c.change != nil {
			c.change(run)
		}
		v := Judge(run, append(goodGuards(run), c.guards...), Options{})
		if v.Verdict != c.word || v.ExitCode != c.code || !strings.Contains(v.Reason, c.reason) || v.Reason == "" || strings.Contains(v.Reason, "\n") {
			t.Errorf("%s: %s (%d): %q; want %s (%d) with %q on one line", c.name, v.Verdict, v.ExitCode, v.Reason, c.word, c.code, c.reason)
		}
	}
}
