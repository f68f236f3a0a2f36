package guards

import (
	"fmt"
	"strings"
	"testing"

	"protocolbench/internal/driver"
	"protocolbench/internal/measure"
	"protocolbench/internal/record"
	"protocolbench/internal/shape"
)

const (
	goodRounds   = 6
	goodBlocks   = 2
	goodRequests = 4
	goodRecords  = 10   // per request
	decodedBytes = 1179 // of a Fetch response of v13 to v18, by codec.Response once and written down
	goodFrame    = 1200 // a request or response with records, which take 1,111 bytes of it
	goodAllocs   = 40   // of a request
)

// Names of the good run's families.
const (
	codecFetch    = "tier0/fetch/records=10/bare"
	codecProduce  = "tier0/produce/records=10/bare"
	liveFetch     = "tier1/fetch/size=4KiB/bare"
	liveProduce   = "tier1/produce/records=10/bare"
	sanityFetch   = "tier2/fetch/size=4KiB/alone"
	sanityProduce = "tier2/produce/records=10/alone"
)

// goodRun is a whole run of three tiers in which every guard is content. Tests break one thing in it.
func goodRun() *record.Run {
	run := &record.Run{
		Header: record.Header{Schema: record.Schema, Tiers: []int{0, 1, 2}, Controls: record.NegativeControls(),
			Client: driver.Hello{Client: "franz-go", Abilities: []string{"codec", "live", "plant", "steady", "hash", "frames", "own-version", driver.AbilityHeap}}},
		Brokers: []record.Broker{
			{Tier: 1, Provider: "jvm", Release: "4.4.0", Commit: "c4", ClusterID: "modern", JolokiaURL: "http://j1", StartTimeMs: 1000, VersionTags: true},
			{Tier: 2, Provider: "jvm", Release: "1.1.0", Commit: "c1", ClusterID: "old", JolokiaURL: "http://j2", StartTimeMs: 2000, FetchConverts: true},
		},
		Controls: []record.Control{
			{Tier: 1, Control: record.ControlRecompression, Applies: true, Expected: 100, Observed: count(100), TopicObserved: count(100)},
			{Tier: 1, Control: record.ControlOldFetch, Why: "down-conversion was removed in 4.0"},
			{Tier: 1, Control: record.ControlUnpinned, Applies: true, Expected: 1, WireObjected: true, BrokerObjected: true},
			{Tier: 2, Control: record.ControlRecompression, Applies: true, Expected: 100, Observed: count(100), TopicObserved: count(100)},
			{Tier: 2, Control: record.ControlOldFetch, Applies: true, Expected: 600, Observed: count(600), TopicObserved: count(600)},
			{Tier: 2, Control: record.ControlUnpinned, Why: "no version tags"},
		},
		Trailer: &record.Trailer{Complete: true},
	}
	for tier := 1; tier <= 2; tier++ {
		run.Controls = append(run.Controls, goodNegatives(run, tier)...)
	}
	for tier := range 3 {
		run.Plans = append(run.Plans, goodPlan(tier, produceAPI), goodPlan(tier, fetchAPI))
	}
	for _, name := range []string{codecFetch, codecProduce, liveFetch, liveProduce, sanityFetch, sanityProduce} {
		run.Families = append(run.Families, goodFamily(run, name))
	}
	return run
}

func count(n int64) measure.Counter { return measure.Counter{State: measure.Number, Value: n} }

func absent() measure.Counter {
	return measure.Counter{State: measure.Absent, Why: "InstanceNotFoundException"}
}

func unreadable() measure.Counter { return measure.Counter{State: measure.Unreadable, Why: "401"} }

// goodPlan has three pinned versions, the newest a client implements among them, and one that the broker of tier 1 refuses.
func goodPlan(tier int, api string) record.Plan {
	newest, key := 13, int16(0)
	if api == fetchAPI {
		newest, key = 18, 1
	}
	plan := record.Plan{Tier: tier, API: api, Key: key, Implemented: [2]int{newest - 3, newest}, Advertised: [2]int{-1, -1}, Negotiated: -1}
	switch tier {
	case 1:
		plan.Advertised, plan.Negotiated = [2]int{0, newest}, newest
	case 2:
		plan.Negotiated = map[string]int{produceAPI: 5, fetchAPI: 7}[api]
		plan.Advertised, plan.Implemented = [2]int{0, plan.Negotiated}, [2]int{3, newest}
	}
	for v := plan.Implemented[0]; v <= newest; v++ {
		a := record.PlanAnswer{Version: v, Pinned: true}
		if plan.Advertised[1] >= 0 && v <= plan.Advertised[1] {
			a.Advertised, a.Accepted, a.Took = true, true, record.TookAnswered
		}
		switch {
		case tier == 2 && v > plan.Advertised[1]:
			a.Pinned, a.Why, a.Reason = false, "the broker has no such version", record.LeftNotAdvertised
		case tier == 0 && v == newest-3:
			a.Pinned, a.Why, a.Reason = false, "not asked for", record.LeftNotAsked
		case tier == 1 && v == newest-3:
			a.Pinned, a.Accepted, a.Why, a.Reason, a.Took = false, false, "advertised, but refused", record.LeftRefused, record.TookClosed
		}
		if a.Pinned {
			plan.Pinned = append(plan.Pinned, v)
		}
		if a.Pinned && tier > 0 {
			plan.Tries = append(plan.Tries, goodTry(v, v))
		}
		plan.Answers = append(plan.Answers, a)
	}
	if tier > 0 {
		plan.Tries = append(plan.Tries, goodTry(-1, plan.Negotiated))
	}
	return plan
}

// goodTry is a preflight that was asked for one version and spoke another, -1 standing for a client left alone.
func goodTry(version, spoke int) record.Try {
	return record.Try{Version: version, Outcome: record.TryOpened, AnswerVersion: spoke, Sent: map[int]int64{spoke: 1}, Arrived: map[int]int64{spoke: 1}}
}

func goodFamily(run *record.Run, name string) record.FamilyRun {
	parts := strings.Split(name, "/")
	f := record.Family{Name: name, Tier: int(name[4] - '0'), API: produceAPI, Shape: shape.Shape{Name: parts[2], RecordsPerBatch: 10, BatchesPerPartition: 1, Partitions: 1, Topics: 1, KeyBytes: 16, ValueBytes: 80, RequiredAcks: -1},
		Mode: driver.ModeBare, Rounds: goodRounds, Blocks: goodBlocks, RequestsPerBatch: goodRequests, FewestRequests: goodRequests, RecordsPerRequest: goodRecords, Reference: 13}
	if parts[1] == "fetch" {
		f.API, f.Key, f.Reference = fetchAPI, 1, 18
		if f.Tier > 0 {
			f.Shape.FetchBytes = goodFrame
		}
	}
	if f.Tier == 2 {
		f.Mode, f.Reference = driver.ModeShipped, -1
		f.Cells = []record.FamilyCell{{Cell: 0, Version: -1, Role: record.RoleAlone}}
	} else {
		for i, role := range []string{record.RoleVersion, record.RoleVersion, record.RoleVersion, record.RoleTwin, record.RoleTwin, record.RoleCanary} {
			f.Cells = append(f.Cells, record.FamilyCell{Cell: i, Version: min(f.Reference-2+i, f.Reference), Role: role})
		}
	}
	family := record.FamilyRun{Family: f}
	for fork := range goodBlocks {
		family.BlockRuns = append(family.BlockRuns, goodBlock(run, f, fork))
	}
	return family
}

func goodBlock(run *record.Run, f record.Family, fork int) record.BlockRun {
	where := record.Where{Family: f.Name, Fork: fork}
	b := record.BlockRun{Block: record.Block{Where: where, WorkerPID: 4000 + fork, Topic: "topic"}}
	offset := int64(500)
	for round := range goodRounds {
		order := make([]int, len(f.Cells))
		for position := range order {
			cell := (position + round) % len(f.Cells)
			order[position] = cell
			batch := goodBatch(f, where, round, position, cell)
			if f.Tier > 0 {
				batch.StartOffset, batch.EndOffset = offset, offset+int64(batch.Records)
				if f.API == produceAPI {
					offset = batch.EndOffset
				}
			}
			b.Batches = append(b.Batches, batch)
		}
		b.Orders = append(b.Orders, order)
	}
	for _, c := range f.Cells {
		b.CellRows = append(b.CellRows, record.Cell{Where: where, Cell: c.Cell, AnswerVersion: used(run, f, c.Version), RecordsPerRequest: goodRecords,
			Hash: 1<<63 + 5, ExpectedHash: 1<<63 + 5, HashRecords: goodRecords})
		if f.Tier > 0 && f.API == produceAPI {
			b.CellRows[len(b.CellRows)-1].Stored = &record.ReadBack{Records: goodRecords, Hash: 12, ExpectedHash: 12, Batches: 1, StoredBytes: 1111, Codecs: []string{"none"}}
		}
	}
	for _, c := range f.Cells {
		s := record.Steady{Where: where, Cell: c.Cell}
		s.Requests, s.Records, s.Allocs, s.AllocBytes = goodRequests, goodRequests*goodRecords, goodRequests*goodAllocs, goodRequests*goodAllocs*64
		if goodLess(f, c.Version) != 0 { // an id and no name
			s.Allocs, s.AllocBytes = s.Allocs-goodRequests, s.AllocBytes-goodRequests*24
		}
		b.Steadies = append(b.Steadies, s)
	}
	b.Open, b.Close = goodEvidence(run, f, where, record.WhenOpen), goodEvidence(run, f, where, record.WhenClose)
	return b
}

// goodLess is by how many bytes Produce v13 is shorter than v11 and v12: 16 of an id for the name. Fetch v16 to v18 don't differ.
func goodLess(f record.Family, version int) int {
	switch {
	case f.API != produceAPI || version != 13:
		return 0
	case f.Tier == 0:
		return 1 + len("protocolbench-000000") - 16
	}
	return 1 + len("topic") - 16
}

// used is the version that a cell's requests have.
func used(run *record.Run, f record.Family, version int) int {
	if version >= 0 {
		return version
	}
	for _, p := range run.Plans {
		if p.Tier == f.Tier && p.API == f.API {
			return p.Negotiated
		}
	}
	return -1
}

func goodBatch(f record.Family, where record.Where, round, position, cell int) record.Batch {
	b := record.Batch{Where: where, Round: round, Position: position, Cell: cell, BrokerCPUNs: -1,
		ExpectedRecords: goodRequests * goodRecords, ExpectedBytes: goodRequests * goodRecords * 80, ExpectedByteSum: 77, ExpectedFirstKey: "first", ExpectedLastKey: "last"}
	b.Requests, b.Records, b.Bytes, b.ByteSum, b.FirstKey, b.LastKey = goodRequests, b.ExpectedRecords, b.ExpectedBytes, b.ExpectedByteSum, b.ExpectedFirstKey, b.ExpectedLastKey
	b.HeapLiveBytes = 20<<20 + uint64((round+cell)%4)*8 // a clean client moves, and comes back
	b.CPUNs = 10_000_000 + int64(round%3)*100_000
	if f.Cells[cell].Role == record.RoleCanary {
		b.CPUNs += 1_000_000
	}
	b.OutsideCPUNs = b.CPUNs + 300_000 + int64((round+cell)%4)*50_000
	if hasWire(f) {
		less := goodLess(f, f.Cells[cell].Version)
		b.WireRequests, b.MinFrame, b.MaxFrame = goodRequests, goodFrame-less, goodFrame-less
		b.WireBytesOut, b.WireBytesIn = goodRequests*int64(goodFrame-less), goodRequests*int64(goodFrame-less)
	} else {
		b.WireBytesIn = goodRequests * decodedBytes
	}
	return b
}

// goodEvidence: every client has sent a preflight and some warm-up before the bracket, and other families of the tier were there before.
func goodEvidence(run *record.Run, f record.Family, where record.Where, when string) *record.Evidence {
	const before, bracket = 7, goodRounds * goodRequests
	e := &record.Evidence{Where: where, When: when, OutsideCPUNs: 1_001_000_000}
	e.Worker.CPUNs, e.Worker.HeapLiveBytes = 1_000_000_000, 20<<20
	e.Worker.Goroutines, e.Worker.OpenFiles = 30, 40
	sent := int64(before)
	if when == record.WhenClose {
		sent += bracket
		e.Worker.CPUNs += goodRounds * int64(len(f.Cells)) * 10_600_000
		e.OutsideCPUNs = e.Worker.CPUNs + 2_000_000
		e.Worker.HeapLiveBytes += 1 << 20
	}
	counted := map[int]int64{}
	if hasWire(f) {
		for _, c := range f.Cells {
			v := used(run, f, c.Version)
			counted[v] += sent
			e.Worker.Cells = append(e.Worker.Cells, driver.CellSnapshot{Cell: c.Cell, Reads: 2 * sent, DataSegsIn: 3 * sent, ConnectionsOpened: 2, ConnectionsOpen: 2, Frames: []driver.Frames{
				{Key: f.Key, Version: int16(v), Count: sent}, {Key: 18, Version: 4, Count: 1}, {Key: 3, Version: 12, Count: 1}}})
		}
		e.Worker.Cells = append(e.Worker.Cells, driver.CellSnapshot{Cell: -1, Frames: []driver.Frames{{Key: 2, Version: 10, Count: sent}}})
	}
	if f.Tier > 0 {
		e.Broker = goodBrokerEvidence(run, f, when, counted)
	}
	return e
}

func goodBrokerEvidence(run *record.Run, f record.Family, when string, counted map[int]int64) *record.BrokerEvidence {
	broker, _ := brokerOf(run, f.Tier)
	const earlier = 1000
	e := &record.BrokerEvidence{Requests: count(earlier + sum(counted)), ProduceConversions: count(100), FetchConversions: count(0),
		TopicProduceConversions: absent(), TopicFetchConversions: absent(), LogEndOffset: 500,
		Release: broker.Release, Commit: broker.Commit, ClusterID: broker.ClusterID, StartTimeMs: broker.StartTimeMs}
	if broker.FetchConverts {
		e.FetchConversions = count(600)
	}
	if broker.VersionTags {
		e.RequestsListed, e.RequestsByVersion = true, map[int]measure.Counter{3: count(9)}
		for v, n := range counted {
			e.RequestsByVersion[v] = count(earlier + n)
		}
	}
	if when == record.WhenClose && f.API == produceAPI {
		e.LogEndOffset += int64(goodRounds * len(f.Cells) * goodRequests * goodRecords)
		e.ReadBack = &record.ReadBack{Records: goodRequests * goodRecords, Hash: 11, ExpectedHash: 11}
	}
	return e
}

// block gives a block of a run for a test to break.
func block(t *testing.T, run *record.Run, family string, fork int) *record.BlockRun {
	t.Helper()
	for i := range run.Families {
		if run.Families[i].Name == family {
			return &run.Families[i].BlockRuns[fork]
		}
	}
	t.Fatalf("no family %s", family)
	return nil
}

// breakage is one thing that is wrong with a run, and everything that guards have to say about it.
type breakage struct {
	name   string
	breaks func(t *testing.T, run *record.Run)
	// want lists every finding that is neither pass nor not applicable, as "guard|family or tier|version|outcome".
	want []string
	// why has to be in the explanation of the first of them.
	why string
}

// checkBreakages breaks a good run in each way and compares all findings: a guard that stays silent fails the test, and so does another
// one that speaks up without a reason.
func checkBreakages(t *testing.T, breakages []breakage) {
	t.Helper()
	for _, b := range breakages {
		t.Run(b.name, func(t *testing.T) {
			run := goodRun()
			b.breaks(t, run)
			findings := Check(run)
			var got []string
			for _, f := range findings {
				if f.Outcome == Fail || f.Outcome == Blind {
					got = append(got, label(f))
				}
			}
			if strings.Join(got, "\n") != strings.Join(b.want, "\n") {
				t.Errorf("findings:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(b.want, "\n"))
			}
			for _, f := range findings {
				if len(b.want) > 0 && label(f) == b.want[0] && !strings.Contains(f.Why, b.why) {
					t.Errorf("%s\nis explained by %q, want %q in it", label(f), f.Why, b.why)
				}
			}
		})
	}
}

func label(f Finding) string {
	subject := f.Family
	if subject == "" {
		subject = fmt.Sprintf("tier%d", f.Tier)
	}
	return fmt.Sprintf("%s|%s|%d|%s", f.Guard, subject, f.Version, f.Outcome)
}
