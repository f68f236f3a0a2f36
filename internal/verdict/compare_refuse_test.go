package verdict

import (
	"encoding/json"
	"strings"
	"testing"

	"protocolbench/guards"
	"protocolbench/internal/record"
	"protocolbench/seed"
)

// Everything that makes a verdict impossible, each once: no word is given, the reason says why, and what can be shown is.
func TestRefusals(t *testing.T) {
	worse := func(w *world) { w.cost = slow(12, 1.5) } // a slow version, which nobody may call so
	for name, c := range map[string]struct {
		change func(b *record.Run)
		why    string
	}{
		"CPU model":      {func(b *record.Run) { b.Header.Machine.CPUModel = "Another" }, "the CPU model differs: Example CPU in A, Another in B"},
		"CPUs":           {func(b *record.Run) { b.Header.Machine.CPUs = 4 }, "the number of CPUs differs"},
		"architecture":   {func(b *record.Run) { b.Header.Machine.Arch = "arm64" }, "the architecture differs"},
		"system":         {func(b *record.Run) { b.Header.Machine.OS = "darwin" }, "the operating system differs"},
		"library":        {func(b *record.Run) { b.Header.Client.Client = "sarama" }, "the client library differs"},
		"release":        {func(b *record.Run) { b.Brokers[0].Release = "4.1.0" }, "the broker differs: Kafka 4.4.0 (jvm) in A, 4.1.0 (jvm) in B"},
		"provider":       {func(b *record.Run) { b.Brokers[0].Provider = "attached" }, "the broker differs"},
		"no Jolokia":     {func(b *record.Run) { b.Brokers[0].Provider, b.Brokers[0].JolokiaURL = "attached", "" }, "in B the attached broker has no Jolokia"},
		"embedded":       {func(b *record.Run) { b.Brokers[0].Provider = "embedded" }, "in B the broker was the embedded one"},
		"unknown broker": {func(b *record.Run) { b.Brokers[0].Release = "" }, "the broker's release is unknown in B"},
		"no broker":      {func(b *record.Run) { b.Brokers = nil }, "B does not name its broker"},
		"shape":          {func(b *record.Run) { b.Families[0].Shape.ValueBytes = 7 }, "what is carried (its shape) differs"},
		"mode":           {func(b *record.Run) { b.Families[0].Mode = "gc" }, "the mode differs"},
		"API":            {func(b *record.Run) { b.Families[0].API = "Produce" }, "the API differs"},
		"missing block":  {func(b *record.Run) { b.Families[0].BlockRuns = b.Families[0].BlockRuns[:3] }, "B has not all of it: 3 of 4 blocks were begun"},
		"torn block": {func(b *record.Run) {
			block := &b.Families[0].BlockRuns[3]
			block.Batches = block.Batches[:len(block.Batches)-1]
		}, "B has not all of it: 161 of 162 batches of draw 0, fork 3"},
		"one version": {func(b *record.Run) {
			for i := range b.Families[0].Cells {
				if b.Families[0].Cells[i].Version < 18 {
					b.Families[0].Cells[i].Version += 20
				}
			}
		}, "1 version is in both"},
		"other family": {func(b *record.Run) { b.Families[0].Name = "tier1/else" }, "no family of tiers 0 and 1 in common"},
	} {
		a, b := records(nil, worse)
		c.change(b)
		got := compareGood(a, b)
		if got.Verdict != Inconclusive || got.ExitCode != ExitInconclusive || !strings.Contains(got.Reason, c.why) {
			t.Errorf("%s: %s (%d): %s", name, got.Verdict, got.ExitCode, got.Reason)
		}
		if cells := cellsThatAre(got, Slower) + cellsThatAre(got, NotSlower); cells != "" {
			t.Errorf("%s: v%s have words all the same", name, cells)
		}
		if len(got.Identity) < 20 {
			t.Errorf("%s: only %d traits are shown", name, len(got.Identity))
		}
	}
}

func TestOneRunTwiceIsRefused(t *testing.T) {
	a, _ := records(nil, nil)
	if c := compareGood(a, a); c.Verdict != Inconclusive || !strings.Contains(c.Reason, "A and B are one run") {
		t.Errorf("%s: %s", c.Verdict, c.Reason)
	}
}

// What is no reason to refuse is said, and the words stand.
func TestWarnedOf(t *testing.T) {
	for name, c := range map[string]struct {
		change func(b *record.Run)
		text   string
	}{
		"Go":       {func(b *record.Run) { b.Header.ClientBuild.GoVersion = "go1.27.0" }, "may be the compiler's doing"},
		"flags":    {func(b *record.Run) { b.Header.ClientBuild.Flags = "-race" }, "other flags"},
		"budget":   {func(b *record.Run) { b.Header.Budget.Draws = 3 }, "the budgets differ"},
		"pinning":  {func(b *record.Run) { b.Header.Machine.WorkerCPUs = nil }, "bound to a CPU in one of the runs only"},
		"batches":  {func(b *record.Run) { b.Families[0].RequestsPerBatch *= 3 }, "a batch had 46 requests in A and 138 in B"},
		"one draw": {func(*record.Run) {}, "one draw"},
		"torn":     {func(b *record.Run) { b.Warnings = []string{"line 9 is torn"} }, "in B line 9 is torn"},
	} {
		a, b := records(nil, nil)
		c.change(b)
		got := compareGood(a, b)
		found := false
		for _, w := range append(got.Warnings, got.Families[0].Warnings...) {
			found = found || strings.Contains(w.Text, c.text) && w.Remedy != ""
		}
		if !found || got.Verdict != Pass {
			t.Errorf("%s: warned %v, %s: %s", name, found, got.Verdict, got.Reason)
		}
	}
}

// Guards: a failed one that concerns the family forbids a verdict, a blind one a pass; others, and the baseline's own, do neither.
func TestGuardsOfAComparison(t *testing.T) {
	const family = "tier1/fetch/size=0/bare"
	for _, c := range []struct {
		finding guards.Finding
		slow    bool
		want    string
		why     string
	}{
		{about("pin", family, 1, guards.Fail), true, Inconclusive, "in B the pin guard failed"},
		{about("broker identity", "", 1, guards.Fail), true, Inconclusive, "in B the broker identity guard failed"},
		{about("plan", "", guards.WholeRun, guards.Fail), false, Inconclusive, "in B the plan guard failed"},
		{about("pin", family, 1, guards.Blind), false, Inconclusive, "in B the pin guard is blind"},
		{about("pin", family, 1, guards.Blind), true, Fail, "slower"},
		{about("pin", "tier1/else", 1, guards.Fail), false, Pass, ""},
		{about("broker identity", "", 2, guards.Fail), false, Pass, ""},
		{about("completeness", "", guards.WholeRun, guards.Blind), false, Pass, ""},
		{guards.Finding{Guard: "clocks", Family: family, Tier: 1, Build: record.BuildBaseline, Outcome: guards.Fail}, false, Pass, ""},
	} {
		cost := func(int) float64 { return 1 }
		if c.slow {
			cost = slow(12, 1.5)
		}
		a, b := records(nil, func(w *world) { w.cost = cost })
		got := Compare(a, b, goodGuards(a), []guards.Finding{c.finding}, Options{})
		if got.Verdict != c.want || !strings.Contains(got.Reason, c.why) {
			t.Errorf("%+v: %s: %s", c.finding, got.Verdict, got.Reason)
		}
		if named := len(got.B.Troubles) > 0; named == (c.finding.Build == record.BuildBaseline) {
			t.Errorf("%+v: troubles %q", c.finding, got.B.Troubles)
		}
	}
}

// An interrupted run is named, and a family that it has in full is compared.
func TestInterruptedRunIsNamed(t *testing.T) {
	a, b := records(nil, nil)
	b.Trailer.Complete, b.Trailer.Reason = false, "interrupted"
	b.Faults = []record.Fault{{What: record.FaultUser, Text: "interrupted"}}
	c := compareGood(a, b)
	if c.B.Complete || len(c.B.Troubles) != 1 || !strings.Contains(c.B.Troubles[0], "interrupted") || c.Verdict != Pass {
		t.Errorf("%+v, %s: %s", c.B, c.Verdict, c.Reason)
	}
}

// Whatever two records have in them, the comparison goes through JSON, has a reason, and no list is null.
func TestComparisonIsAlwaysJSON(t *testing.T) {
	r := seed.Stream(2, "odd pairs")
	for i := range 150 {
		var runs [2]*record.Run
		for j := range runs {
			w := quickWorld(uint64(2*i + j))
			w.versions = span(4, 4+int(r.Uint64()%4))
			runs[j] = w.recorded()
			mangle(r.Uint64(), runs[j])
		}
		checkComparison(t, Compare(runs[0], runs[1], nil, nil, Options{Margin: float64(i % 2)}))
	}
	checkComparison(t, Compare(&record.Run{}, &record.Run{}, nil, nil, Options{}))
}

func checkComparison(t *testing.T, c Comparison) {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "null") || c.Reason == "" || c.Verdict == "" {
		t.Fatalf("%s", text)
	}
}

func about(guard, family string, tier int, outcome guards.Outcome) guards.Finding {
	return guards.Finding{Guard: guard, Family: family, Tier: tier, Version: guards.AllVersions, Outcome: outcome, Why: "so it is"}
}
