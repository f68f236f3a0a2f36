package guards

import (
	"testing"

	"protocolbench/internal/record"
)

func TestConversions(t *testing.T) {
	produce := func(outcome string) []string { return []string{"conversions|" + liveProduce + "|-1|" + outcome} }
	old := func(outcome string) []string { return []string{"conversions|" + sanityFetch + "|-1|" + outcome} }
	checkBreakages(t, []breakage{
		{"all topics moved", func(t *testing.T, run *record.Run) {
			block(t, run, liveProduce, 1).Close.Broker.ProduceConversions = count(110)
		}, produce("fail"), "converted 10 records"},
		{"the topic moved", func(t *testing.T, run *record.Run) {
			b := block(t, run, liveProduce, 1)
			b.Close.Broker.ProduceConversions, b.Close.Broker.TopicProduceConversions = count(110), count(10)
		}, produce("fail"), "converted 10 records of topic topic"},
		{"others convert on an attached cluster", func(t *testing.T, run *record.Run) {
			run.Brokers[0].Provider = attachedBroker
			block(t, run, liveProduce, 1).Close.Broker.ProduceConversions = count(110)
		}, produce("blind"), "somebody else"},
		{"our topic is converted on an attached cluster", func(t *testing.T, run *record.Run) {
			run.Brokers[0].Provider = attachedBroker
			block(t, run, liveProduce, 1).Close.Broker.TopicProduceConversions = count(10)
		}, produce("fail"), "topic topic"},
		{"all topics unreadable", func(t *testing.T, run *record.Run) {
			block(t, run, liveProduce, 0).Open.Broker.ProduceConversions = unreadable()
		}, produce("blind"), "not zero"},
		{"all topics absent", func(t *testing.T, run *record.Run) {
			block(t, run, liveProduce, 0).Close.Broker.ProduceConversions = absent()
		}, produce("blind"), "absent"},
		{"the topic unreadable", func(t *testing.T, run *record.Run) {
			block(t, run, liveProduce, 0).Close.Broker.TopicProduceConversions = unreadable()
		}, produce("blind"), "401"},
		{"a counter that ran backwards", func(t *testing.T, run *record.Run) {
			block(t, run, liveProduce, 0).Close.Broker.ProduceConversions = count(0)
		}, produce("fail"), "backwards"},
		{"no control", func(_ *testing.T, run *record.Run) { run.Controls[0].Tier = 9 }, produce("blind"), "did not run"},
		{"a control that could not run", func(_ *testing.T, run *record.Run) {
			run.Controls[0] = record.Control{Tier: 1, Control: record.ControlRecompression, Why: "not allowed"}
		}, produce("blind"), "not allowed"},
		{"a control that moved too little", func(_ *testing.T, run *record.Run) { run.Controls[0].Observed = count(99) }, produce("blind"), "by 100 and moved it by 99"},
		{"a control that expected nothing", func(_ *testing.T, run *record.Run) {
			run.Controls[0].Expected, run.Controls[0].Observed = 0, count(0)
		}, produce("blind"), "by 0"},
		{"a control that could not be read", func(_ *testing.T, run *record.Run) { run.Controls[0].Observed = unreadable() }, produce("blind"), "nothing readable"},
		{"a control whose topic never appeared", func(_ *testing.T, run *record.Run) { run.Controls[0].TopicObserved = absent() }, produce("blind"), "absent one doesn't mean zero"},
		{"an old broker converts on fetch", func(t *testing.T, run *record.Run) {
			block(t, run, sanityFetch, 0).Close.Broker.FetchConversions = count(700)
		}, old("fail"), "converted 100 records"},
		{"an old broker's fetch control missed", func(_ *testing.T, run *record.Run) { run.Controls[4].Observed = count(0) }, old("blind"), "old fetch"},
		{"a fetch conversion where there can be none", func(t *testing.T, run *record.Run) {
			block(t, run, liveFetch, 0).Close.Broker.FetchConversions = count(1)
		}, []string{"conversions|" + liveFetch + "|-1|fail"}, "converted 1 records"},
	})
}

// A conversion that a release cannot make is never a proof, whatever its counters say.
func TestFetchConversionsOnModernBrokersAreNotApplicable(t *testing.T) {
	for _, f := range Check(goodRun()) {
		if f.Guard == Conversions && f.Family == liveFetch && f.Outcome != NotApplicable {
			t.Errorf("%s: %s", label(f), f.Why)
		}
	}
	run := goodRun()
	run.Brokers[0].Release = ""
	for _, f := range Check(run) {
		if f.Guard == Conversions && f.Family == liveFetch && f.Outcome != Blind {
			t.Errorf("nothing is impossible on a broker of unknown release: %s", label(f))
		}
	}
}
