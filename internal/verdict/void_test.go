package verdict

import (
	"fmt"
	"strings"
	"testing"

	"protocolbench/guards"
	"protocolbench/internal/record"
)

// restarted is a clean run whose broker was another one from the n-th block on, and in those blocks one version cost half as much again.
func restarted(n int, startTimeMs int64) *record.Run {
	w := quickWorld(7)
	w.profile = "standard"
	run := w.run()
	run.Brokers[0].Provider, run.Brokers[0].StartTimeMs = providerAttached, 1000
	f := &run.Families[0]
	for i := range f.BlockRuns {
		b := &f.BlockRuns[i]
		b.Open.Broker, b.Close.Broker = &record.BrokerEvidence{StartTimeMs: 1000}, &record.BrokerEvidence{StartTimeMs: 1000}
		if i < n {
			continue
		}
		b.Close.Broker.StartTimeMs = startTimeMs
		if i > n {
			b.Open.Broker.StartTimeMs = startTimeMs
		}
		for k := range b.Batches {
			if f.Cells[b.Batches[k].Cell].Version == 9 {
				b.Batches[k].CPUNs = b.Batches[k].CPUNs * 3 / 2
			}
		}
	}
	return run
}

func wordsAt(f Family, version int) string {
	for _, c := range f.Cells {
		if c.Version == version {
			return c.Verdict
		}
	}
	return "none"
}

// The blocks after a restart don't count, whatever is in them; with the same start time they do.
func TestVoidBlocksAreNotUsed(t *testing.T) {
	run := restarted(8, 2000)
	blocks := len(run.Families[0].BlockRuns)
	v := Judge(run, guards.Check(run), Options{})
	f := v.Families[0]
	if f.Forks != 8 || wordsAt(f, 9) != NotSlower {
		t.Errorf("%d forks were used, v9 is %s; want 8 and not slower", f.Forks, wordsAt(f, 9))
	}
	want := fmt.Sprintf("%d of %d blocks of %s are void", blocks-8, blocks, f.Name)
	if len(f.Warnings) == 0 || !strings.Contains(f.Warnings[len(f.Warnings)-1].Text, want) {
		t.Errorf("warnings %+v, want %q", f.Warnings, want)
	}
	if !strings.Contains(fmt.Sprint(v.Guards), "start time (ms) 1000 became 2000") || v.Verdict != Fail {
		t.Errorf("verdict %s: %s", v.Verdict, v.Reason)
	}
	same := Judge(restarted(8, 1000), nil, Options{}).Families[0]
	if same.Forks != blocks || wordsAt(same, 9) == NotSlower {
		t.Errorf("without a restart %d forks were used, v9 is %s: this test could not have failed", same.Forks, wordsAt(same, 9))
	}
}

func TestNothingButVoidBlocks(t *testing.T) {
	run := restarted(0, 2000)
	f := Judge(run, nil, Options{}).Families[0]
	if f.Forks != 0 || f.Rounds != 0 {
		t.Errorf("%d forks, %d rounds", f.Forks, f.Rounds)
	}
	for _, c := range f.Cells {
		if c.Verdict == Slower || c.Verdict == NotSlower {
			t.Errorf("v%d is %s by no figure at all", c.Version, c.Verdict)
		}
	}
}

// On a broker of another kind a pass is not to be had, and a failure says what it was found on.
func TestAnyBrokerIsAtBestInconclusive(t *testing.T) {
	for _, c := range []struct {
		release string
		slow    float64
		any     bool
		word    string
		reason  string
	}{
		{"3.9.1", 1, true, Inconclusive, "--any-broker: tier 1 is for Kafka 4.0 and later, and this broker is 3.9.1"},
		{"3.9.1", 1.3, true, Fail, "; and --any-broker: tier 1 is for Kafka 4.0 and later"},
		{"4.4.0", 1, true, Pass, ""},
		{"4.4.0", 1.3, true, Fail, ""},
	} {
		w := quickWorld(11)
		w.cost = func(version int) float64 { return map[bool]float64{true: c.slow, false: 1}[version == 9] }
		run := w.run()
		run.Brokers[0].Release, run.Header.AnyBroker = c.release, c.any
		v := Judge(run, goodGuards(run), Options{})
		if v.Verdict != c.word || !strings.Contains(v.Reason, c.reason) || c.reason == "" && strings.Contains(v.Reason, "any-broker") {
			t.Errorf("Kafka %s, factor %v: %s (%s)", c.release, c.slow, v.Verdict, v.Reason)
		}
	}
}
