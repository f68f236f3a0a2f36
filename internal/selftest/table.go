// Package selftest shows that the guards see: it plants one fault after the other on real brokers, and looks which guard objects. What measures, counts and judges is the
// ordinary code; faults are planted behind the worker (package faulty) and beside the broker (tiers.Seams).
package selftest

import (
	"protocolbench/guards"
	"protocolbench/internal/faulty"
	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
	"protocolbench/tiers"
)

// Objectors that are no guards: what the statistics say for themselves.
const (
	Canary  = "canary"  // the planted slowdown was missed
	Twins   = "twins"   // clients of one version differ
	Refusal = "refusal" // the run was refused before anything was measured
	Slower  = "slower"  // a version was called slower
	Dearer  = "dearer"  // the newest version was called dearer than an older one
	Host    = "host"    // the machine was busy
	fetch   = "tier1/fetch/size=4KiB"
	produce = "tier1/produce/records=100,acks=all"
	alone   = "tier2/fetch/size=64KiB"
)

// Fault is one thing that is planted, and who has to object.
type Fault struct {
	Name    string
	Planted string // in words
	Guard   string // whose it is
	// Also may object, too: the same fault seen from another side. Why says which.
	Also []string
	Why  string
	Tier int
	Only []string // families
	// worker is the name of a faulty client; "": a right one.
	worker string
	// seams plants beside the broker.
	seams func(*stage) tiers.Seams
	// change changes what is asked of the run.
	change func(*stage, *tiers.Config)
	// see finds objections that are in no finding.
	see func(*record.Run, verdict.Verdict) []Objection
	// squares of orders per fork; 0: half of one.
	squares float64
	// twoBrokers: the broker of the other tier is needed as well.
	twoBrokers bool
}

// Faults is the table: METHOD.md's guards, each with what shows it able to fail.
func Faults() []Fault {
	return []Fault{
		{Name: faulty.Unpinned, Planted: "the clients of the oldest versions are left alone, under their pinned labels", Guard: guards.Pin, Tier: 1, Only: []string{fetch, produce}, worker: faulty.Unpinned,
			Also: []string{guards.Counters, guards.Data}, Why: "frames of another version have other lengths and allocations"},
		{Name: faulty.LiesOfFrames, Planted: "Fetch v5 leaves where v4 is pinned, and the client's word and its count of frames say v4", Guard: guards.Pin, Tier: 1, Only: []string{fetch}, worker: faulty.LiesOfFrames,
			Also: []string{guards.Counters}, Why: "responses of v5 are longer; of the witnesses only the broker sees it"},
		{Name: faulty.LiesOfAnswers, Planted: "Fetch v5 leaves where v4 is pinned, and the client's word says v4", Guard: guards.Pin, Tier: 1, Only: []string{fetch}, worker: faulty.LiesOfAnswers,
			Also: []string{guards.Counters, guards.KnownTruth}, Why: "responses of v5 are longer"},
		{Name: faulty.PinUpwards, Planted: "the client of Fetch v4 sends v6", Guard: guards.Pin, Tier: 1, Only: []string{fetch}, worker: faulty.PinUpwards},
		{Name: faulty.PinDownwards, Planted: "the client of Fetch v6 sends v4", Guard: guards.Pin, Tier: 1, Only: []string{fetch}, worker: faulty.PinDownwards},
		{Name: faulty.PinOfAll, Planted: "every client of Fetch is left alone, under its pinned label", Guard: guards.Pin, Tier: 1, Only: []string{fetch}, worker: faulty.PinOfAll,
			Also: []string{guards.Completeness}, Why: "no version is left that could be measured"},
		{Name: faulty.PinMeasured, Planted: "the client of Fetch v4 sends v4 when it is tried, and v5 when it is measured", Guard: guards.Pin, Tier: 1, Only: []string{fetch}, worker: faulty.PinMeasured,
			Also: []string{guards.Counters, guards.Data}, Why: "frames of another version have other lengths"},
		{Name: "one build's pin", Planted: "of two builds the candidate's client of Fetch v4 sends v6", Guard: guards.Pin, Tier: 1, Only: []string{fetch}, worker: faulty.PinUpwards, change: besideARightOne},
		{Name: "the baseline's pin", Planted: "of two builds the baseline's client of Fetch v4 sends v6", Guard: guards.Pin, Tier: 1, Only: []string{fetch}, change: besideOneOf(faulty.PinUpwards)},
		{Name: "recompressing topic", Planted: "the topics are told to store gzip, and the client sends plain batches", Guard: guards.Conversions, Tier: 1, Only: []string{produce},
			seams: func(*stage) tiers.Seams {
				return tiers.Seams{TopicConfig: map[string]string{"compression.type": "gzip"}}
			},
			Also: []string{guards.Data}, Why: "what is read back of a compressed batch is not laid out as it was sent"},
		{Name: faulty.OldFormat, Planted: "the client left alone fetches with v3, for which 1.1.0 converts", Guard: guards.Conversions, Tier: 2, Only: []string{alone}, worker: faulty.OldFormat,
			Also: []string{guards.Negotiation, guards.Data, guards.KnownTruth}, Why: "v3 is not what it negotiates, and converted records come in other batches"},
		{Name: "deleted records", Planted: "DeleteRecords in the middle of each block", Guard: guards.Log, Tier: 1, Only: []string{produce},
			seams: func(*stage) tiers.Seams { return tiers.Seams{MidBlock: deleteRecords} }},
		{Name: "stamped in 2023", Planted: "records stamped in November 2023 in topics that keep an hour", Guard: guards.Log, Tier: 1, Only: []string{produce},
			seams: stampedInThePast, Also: []string{guards.Data}, Why: "what is gone can't be read back"},
		{Name: faulty.DropsRecord, Planted: "the client drops a record of each batch at the oldest version", Guard: guards.Data, Tier: 1, Only: []string{fetch}, worker: faulty.DropsRecord,
			Also: []string{guards.KnownTruth, guards.Counters}, Why: "responses have a record less than fits"},
		{Name: faulty.RepeatsRecord, Planted: "the client hands a record of each batch out twice at the oldest version", Guard: guards.Data, Tier: 1, Only: []string{fetch}, worker: faulty.RepeatsRecord,
			Also: []string{guards.KnownTruth, guards.Counters}, Why: "responses have a record more than fits"},
		{Name: faulty.SendsFewer, Planted: "the client sends a record less per batch at the oldest version", Guard: guards.Data, Tier: 1, Only: []string{produce}, worker: faulty.SendsFewer,
			Also: []string{guards.Log, guards.KnownTruth, guards.Counters}, Why: "the log grows by less than was to be sent, and a smaller batch costs less"},
		{Name: faulty.OneBatch, Planted: "the client takes one record batch per response, at every version", Guard: guards.KnownTruth, Tier: 1, Only: []string{fetch}, worker: faulty.OneBatch,
			Also: []string{guards.Pin, guards.Data}, Why: "three requests go out where one was asked for"},
		{Name: faulty.Allocates, Planted: "the client allocates once more per request at the oldest version", Guard: guards.Counters, Tier: 1, Only: []string{fetch}, worker: faulty.Allocates},
		{Name: faulty.OtherMetadata, Planted: "the client refreshes with Metadata v9 in every batch of the oldest version, by its count of frames", Guard: guards.OtherAPIs, Tier: 1, Only: []string{fetch}, worker: faulty.OtherMetadata,
			Also: []string{guards.KnownTruth, guards.Counters}, Why: "there is a request that nobody asked for"},
		{Name: "another start time", Planted: "the broker's start time changes in the middle of each block (rewritten on its way from Jolokia), as by a restart", Guard: guards.Identity, Tier: 1, Only: []string{fetch},
			seams: restarted, Also: []string{guards.Completeness}, Why: "a void block is missing"},
		{Name: "the other broker", Planted: "tier 1 is pointed at Kafka 1.1.0", Guard: Refusal, Tier: 1, Only: []string{fetch}, twoBrokers: true,
			seams: func(s *stage) tiers.Seams { return tiers.Seams{Broker: s.other} }},
		{Name: "advertised, not accepted", Planted: "Produce v2 is asked for, which 4.x advertises and drops the connection at", Guard: Refusal, Tier: 1, Only: []string{produce},
			change: func(_ *stage, c *tiers.Config) { c.Versions = map[string][2]int{"produce": {2, 4}} }},
		{Name: "killed worker", Planted: "the worker of the second block is killed in its middle", Guard: guards.Completeness, Tier: 1, Only: []string{fetch},
			seams: func(*stage) tiers.Seams { return tiers.Seams{MidBlock: killWorker} },
			Also:  allOfABlock, Why: "of a block that was not finished nothing can be shown"},
		{Name: faulty.HalvesCPU, Planted: "the worker says half the CPU that its batches took", Guard: guards.Clocks, Tier: 1, Only: []string{fetch}, worker: faulty.HalvesCPU, squares: 3},
		{Name: faulty.IgnoresPlant, Planted: "the canary burns nothing", Guard: Canary, Tier: 1, Only: []string{fetch}, worker: faulty.IgnoresPlant, see: ofStatistics},
		{Name: faulty.SlowCell + "3", Planted: "one of the three clients of the newest version burns CPU after each request", Guard: Twins, Tier: 1, Only: []string{fetch}, worker: faulty.SlowCell + "3", see: ofStatistics,
			Also: []string{Canary}, Why: "the canary is compared with all three"},
		{Name: faulty.OlderThanAlone, Planted: "the client left alone takes Fetch v4 where it could have v7", Guard: guards.Negotiation, Tier: 2, Only: []string{alone}, worker: faulty.OlderThanAlone},
		{Name: faulty.Keeps, Planted: "the client keeps what it reads", Guard: guards.Memory, Tier: 2, Only: []string{alone}, worker: faulty.Keeps},
		{Name: faulty.KeepsFromV7, Planted: "the clients from Fetch v7 on keep 4 KiB of each response", Guard: guards.Memory, Tier: 1, Only: []string{fetch}, worker: faulty.KeepsFromV7,
			change: func(_ *stage, c *tiers.Config) { c.Versions = map[string][2]int{"fetch": {5, 8}} }, // both sides of the version it came with
			Also:   []string{guards.Counters}, Why: "what is kept was allocated"},
		{Name: "busy cores", Planted: "a busy loop on every core", Guard: guards.Host, Tier: 1, Only: []string{fetch}, change: busyCores, see: nil,
			Also: []string{Canary}, Why: "nothing is found in rounds that are left out"},
	}
}

// allOfABlock are the guards that a block must have ended for.
var allOfABlock = []string{guards.Pin, guards.Conversions, guards.Log, guards.Data, guards.KnownTruth, guards.Counters, guards.Clocks, guards.OtherAPIs, Canary}
