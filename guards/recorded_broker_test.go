package guards

import (
	"slices"
	"testing"

	"protocolbench/internal/record"
)

// Facts about brokers, clocks and the run itself.

var conversionsChanges = []change{
	{name: "the broker converted records of all topics", changes: inBlock(recordedProduce, func(b *record.BlockRun) { b.Close.Broker.ProduceConversions.Value += 100 }), want: of(Conversions, Fail, whole(recordedProduce)), why: "converted 100 records while topic"},
	{name: "the topic's counter appeared", changes: inBlock(recordedProduce, func(b *record.BlockRun) { b.Close.Broker.TopicProduceConversions = count(100) }), want: of(Conversions, Fail, whole(recordedProduce)), why: "converted 100 records of topic"},
	{name: "the old broker converted for the client", changes: inBlock(recordedSanityFetch, func(b *record.BlockRun) { b.Close.Broker.TopicFetchConversions.Value += 580 }), want: of(Conversions, Fail, whole(recordedSanityFetch)), why: "converted 580 records of topic"},
	{name: "a conversion where there can be none", changes: inBlock(recordedFetch, func(b *record.BlockRun) { b.Close.Broker.FetchConversions.Value++ }), want: of(Conversions, Fail, whole(recordedFetch)), why: "converted 1 records"},
	{name: "a counter that ran backwards", changes: inBlock(recordedProduce, func(b *record.BlockRun) { b.Close.Broker.ProduceConversions.Value-- }), want: of(Conversions, Fail, whole(recordedProduce)), why: "ran backwards"},
	{name: "an unreadable counter", changes: inBlock(recordedProduce, func(b *record.BlockRun) { b.Close.Broker.ProduceConversions = unreadable() }), want: of(Conversions, Blind, whole(recordedProduce)), why: "unreadable is not zero"},
	{name: "a recompression that did not move the counter", changes: inControl(1, record.ControlRecompression, func(c *record.Control) { c.Observed.Value = 0 }), want: of(Conversions, Blind, whole(recordedProduce)), why: "should have moved the counter by 100 and moved it by 0"},
	{name: "an old fetch that moved the counter by one less", changes: inControl(2, record.ControlOldFetch, func(c *record.Control) { c.Observed.Value-- }), want: of(Conversions, Blind, whole(recordedSanityFetch)), why: "a conversion might not be seen"},
	{name: "a control whose topic has no counter", changes: inControl(1, record.ControlRecompression, func(c *record.Control) { c.TopicObserved = absent() }), want: of(Conversions, Blind, whole(recordedProduce)), why: "an absent one doesn't mean zero"},
	{name: "a broker without an agent", changes: inBroker(1, func(b *record.Broker) { b.JolokiaURL = "" }),
		want: slices.Concat(of(Conversions, Blind, whole(recordedProduce), whole(recordedFetch)), of(Pin, Blind, at(recordedFetch, 11), at(recordedFetch, 12), at(recordedProduce, 12), at(recordedProduce, 13))),
		why:  "no Jolokia", also: "the broker can't confirm what arrived either"},
}

var logChanges = []change{
	{name: "records were deleted", changes: inBlock(recordedFetch, func(b *record.BlockRun) { b.Close.Broker.LogStartOffset += 30 }), want: of(Log, Fail, whole(recordedFetch)), why: "records were deleted under the clients"},
	{name: "records were not stored", changes: inBlock(recordedProduce, func(b *record.BlockRun) { b.Close.Broker.LogEndOffset -= 100 }), want: of(Log, Fail, whole(recordedProduce)), why: "reports work that it didn't do"},
	{name: "somebody else writes, too", changes: inBlock(recordedSanityProduce, func(b *record.BlockRun) { b.Close.Broker.LogEndOffset++ }), want: of(Log, Fail, whole(recordedSanityProduce)), why: "somebody else writes to it"},
	{name: "offsets that can't be read", changes: inBlock(recordedFetch, func(b *record.BlockRun) { b.Open.Broker.LogEndOffset, b.Open.Broker.OffsetsWhy = -1, "timed out" }), want: of(Log, Blind, whole(recordedFetch)), why: "timed out"},
	{name: "a deletion on purpose that was not seen", changes: inControl(1, record.ControlDeletedRecords, func(c *record.Control) { c.Close.LogStartOffset = c.Open.LogStartOffset }),
		want: of(Log, Blind, whole(recordedFetch), whole(recordedProduce)), why: "read as if none had been"},
}

var identityChanges = []change{
	{name: "a restart", changes: inBlock(recordedFetch, func(b *record.BlockRun) { b.Close.Broker.StartTimeMs += 5000 }), want: of(Identity, Fail, "tier1|-1"), why: "1 of 8 blocks of this tier are void"},
	{name: "another cluster", changes: inBlock(recordedSanityProduce, func(b *record.BlockRun) { b.Open.Broker.ClusterID = "another" }),
		// its only block: nothing is left that the other guards could be asked about
		want: append(of(Identity, Fail, "tier2|-1"), gone(recordedSanityProduce)...), why: "cluster id", also: "nothing is asked about a family without a valid block"},
	{name: "tier 1 on an older broker", changes: func(t *testing.T, run *record.Run) { otherRelease(t, run, 1, "3.9.0") },
		want: append(of(Identity, Fail, "tier1|-1"), of(Conversions, NotApplicable, whole(recordedFetch))...), why: "tier 1 is for Kafka 4.0 and later", also: "it names the release"},
	{name: "tier 2 on a newer broker", changes: func(t *testing.T, run *record.Run) { otherRelease(t, run, 2, "2.8.0") }, want: of(Identity, Fail, "tier2|-1"), why: "tier 2 is for brokers before Kafka 2.0"},
	{name: "not the release that was asked for", changes: inBroker(2, func(b *record.Broker) { b.Asked = "1.0.2" }), want: of(Identity, Fail, "tier2|-1"), why: "was to run on Kafka 1.0.2"},
	{name: "a broker that was not asked who it is", changes: inBlock(recordedProduce, func(b *record.BlockRun) { b.Close.Broker.Commit, b.Close.Broker.IdentityWhy = "", "401" }), want: of(Identity, Blind, "tier1|-1"), why: "401"},
	{name: "the embedded broker", changes: inBroker(1, func(b *record.Broker) { b.Provider = embeddedBroker }), want: of(Identity, Blind, "tier1|-1"), why: "no Kafka broker"},
}

// otherRelease has a tier's broker be of another release, from the begin to the end.
// The host's readings came after the recorded run: they are added.
var hostChanges = []change{
	{name: "somebody else had the worker's CPU", changes: inBlock(recordedFetch, func(b *record.BlockRun) { hostReadings(b, 100e6) }),
		want: of(Host, Blind, whole(recordedFetch)), why: "the machine was busy with something else in"},
	{name: "nobody else had it", changes: inBlock(recordedFetch, func(b *record.BlockRun) { hostReadings(b, 10e6) }),
		want: of(Host, Pass, whole(recordedFetch)), why: "nobody else had the worker's CPU"},
	{name: "tasks waited for memory", changes: inBlock(recordedFetch, func(b *record.BlockRun) {
		hostReadings(b, 10e6)
		stallNs := b.Host.WallNs / 10
		b.Host.MemoryStallNs = &stallNs
	}), want: of(Host, Blind, whole(recordedFetch)), why: "waited for memory"},
}

func hostReadings(b *record.BlockRun, othersCPUNs int64) {
	for round := range b.Orders {
		b.Rounds = append(b.Rounds, record.HostRound{Where: b.Where, Round: round, WallNs: 200e6, OthersCPUNs: othersCPUNs})
	}
}

func otherRelease(t *testing.T, run *record.Run, tier int, release string) {
	inBroker(tier, func(b *record.Broker) { b.Release, b.Asked = release, "" })(t, run)
	for _, e := range tierEvidence(run, tier) {
		e.Broker.Release = release
	}
}

// gone are all findings of a family of tier 2 that the guards don't make without a block.
func gone(family string) []string {
	var labels []string
	for _, guard := range []string{Pin, Conversions, Log, Data, KnownTruth, Negotiation, Memory} {
		labels = append(labels, "gone: "+of(guard, Pass, whole(family))[0])
	}
	return append(labels, "gone: "+of(OtherAPIs, NotApplicable, whole(family))[0], "gone: "+of(Counters, NotApplicable, whole(family))[0])
}

var planChanges = []change{
	{name: "a version is left out without a reason", changes: inPlan(1, produceAPI, func(p *record.Plan) { p.Answers[2].Why = "" }), want: of(PlanGuard, Fail, "tier1|-1"), why: "v2 is not pinned and has no reason"},
	{name: "a version was pinned that the broker did not take", changes: inPlan(1, fetchAPI, func(p *record.Plan) { p.Answers[12].Accepted = false }), want: of(PlanGuard, Fail, "tier1|-1"), why: "v12 is pinned, and the broker was not shown to take it"},
	{name: "a version has no answer", changes: inPlan(2, fetchAPI, func(p *record.Plan) { p.Answers = p.Answers[:18] }), want: of(PlanGuard, Fail, "tier2|-1"), why: "v18 is implemented and has no answer"},
	{name: "a version that is pinned was not measured", changes: inPlan(0, fetchAPI, func(p *record.Plan) {
		p.Answers[13].Pinned, p.Pinned = true, append(p.Pinned, 13)
	}), want: of(PlanGuard, Fail, "tier0|-1"), why: "measures versions [11 12] where [11 12 13] are pinned"},
	{name: "no plan", changes: withoutPlan(0, produceAPI), want: of(PlanGuard, Blind, "tier0|-1"), why: "has no plan of Produce"},
	{name: "no plan on the old broker", changes: withoutPlan(2, fetchAPI), want: append(of(PlanGuard, Blind, "tier2|-1"), of(Negotiation, Blind, whole(recordedSanityFetch))...), why: "has no plan of Fetch",
		also: "what should be negotiated stands in it"},
	{name: "a client that implements nothing", changes: inPlan(2, fetchAPI, func(p *record.Plan) { p.Implemented = [2]int{-1, -1} }),
		want: append(of(PlanGuard, Blind, "tier2|-1"), of(Negotiation, Blind, whole(recordedSanityFetch))...), why: "doesn't say which versions of Fetch the client implements",
		also: "nor can be said then what should be negotiated"},
}

func withoutPlan(tier int, api string) func(*testing.T, *record.Run) {
	return func(_ *testing.T, run *record.Run) {
		run.Plans = slices.DeleteFunc(run.Plans, func(p record.Plan) bool { return p.Tier == tier && p.API == api })
	}
}

var clocksChanges = []change{
	{name: "a batch claims more than the process used", changes: inBatch(recordedCodecFetch, 0, func(b *record.Batch) { b.OutsideCPUNs /= 2 }), want: of(Clocks, Fail, whole(recordedCodecFetch)), why: "a batch claims"},
	{name: "a batch claims to have used nothing", changes: inBatch(recordedFetch, 0, func(b *record.Batch) { b.CPUNs = 0 }), want: of(Clocks, Fail, whole(recordedFetch)), why: "used no CPU"},
	{name: "the worker's clock runs at half its speed", changes: inBlock(recordedProduce, func(b *record.BlockRun) {
		b.Close.Worker.CPUNs = (b.Open.Worker.CPUNs + b.Close.Worker.CPUNs) / 2
	}), want: of(Clocks, Fail, whole(recordedProduce)), why: "every figure would be off by as much"},
	{name: "batches report half their CPU", changes: everywhere(recordedCodecFetch, func(b *record.BlockRun) {
		for i := range b.Batches {
			b.Batches[i].CPUNs /= 2
		}
	}), want: of(Clocks, Fail, whole(recordedCodecFetch)), why: "batches report only a part of their CPU"},
	{name: "the parent could not look", changes: inBatch(recordedSanityFetch, 0, func(b *record.Batch) { b.OutsideCPUNs = -1 }), want: of(Clocks, Blind, whole(recordedSanityFetch)), why: "could not be read from outside"},
}

var completenessChanges = []change{
	{name: "a batch is lost", changes: inBlock(recordedCodecFetch, func(b *record.BlockRun) { b.Batches = slices.Delete(b.Batches, 3, 4) }),
		want: of(Completeness, Fail, whole(recordedCodecFetch)), why: "the record has lost rows"},
	{name: "a batch of a live tier is lost", changes: inBlock(recordedProduce, func(b *record.BlockRun) {
		b.Batches = slices.DeleteFunc(b.Batches, func(batch record.Batch) bool { return batch.Cell == 0 && batch.Round == 1 })
	}), want: slices.Concat(of(Completeness, Fail, whole(recordedProduce)), of(Pin, Fail, at(recordedProduce, 12)), of(Log, Fail, whole(recordedProduce))), why: "the record has lost rows",
		also: "its requests are on the wire, and its records in the log"},
	{name: "a block is lost", changes: inFamily(recordedCodecFetch, func(f *record.FamilyRun) { f.BlockRuns = f.BlockRuns[:3] }), want: of(Completeness, Fail, whole(recordedCodecFetch)), why: "1 of 4 blocks are missing"},
	{name: "two batches changed places", changes: inBlock(recordedFetch, func(b *record.BlockRun) {
		b.Batches[0].Position, b.Batches[1].Position = b.Batches[1].Position, b.Batches[0].Position
	}), want: of(Completeness, Fail, whole(recordedFetch)), why: "the schedule was not followed"},
	{name: "the trailer is lost", changes: func(_ *testing.T, run *record.Run) { run.Trailer = nil }, want: of(Completeness, Blind, "tier-1|-1"), why: "no trailer"},
	{name: "the run ended early", changes: func(_ *testing.T, run *record.Run) {
		run.Trailer.Complete, run.Trailer.Reason = false, "the disk is full"
	}, want: of(Completeness, Blind, "tier-1|-1"), why: "the disk is full"},
	{name: "a tier was asked for and is not there", record: "slower", changes: func(_ *testing.T, run *record.Run) { run.Header.Tiers = []int{0, 1} }, want: of(Completeness, Blind, "tier-1|-1"), why: "nothing was measured in tiers [1]"},
	{name: "the killed worker was the baseline's", record: "worker-killed", changes: func(_ *testing.T, run *record.Run) { run.Faults[0].Build = record.BuildBaseline },
		want: of(Completeness, Blind, whole(recordedCodecFetch)), why: "13 batches are missing"},
	{name: "nobody says that a worker was killed", record: "worker-killed", changes: func(_ *testing.T, run *record.Run) { run.Faults = nil },
		want: of(Completeness, Fail, whole(recordedCodecFetch)), why: "the record has lost rows"},
	{name: "the user's interruption was a worker's end", record: "interrupted", changes: func(_ *testing.T, run *record.Run) {
		run.Faults[0].What, run.Faults[0].Family = record.FaultWorker, recordedCodecFetch
	}, want: of(Completeness, Fail, whole(recordedCodecFetch)), why: "the client's worker failed"},
	{name: "the broker's end was the worker's", record: "harness-fault", changes: func(_ *testing.T, run *record.Run) {
		run.Faults[0].What, run.Faults[0].Family = record.FaultWorker, "tier1/fetch/size=4KiB/bare"
	}, want: of(Completeness, Fail, whole("tier1/fetch/size=4KiB/bare")), why: "the client's worker failed"},
	{name: "a worker that failed before its family was declared", changes: func(_ *testing.T, run *record.Run) {
		run.Faults = append(run.Faults, record.Fault{Where: record.Where{Family: "tier0/fetch/topics=100/bare"}, What: record.FaultWorker, Text: "exit status 1"})
	}, want: of(Completeness, Fail, whole("tier0/fetch/topics=100/bare")), why: "exit status 1"},
}
