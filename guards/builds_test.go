package guards

import (
	"slices"
	"strings"
	"testing"

	"protocolbench/internal/driver"
	"protocolbench/internal/measure"
	"protocolbench/internal/record"
)

// goodRunOfTwo is the good run with a second build in tiers 0 and 1: cells 6 to 11 of each family are the baseline's.
func goodRunOfTwo() *record.Run {
	run := goodRun()
	for i := range run.Families {
		f := &run.Families[i]
		if f.Tier == 2 {
			continue
		}
		for _, c := range slices.Clone(f.Cells) {
			f.Cells = append(f.Cells, record.FamilyCell{Cell: c.Cell + 6, Version: c.Version, Role: c.Role, Build: record.BuildBaseline})
		}
		for fork := range f.BlockRuns {
			f.BlockRuns[fork] = goodBlock(run, f.Family, fork)
			b := &f.BlockRuns[fork]
			splitWorkers(b.Open, 0)
			splitWorkers(b.Close, goodRounds*6*10_600_000)
		}
	}
	return run
}

// splitWorkers gives the baseline's clients a worker of their own, which used half of the CPU.
func splitWorkers(e *record.Evidence, usedNs int64) {
	baseline := record.WorkerEvidence{Worker: driver.Snapshot{CPUNs: 500_000_000 + usedNs, Goroutines: 20, OpenFiles: 30}, OutsideCPUNs: 501_000_000 + usedNs}
	e.Worker.CPUNs, e.OutsideCPUNs = 1_000_000_000+usedNs, 1_001_000_000+usedNs
	var mine []driver.CellSnapshot
	for _, c := range e.Worker.Cells {
		if c.Cell >= 6 {
			baseline.Worker.Cells = append(baseline.Worker.Cells, c)
		} else {
			mine = append(mine, c)
		}
	}
	e.Worker.Cells, e.Baseline = mine, &baseline
}

func TestGoodRunOfTwoBuilds(t *testing.T) {
	clocks := 0
	for _, f := range Check(goodRunOfTwo()) {
		if f.Outcome == Fail || f.Outcome == Blind {
			t.Errorf("%s: %s", label(f), f.Why)
		}
		if f.Guard == Clocks && f.Build == record.BuildBaseline {
			clocks++
		}
	}
	if clocks != 4 {
		t.Errorf("the baseline's clock was looked at in %d families, want 4", clocks)
	}
}

// What is wrong in the baseline alone is found as well, and said to be the baseline's.
func TestFaultsOfTheBaselineAreFoundAndNamed(t *testing.T) {
	for _, b := range []struct {
		name, guard, family string
		breaks              func(*record.Run, *record.BlockRun)
		why                 string
	}{
		{"half of its CPU", Clocks, codecFetch, func(_ *record.Run, b *record.BlockRun) { b.Close.Baseline.Worker.CPUNs -= 300_000_000 }, "over a block"},
		{"batches that claim too much", Clocks, codecFetch, func(_ *record.Run, b *record.BlockRun) {
			i := slices.IndexFunc(b.Batches, func(batch record.Batch) bool { return batch.Cell == 8 })
			b.Batches[i].CPUNs = 2 * b.Batches[i].OutsideCPUNs
		}, "a batch claims"},
		{"a lost record", Data, codecFetch, func(_ *record.Run, b *record.BlockRun) {
			i := slices.IndexFunc(b.Batches, func(batch record.Batch) bool { return batch.Cell == 8 })
			b.Batches[i].Records--
		}, "records"},
		{"a changed record", Data, codecFetch, func(_ *record.Run, b *record.BlockRun) { b.CellRows[8].Hash++ }, "full hash"},
		{"a client that is not pinned", Pin, liveFetch, func(_ *record.Run, b *record.BlockRun) {
			b.Close.Baseline.Worker.Cells[1].Frames[0].Count--
			b.Close.Baseline.Worker.Cells[1].Frames = append(b.Close.Baseline.Worker.Cells[1].Frames, driver.Frames{Key: 1, Version: 4, Count: 1})
		}, "left at another version"},
		{"one more request than the broker counted", Pin, liveFetch, func(_ *record.Run, b *record.BlockRun) {
			b.Close.Baseline.Worker.Cells[0].Frames[0].Count++
		}, "requests were asked for"},
		{"decoded responses of another version", Pin, codecFetch, func(_ *record.Run, b *record.BlockRun) {
			i := slices.IndexFunc(b.Batches, func(batch record.Batch) bool { return batch.Cell == 8 })
			b.Batches[i].WireBytesIn -= goodRequests
		}, "decoded response has"},
	} {
		t.Run(b.name, func(t *testing.T) {
			run := goodRunOfTwo()
			b.breaks(run, block(t, run, b.family, 1))
			var failed []Finding
			for _, f := range Check(run) {
				if f.Outcome == Fail && f.Guard == b.guard && f.Family == b.family && f.Build == record.BuildBaseline {
					failed = append(failed, f)
				} else if f.Outcome == Fail && f.Guard != Pin && f.Guard != KnownTruth { // a pin has several witnesses, and a lost record is no known truth
					t.Errorf("%s: %s", label(f), f.Why)
				}
			}
			if len(failed) == 0 || !strings.HasPrefix(failed[0].Why, aboutBaseline) || !strings.Contains(failed[0].Why, b.why) {
				t.Errorf("found %+v, want %q of the baseline", failed, b.why)
			}
		})
	}
}

// The broker knows no builds: what both sent is what it has to have counted.
func TestBrokerCountsBothBuilds(t *testing.T) {
	run := goodRunOfTwo()
	b := block(t, run, liveFetch, 0)
	short := b.Close.Broker.RequestsByVersion[17]
	short.Value -= goodRounds * goodRequests // as if the baseline had sent nothing
	b.Close.Broker.RequestsByVersion = map[int]measure.Counter{16: b.Close.Broker.RequestsByVersion[16], 17: short, 18: b.Close.Broker.RequestsByVersion[18], 3: count(9)}
	failed := slices.ContainsFunc(Check(run), func(f Finding) bool {
		return f.Guard == Pin && f.Version == 17 && f.Outcome == Fail && strings.Contains(f.Why, "contradict")
	})
	if !failed {
		t.Error("the broker missed the baseline's requests, and the pin guard is content")
	}
}

func TestBaselineWithoutEvidenceIsBlind(t *testing.T) {
	run := goodRunOfTwo()
	block(t, run, codecProduce, 0).Close.Baseline = nil
	blind := 0
	for _, f := range Check(run) {
		if f.Outcome == Fail && f.Guard == Clocks {
			t.Errorf("%s: %s", label(f), f.Why)
		}
		if f.Guard == Clocks && f.Build == record.BuildBaseline && f.Outcome == Blind {
			blind++
		}
	}
	if blind != 1 {
		t.Errorf("%d blind clocks of the baseline, want 1", blind)
	}
}
