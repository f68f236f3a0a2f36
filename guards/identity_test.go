package guards

import (
	"strings"
	"testing"

	"protocolbench/internal/record"
)

func TestIdentity(t *testing.T) {
	one := func(outcome string) []string { return []string{"broker identity|tier1|-1|" + outcome} }
	checkBreakages(t, []breakage{
		{"a restart", func(t *testing.T, run *record.Run) { block(t, run, liveProduce, 1).Close.Broker.StartTimeMs++ }, one("fail"), "start time (ms) 1000 became 1001"},
		{"another cluster", func(t *testing.T, run *record.Run) { block(t, run, liveFetch, 0).Open.Broker.ClusterID = "old" }, one("fail"), "cluster id modern became old"},
		{"another release", func(t *testing.T, run *record.Run) { block(t, run, liveFetch, 0).Open.Broker.Release = "4.3.0" }, one("fail"), "release 4.4.0 became 4.3.0"},
		{"another build", func(t *testing.T, run *record.Run) { block(t, run, liveFetch, 0).Close.Broker.Commit = "c5" }, one("fail"), "commit"},
		{"not told once", func(t *testing.T, run *record.Run) {
			b := block(t, run, liveFetch, 0).Close.Broker
			b.Release, b.Commit, b.ClusterID, b.StartTimeMs, b.IdentityWhy = "", "", "", 0, "timed out"
		}, one("blind"), "timed out"},
		{"the start unknown", func(_ *testing.T, run *record.Run) { run.Brokers[0].StartTimeMs = 0 }, one("blind"), "did not say who it is"},
		{"an embedded broker", func(_ *testing.T, run *record.Run) { run.Brokers[0].Provider = embeddedBroker }, one("blind"), "no Kafka broker"},
	})
}

// retell makes every reading of a tier name another release, as a tier that was pointed at the other broker would.
func retell(run *record.Run, tier int, release string) {
	run.Brokers[tier-1].Release = release
	for _, e := range tierEvidence(run, tier) {
		e.Broker.Release = release
	}
}

func TestIdentityKnowsTheKindOfEachTier(t *testing.T) {
	for _, test := range []struct {
		tier    int
		release string
		want    Outcome
	}{
		{1, "4.4.0", Pass}, {1, "4.0.1", Pass}, {1, "5.0.0", Pass}, {1, "3.9.1", Fail}, {1, "1.1.0", Fail}, {1, "trunk", Fail},
		{2, "1.1.0", Pass}, {2, "0.11.0.3", Pass}, {2, "2.0.0", Fail}, {2, "4.4.0", Fail}, {2, "trunk", Fail},
		{1, "", Blind}, {2, "", Blind},
	} {
		run := goodRun()
		retell(run, test.tier, test.release)
		for _, f := range Check(run) {
			if f.Guard == Identity && f.Tier == test.tier && f.Outcome != test.want {
				t.Errorf("tier %d on %s: %s (%s), want %s", test.tier, test.release, f.Outcome, f.Why, test.want)
			}
		}
	}
}

func TestIdentityIsBlindWithoutABroker(t *testing.T) {
	run := goodRun()
	run.Brokers = run.Brokers[:1]
	for _, f := range Check(run) {
		if f.Guard == Identity && f.Tier == 2 && (f.Outcome != Blind || !strings.Contains(f.Why, "doesn't say which broker")) {
			t.Errorf("%s: %s", label(f), f.Why)
		}
	}
	run = goodRun()
	for _, e := range tierEvidence(run, 1) {
		block(t, run, e.Family, e.Fork).Open.Broker, block(t, run, e.Family, e.Fork).Close.Broker = nil, nil
	}
	for _, f := range Check(run) {
		if f.Guard == Identity && f.Tier == 1 && (f.Outcome != Blind || !strings.Contains(f.Why, "no block asked")) {
			t.Errorf("%s: %s", label(f), f.Why)
		}
	}
}
