package selftest

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"protocolbench/guards"
)

func objection(guard string) Objection {
	return Objection{Guard: guard, Outcome: guards.Fail, Why: "seen", Family: "tier1/fetch", Version: 4, Evidence: map[string]any{"blocks": 4}}
}

func TestCaught(t *testing.T) {
	fault := Fault{Name: "a fault", Planted: "something", Guard: guards.Data, Also: []string{guards.Log}, Why: "it sees the same"}
	for _, c := range []struct {
		name   string
		fault  Fault
		who    []Objection
		caught bool
		line   string
	}{
		{"by its own guard", fault, []Objection{objection(guards.Data)}, true, "caught         a fault -> data (2.0 s)"},
		{"and by one that may", fault, []Objection{objection(guards.Data), objection(guards.Log)}, true, "beside it log, which see the same: it sees the same"},
		{"by nobody", fault, nil, false, "MISSED"},
		{"by one that may alone", fault, []Objection{objection(guards.Log)}, false, "MISSED"},
		{"by a stranger as well", fault, []Objection{objection(guards.Data), objection(guards.Pin)}, false, "NOT ITS BUSINESS: pin: fail, tier1/fetch v4: seen"},
		{"nothing, and nobody objects", Fault{Name: "nothing"}, nil, true, "silent"},
		{"nothing, and one objects", Fault{Name: "nothing"}, []Objection{objection(guards.Pin)}, false, "NOT SILENT"},
	} {
		r := Result{Fault: c.fault, Took: 2 * time.Second}
		r.sort(c.who)
		var out bytes.Buffer
		if err := Line(&out, r); err != nil {
			t.Fatal(err)
		}
		if r.Caught() != c.caught || !strings.Contains(out.String(), c.line) {
			t.Errorf("%s: caught %v, want %v and %q in\n%s", c.name, r.Caught(), c.caught, c.line, &out)
		}
	}
}

func TestSummaryCounts(t *testing.T) {
	caught, missed := Result{Fault: Fault{Guard: guards.Data}, By: []Objection{objection(guards.Data)}}, Result{Fault: Fault{Guard: guards.Log}}
	text, m, u := Summary([]Result{caught, missed, {Fault: Fault{Guard: guards.Pin}, Untried: "no broker"}, {Fault: Fault{}}})
	if m != 1 || u != 1 || !strings.HasPrefix(text, "1 of 2 faults") || !strings.Contains(text, "in 1 of 1 runs without a fault") || !strings.Contains(text, "1 were not tried") {
		t.Errorf("%d missed, %d not tried: %s", m, u, text)
	}
}

// Every guard that a fault can be planted for has its row, and who else may object says why.
func TestTable(t *testing.T) {
	owned := map[string]bool{}
	seen := map[string]bool{}
	for _, f := range Faults() {
		owned[f.Guard] = true
		if seen[f.Name] || f.Name == "" || f.Planted == "" || f.Guard == "" || len(f.Only) == 0 || f.Tier == 0 {
			t.Errorf("%+v", f)
		}
		if seen[f.Name] = true; len(f.Also) > 0 && f.Why == "" {
			t.Errorf("%s: nobody says why others may object", f.Name)
		}
	}
	for _, guard := range []string{guards.Pin, guards.Conversions, guards.Log, guards.Data, guards.Identity, guards.Completeness, guards.Clocks, guards.Memory, guards.Negotiation,
		guards.KnownTruth, guards.Counters, guards.OtherAPIs, Canary, Twins, Refusal, guards.Host} {
		if !owned[guard] {
			t.Errorf("no fault is planted for %s", guard)
		}
	}
}

func TestChoose(t *testing.T) {
	all, err := Choose(nil)
	if err != nil || len(all) != len(Clean())+len(Faults()) {
		t.Errorf("%d of all, %v", len(all), err)
	}
	some, err := Choose([]string{"clocks", "nothing, tier 1", "halves"})
	if err != nil || len(some) != 2 {
		t.Errorf("%d, %v", len(some), err)
	}
	if _, err := Choose([]string{"nonsense"}); err == nil || !strings.Contains(err.Error(), "deleted records") {
		t.Error(err)
	}
}

func TestAgentTellsALaterStart(t *testing.T) {
	body := `[{"request":{"mbean":"java.lang:type=Runtime","attribute":"StartTime","type":"read"},"value":1796123807838,"status":200},{"request":{"attribute":"version"},"value":"4.4.0"}]`
	got := string(secondLater([]byte(body)))
	if !strings.Contains(got, "1796123808838") || !strings.Contains(got, `"4.4.0"`) || strings.Contains(got, "1796123807838") {
		t.Error(got)
	}
	for _, other := range []string{`{"error":"no"}`, `not JSON`, `[]`} {
		if got := string(secondLater([]byte(other))); got != other {
			t.Errorf("%s became %s", other, got)
		}
	}
}
