package tiers

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"protocolbench/guards"
	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

// real is a configuration that starts Kafka by its jars; without Java or Maven the test is skipped, and says so.
func real(t *testing.T, tiers []int, only ...string) Config {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED, NO REAL BROKER WAS TESTED: -short leaves out real brokers")
	}
	for _, tool := range []string{"java", "mvn"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED, NO REAL BROKER WAS TESTED: there is no %s (apt-get install openjdk-17-jre-headless maven)", tool)
		}
	}
	c := config(t, tiers, only...)
	c.Broker = "jvm"
	return c
}

func outcomes(v verdict.Verdict) map[string]map[guards.Outcome]int {
	byGuard := map[string]map[guards.Outcome]int{}
	for _, g := range v.Guards {
		if byGuard[g.Guard] == nil {
			byGuard[g.Guard] = map[guards.Outcome]int{}
		}
		byGuard[g.Guard][g.Outcome]++
	}
	return byGuard
}

func TestRealBrokersProveEveryBlock(t *testing.T) {
	c := real(t, []int{1, 2}, "tier1/fetch/size=64KiB", "tier1/produce/records=100,acks=all", "tier1/produce/records=100,acks=0", "tier2/fetch/size=64KiB", "tier2/produce/records=100")
	c.Versions = map[string][2]int{"fetch": {4, 5}, "produce": {12, 13}}
	run, v, _ := mustRun(t, c)
	for _, g := range v.Guards {
		if g.Guard == guards.Host {
			continue // other tests run beside this one
		}
		if g.Outcome == guards.Fail || g.Outcome == guards.Blind {
			t.Errorf("%s: %s, tier %d, %s v%d: %s", g.Outcome, g.Guard, g.Tier, g.Family, g.Version, g.Why)
		}
	}
	passed := outcomes(v)
	for _, name := range []string{guards.Pin, guards.Conversions, guards.Log, guards.Data, guards.Identity, guards.Completeness, guards.Clocks, guards.Negotiation, guards.Memory} {
		if passed[name][guards.Pass] == 0 {
			t.Errorf("guard %q passed nowhere: %v", name, passed[name])
		}
	}
	if v.Verdict == verdict.Fail {
		t.Errorf("verdict %s: %s", v.Verdict, v.Reason)
	}
	negotiated := map[string]int{}
	for _, n := range v.Negotiated {
		if n.Tier == 2 {
			negotiated[n.API] = n.Version
		}
	}
	if negotiated["Produce"] != 5 || negotiated["Fetch"] != 7 {
		t.Errorf("against 1.1.0 the client left alone uses %v, want Produce v5 and Fetch v7", negotiated)
	}
	for _, f := range run.Families {
		if f.API != "Produce" {
			continue
		}
		for _, b := range f.BlockRuns {
			stored := map[int]bool{}
			for _, c := range b.CellRows {
				stored[c.Cell] = stored[c.Cell] || c.Stored != nil && c.Stored.Records > 0 && c.Stored.Hash == c.ExpectedHash
			}
			for _, c := range f.Cells {
				if !stored[c.Cell] {
					t.Errorf("%s, fork %d: what cell %d (v%d) stored was not read back", f.Name, b.Fork, c.Cell, c.Version)
				}
			}
		}
	}
	for _, control := range run.Controls {
		moved := control.Observed.Value
		switch {
		case !control.Applies || control.Control == record.ControlUnpinned:
			continue
		case control.Open != nil && control.Close != nil:
			moved = control.Close.LogStartOffset - control.Open.LogStartOffset
		case control.Batch != nil:
			moved = int64(control.Batch.ExpectedRecords - control.Batch.Records)
		}
		if control.Why != "" || moved != control.Expected || moved == 0 {
			t.Errorf("tier %d, control %q: observed %d, expected %d (%s)", control.Tier, control.Control, moved, control.Expected, control.Why)
		}
	}
	if len(run.Controls) != 10 {
		t.Errorf("%d controls in two tiers, want 10", len(run.Controls))
	}
}

func TestVersionThatTheBrokerRefusesIsTheUsersFault(t *testing.T) {
	c := real(t, []int{1}, "tier1/produce/records=100,acks=all")
	c.Versions = map[string][2]int{"produce": {2, 3}}
	_, _, err := Run(context.Background(), c)
	var usage *UsageError
	if !errors.As(err, &usage) || len(usage.Faults) != 1 {
		t.Fatalf("got %v, want one fault: Produce v2", err)
	}
}

// A broker that dies in a block is nobody's slowness: the run ends with code 1, and what was measured stays.
func TestBrokerThatDiesInABlock(t *testing.T) {
	c := real(t, []int{1}, "tier1/fetch/size=64KiB")
	c.Versions = map[string][2]int{"fetch": {17, 18}}
	c.Progress = killAt{silent{t}, 3, new(int), c}
	dir, v, err := Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if v.ExitCode != verdict.ExitHarness || v.Verdict != verdict.Inconclusive {
		t.Errorf("verdict %s (%d): %s", v.Verdict, v.ExitCode, v.Reason)
	}
	run, err := record.Read(filepath.Join(dir, record.FileName))
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Faults) == 0 || run.Faults[0].What != record.FaultBroker || len(run.Faults[0].Log) == 0 {
		t.Errorf("faults %+v, want the broker's with its log", run.Faults)
	}
	if len(run.Families) == 0 || len(run.Families[0].BlockRuns) == 0 {
		t.Error("the first block is not in the record")
	}
}

// killAt ends the broker shortly after the n-th step begins: in the middle of a block.
type killAt struct {
	silent
	n    int
	seen *int
	c    Config
}

func (k killAt) Step(time.Duration, string) {
	if *k.seen++; *k.seen != k.n {
		return
	}
	run, err := record.Read(filepath.Join(k.c.Out, record.Latest, record.FileName))
	if err != nil || len(run.Brokers) == 0 {
		k.t.Errorf("no broker to kill: %v", err)
		return
	}
	go func() {
		time.Sleep(300 * time.Millisecond)
		if err := syscall.Kill(run.Brokers[0].PID, syscall.SIGKILL); err != nil {
			k.t.Error(err)
		}
	}()
}
