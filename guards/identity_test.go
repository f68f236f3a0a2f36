package guards

import (
	"strings"
	"testing"

	"protocolbench/internal/record"
)

func TestIdentity(t *testing.T) {
	one := func(outcome string) []string { return []string{"broker identity|tier1|-1|" + outcome} }
	checkBreakages(t, []breakage{
		{"a restart", func(t *testing.T, run *record.Run) { block(t, run, liveProduce, 1).Close.Broker.StartTimeMs++ }, one("fail"), "start time (ms) 1000 became 1001; 1 of 4 blocks of this tier are void"},
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

// The start time of a restarted broker stays another one: blocks before are as good as ever, all from there on are void, and their counters, which began anew, are nobody's fault.
func TestRestartVoidsBlocks(t *testing.T) {
	run := goodRun()
	for _, e := range []*record.Evidence{block(t, run, liveProduce, 0).Close, block(t, run, liveProduce, 1).Open, block(t, run, liveProduce, 1).Close} {
		e.Broker.StartTimeMs++
		for v := range e.Broker.RequestsByVersion {
			e.Broker.RequestsByVersion[v] = count(1)
		}
	}
	for _, f := range Check(run) {
		switch {
		case f.Guard == Identity && f.Tier == 1:
			if f.Outcome != Fail || !strings.Contains(f.Why, "2 of 4 blocks of this tier are void, and their numbers are not used") || f.Evidence["void"] != 2 {
				t.Errorf("%s: %s %v", label(f), f.Why, f.Evidence)
			}
		case f.Outcome == Fail || f.Outcome == Blind:
			t.Errorf("%s: %s; one fault has one guard", label(f), f.Why)
		case f.Family == liveProduce && f.Guard == Pin:
			t.Errorf("a family of void blocks alone has %s", label(f))
		}
	}
	for _, family := range run.Families {
		want := map[string]int{liveProduce: 2}[family.Name]
		valid, voids := Valid(run, family)
		if voids != want || len(valid.BlockRuns) != goodBlocks-want {
			t.Errorf("%s: %d void, %d valid", family.Name, voids, len(valid.BlockRuns))
		}
	}
}

// A broker of another kind is measured only where the user wants it, and then a pass is not to be had.
func TestAnyBroker(t *testing.T) {
	for _, test := range []struct {
		tier     int
		release  string
		override bool
		want     Outcome
		why      string
	}{
		{1, "3.9.1", true, Blind, "overridden with --any-broker: tier 1 is for Kafka 4.0 and later, and this broker is 3.9.1"},
		{1, "3.9.1", false, Fail, "point tier 1 at a 4.x broker"},
		{1, "4.1.0", true, Pass, "the same broker"},
		{2, "1.0.2", true, Blind, "overridden with --any-broker: tier 2 was to run on Kafka 1.1.0, and this broker is 1.0.2"},
		{2, "1.0.2", false, Fail, "with --legacy"},
		{2, "1.1.0", true, Pass, "the same broker"},
		{2, "4.4.0", true, Blind, "nothing old was tried"},
	} {
		run := goodRun()
		run.Header.AnyBroker, run.Brokers[1].Asked = test.override, "1.1.0"
		retell(run, test.tier, test.release)
		for _, f := range Check(run) {
			if f.Guard == Identity && f.Tier == test.tier && (f.Outcome != test.want || !strings.Contains(f.Why, test.why)) {
				t.Errorf("tier %d on %s, overridden %v: %s (%s)", test.tier, test.release, test.override, f.Outcome, f.Why)
			}
		}
	}
}

// Of a broker without Jolokia what it advertises tells the two ages apart; a broker that doesn't even do that is not refused for it.
func TestWrongKindOfUnknownRelease(t *testing.T) {
	for _, test := range []struct {
		broker record.Broker
		wrong  string
	}{
		{record.Broker{Tier: 1, Provider: attachedBroker, FetchConverts: true}, "older"},
		{record.Broker{Tier: 1, Provider: attachedBroker}, ""},
		{record.Broker{Tier: 2, Provider: attachedBroker}, "4.0 or later"},
		{record.Broker{Tier: 2, Provider: attachedBroker, FetchConverts: true, Asked: "1.1.0"}, ""},
		{record.Broker{Tier: 1, Provider: embeddedBroker, FetchConverts: true}, ""},
		{record.Broker{Tier: 2, Provider: embeddedBroker}, ""},
	} {
		if got := WrongKind(test.broker); (got == "") != (test.wrong == "") || !strings.Contains(got, test.wrong) {
			t.Errorf("%+v: %q, want %q in it", test.broker, got, test.wrong)
		}
	}
}

// In a cluster of several each block's topic has a leader of its own, and is measured on that one from end to end.
func TestIdentityOfSeveralBrokers(t *testing.T) {
	several := func() *record.Run {
		run := goodRun()
		run.Brokers[0].Provider = attachedBroker
		run.Brokers[0].Nodes = []record.Node{{ID: 1, Release: "4.4.0", Commit: "c4", StartTimeMs: 1000}, {ID: 2, Release: "4.4.0", Commit: "c4", StartTimeMs: 1500}}
		for _, e := range tierEvidence(run, 1) {
			leader := 1 + e.Fork
			e.Broker.Leader, e.Broker.StartTimeMs = &leader, int64(500+500*leader)
		}
		return run
	}
	one, two, three := 1, 2, 3
	for name, test := range map[string]struct {
		breaks func(open, closing *record.BrokerEvidence)
		want   Outcome
		why    string
	}{
		"each its own":           {func(_, _ *record.BrokerEvidence) {}, Pass, ""},
		"a restart of the other": {func(_, closing *record.BrokerEvidence) { closing.StartTimeMs++ }, Fail, "start time (ms) 1500 became 1501"},
		"the lead moved": {func(_, closing *record.BrokerEvidence) { closing.Leader, closing.StartTimeMs = &one, 1000 }, Fail,
			"the lead of topic topic moved from broker 2 to broker 1"},
		"a broker with another's start": {func(open, closing *record.BrokerEvidence) { open.Leader, closing.Leader = &one, &one }, Fail, "1000 became 1500"},
		"a broker that joined later":    {func(_, closing *record.BrokerEvidence) { closing.Leader = &three }, Fail, "start time (ms) 1000 became 1500"},
		"named at one end alone":        {func(open, _ *record.BrokerEvidence) { open.Leader = &two }, Pass, ""},
	} {
		run := several()
		b := block(t, run, liveFetch, 1)
		test.breaks(b.Open.Broker, b.Close.Broker)
		for _, f := range Check(run) {
			if f.Guard == Identity && f.Tier == 1 && (f.Outcome != test.want || !strings.Contains(f.Why, test.why)) {
				t.Errorf("%s: %s (%s)", name, f.Outcome, f.Why)
			}
		}
	}
}
