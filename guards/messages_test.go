package guards

import (
	"fmt"
	"strings"
	"testing"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/shape"
)

// messageRun is a good record of one message at three versions, of which the last two are the same bytes.
func messageRun() (*record.Run, record.FamilyRun) {
	f := record.FamilyRun{Family: record.Family{Tier: 0, Name: "tier0/apis/metadata/metadata.response/elements=10/bare", API: "MetadataResponse", Key: 3, Mode: "bare", Message: "response", Group: "metadata",
		Shape: shape.Shape{Name: "elements=10", Elements: 10}, Reference: 2, Rounds: 1, Blocks: 1, RequestsPerBatch: 5, RecordsPerRequest: 10, FewestRequests: 5}}
	where := record.Where{Family: f.Name}
	lengths, hashes, sums := []int64{100, 120, 120}, []uint64{0xa, 0xb, 0xb}, []uint64{1000, 1200, 1200}
	b := record.BlockRun{Block: record.Block{Where: where, Orders: [][]int{{0, 1, 2}}}, Rounds: []record.HostRound{{Where: where, WallNs: 200e6, OthersCPUNs: 10e6}}}
	for v := range 3 {
		f.Cells = append(f.Cells, record.FamilyCell{Cell: v, Version: v, Role: record.RoleVersion})
		batch := record.Batch{Where: where, Position: v, Cell: v, OutsideCPUNs: 1000, Batched: driver.Batched{CPUNs: 1000, WallNs: 1000, Requests: 5, Records: 50, Bytes: 5 * lengths[v], WireBytesIn: 5 * lengths[v],
			ByteSum: 5 * sums[v], FirstKey: fmt.Sprintf("MetadataResponse v%d", v), LastKey: fmt.Sprintf("%016x", hashes[v])}}
		batch.ExpectedRecords, batch.ExpectedBytes, batch.ExpectedByteSum, batch.ExpectedFirstKey, batch.ExpectedLastKey = batch.Records, batch.Bytes, batch.ByteSum, batch.FirstKey, batch.LastKey
		b.Batches = append(b.Batches, batch)
		b.CellRows = append(b.CellRows, record.Cell{Where: where, Cell: v, AnswerVersion: v, RecordsPerRequest: 10, Hash: hashes[v], HashRecords: 10, ExpectedHash: hashes[v]})
		b.Steadies = append(b.Steadies, record.Steady{Where: where, Cell: v, Steadied: driver.Steadied{Requests: 100, Records: 1000, Allocs: []uint64{500, 700, 700}[v], AllocBytes: 5000}})
	}
	f.BlockRuns = []record.BlockRun{b}
	run := &record.Run{Header: record.Header{Client: driver.Hello{Abilities: []string{"hash", "steady", driver.AbilityMessages}}}, Families: []record.FamilyRun{f}, Trailer: &record.Trailer{Complete: true}}
	return run, f
}

func messageFindings(run *record.Run, f record.FamilyRun) (list []Finding) {
	for _, g := range checkMessage(run, f) {
		if g.Guard != Clocks { // it has tests of its own, and wants evidence of the block
			list = append(list, g)
		}
	}
	return list
}

func TestGoodMessagesPassAtOnce(t *testing.T) {
	run, f := messageRun()
	findings := messageFindings(run, f)
	if len(findings) != 5 {
		t.Errorf("%d findings, want one of each guard: %+v", len(findings), findings)
	}
	for _, g := range findings {
		if g.Outcome != Pass || g.Version != AllVersions {
			t.Errorf("%s of a good message: v%d %s, %s", g.Guard, g.Version, g.Outcome, g.Why)
		}
	}
	na := notAskedOfMessages(run)
	if len(na) != 4 || na[0].Outcome != NotApplicable || notAskedOfMessages(&record.Run{}) != nil {
		t.Errorf("guards that don't apply: %+v", na)
	}
}

// An empty message has no bytes, and its hash is that of none: nobody is blind.
func TestAnEmptyMessageIsNoBlindOne(t *testing.T) {
	run, f := messageRun()
	b := &f.BlockRuns[0].Batches[0]
	b.Bytes, b.WireBytesIn, b.ByteSum, b.ExpectedBytes, b.ExpectedByteSum = 0, 0, 0, 0, 0
	for _, g := range messageFindings(run, f) {
		if g.Outcome != Pass {
			t.Errorf("%s v%d: %s, %s", g.Guard, g.Version, g.Outcome, g.Why)
		}
	}
}

// Each fault is found by its guard at its version, and by no other.
func TestFaultyMessages(t *testing.T) {
	for name, c := range map[string]struct {
		spoil   func(*record.BlockRun)
		guard   string
		outcome Outcome
		why     string
	}{
		"own word":         {func(b *record.BlockRun) { b.CellRows[1].AnswerVersion = 2 }, Pin, Fail, "its answer had v2"},
		"another version":  {func(b *record.BlockRun) { b.Batches[1].FirstKey = "MetadataResponse v2" }, Pin, Fail, `coded "MetadataResponse v2"`},
		"other length":     {func(b *record.BlockRun) { b.Batches[1].WireBytesIn -= 10 }, Pin, Fail, "590 bytes together where 600 belong"},
		"lost bytes":       {func(b *record.BlockRun) { b.Batches[1].Bytes -= 10 }, Data, Fail, "writes 590 bytes"},
		"other bytes":      {func(b *record.BlockRun) { b.Batches[1].LastKey = "ffff" }, Data, Fail, "a field is lost or changed"},
		"other sum":        {func(b *record.BlockRun) { b.Batches[1].ByteSum++ }, Data, Fail, "a field is lost or changed"},
		"lost elements":    {func(b *record.BlockRun) { b.Batches[1].Records-- }, Data, Fail, "49 elements where 50"},
		"too few messages": {func(b *record.BlockRun) { b.Batches[1].Requests-- }, Data, Fail, "4 messages where 5"},
		"other hash":       {func(b *record.BlockRun) { b.CellRows[1].Hash++ }, Data, Fail, "loses or changes a field at this version"},
		"no hash":          {func(b *record.BlockRun) { b.CellRows = append(b.CellRows[:1:1], b.CellRows[2]) }, Data, Blind, "ended before"},
		"no steady pass":   {func(b *record.BlockRun) { b.Steadies = append(b.Steadies[:1:1], b.Steadies[2]) }, Counters, Blind, "not counted"},
	} {
		run, f := messageRun()
		c.spoil(&f.BlockRuns[0])
		seen := false
		for _, g := range messageFindings(run, f) {
			if g.Outcome == Pass {
				continue
			}
			if g.Guard != c.guard || g.Outcome != c.outcome || g.Version != 1 || !strings.Contains(g.Why, c.why) {
				t.Errorf("%s: %s v%d %s, %s", name, g.Guard, g.Version, g.Outcome, g.Why)
			}
			seen = true
		}
		if !seen {
			t.Errorf("%s is not found", name)
		}
	}
}

// The same bytes take the same allocations; other bytes may take others.
func TestAllocationsOfTheSameBytes(t *testing.T) {
	run, f := messageRun()
	f.BlockRuns[0].Steadies[2].Allocs += 100
	findings := checkMessageCounters(run, f)
	if findings[1].Outcome != Pass || findings[2].Outcome != Fail || !strings.Contains(findings[2].Why, "v2 has 8 allocations for a message and v1 7, of the very same bytes") {
		t.Errorf("one allocation more of the same bytes: %+v", findings)
	}
	f.BlockRuns[0].Batches[2].ExpectedLastKey = "cc"
	if findings := checkMessageCounters(run, f); findings[2].Outcome != Pass {
		t.Errorf("other bytes, other allocations: %+v", findings[2])
	}
	f.BlockRuns[0].Batches = append(f.BlockRuns[0].Batches, f.BlockRuns[0].Batches[1])
	f.BlockRuns[0].Batches[3].WireBytesIn++
	if findings := checkMessageCounters(run, f); findings[1].Outcome != Fail || !strings.Contains(findings[1].Why, "several lengths") {
		t.Errorf("two lengths at one version: %+v", findings[1])
	}
}

// What nobody can say is blind, and never a pass: how long a message of a version is, and what it hashes to.
func TestMessagesThatNobodyKnowsAreBlind(t *testing.T) {
	for name, c := range map[string]struct {
		spoil  func(*record.Run, *record.BlockRun)
		guards []string
		why    string
	}{
		"nothing was expected": {func(_ *record.Run, b *record.BlockRun) { b.Batches[1].ExpectedLastKey = "" }, []string{Pin, Data}, "nobody knows how long"},
		"a worker that can't hash": {func(run *record.Run, b *record.BlockRun) {
			run.Header.Client.Abilities = []string{"steady", driver.AbilityMessages}
			b.CellRows[1].HashRecords = 0
		}, []string{Data}, "hashes no message"},
	} {
		run, f := messageRun()
		c.spoil(run, &f.BlockRuns[0])
		var blind []string
		said := ""
		for _, g := range messageFindings(run, f) {
			if g.Outcome == Blind && g.Version == 1 {
				blind = append(blind, g.Guard)
				said += g.Why
			} else if g.Outcome != Pass {
				t.Errorf("%s: %s v%d %s, %s", name, g.Guard, g.Version, g.Outcome, g.Why)
			}
		}
		if fmt.Sprint(blind) != fmt.Sprint(c.guards) || !strings.Contains(said, c.why) {
			t.Errorf("%s: blind are %v (%s), want %v", name, blind, said, c.guards)
		}
	}
}
