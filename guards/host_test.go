package guards

import (
	"strings"
	"testing"

	"protocolbench/internal/record"
)

// calm is a round of 200 ms in which others used a grain of the clock.
func calm(round int) record.HostRound {
	return record.HostRound{Round: round, WallNs: 200e6, OthersCPUNs: 10e6}
}

func TestBusy(t *testing.T) {
	for _, c := range []struct {
		name string
		r    record.HostRound
		busy string
	}{
		{"calm", calm(0), ""},
		{"a loop beside it", record.HostRound{WallNs: 400e6, OthersCPUNs: 200e6}, "had the worker's CPU for 200 of 400 ms"},
		{"just a quarter", record.HostRound{WallNs: 200e6, OthersCPUNs: 50e6}, "50 of 200 ms"},
		{"less than a quarter", record.HostRound{WallNs: 200e6, OthersCPUNs: 40e6}, ""},
		{"a short round, within the grain of the readings", record.HostRound{WallNs: 60e6, OthersCPUNs: 20e6}, ""},
		{"stolen", record.HostRound{WallNs: 200e6, StealNs: 30e6}, "the hypervisor took"},
		{"hardly stolen", record.HostRound{WallNs: 400e6, StealNs: 30e6}, ""},
		{"unknown", record.HostRound{WallNs: 200e6, OthersCPUNs: -1, StealNs: -1}, ""},
	} {
		if got := Busy(c.r); (got == "") != (c.busy == "") || !strings.Contains(got, c.busy) {
			t.Errorf("%s: %q, want %q", c.name, got, c.busy)
		}
	}
}

func TestHost(t *testing.T) {
	rounds := func(all ...record.HostRound) func(*record.Run) {
		return func(run *record.Run) {
			for i := range run.Families {
				for b := range run.Families[i].BlockRuns {
					run.Families[i].BlockRuns[b].Rounds = all
				}
			}
		}
	}
	busy := func(round int) record.HostRound {
		return record.HostRound{Round: round, WallNs: 200e6, OthersCPUNs: 100e6}
	}
	for _, c := range []struct {
		name    string
		change  func(*record.Run)
		outcome Outcome
		why     string
	}{
		{"a record of an earlier build", func(*record.Run) {}, NotApplicable, "no readings of the host"},
		{"nothing is pinned", rounds(record.HostRound{OthersCPUNs: -1, StealNs: -1}), NotApplicable, "nothing is pinned"},
		{"with a lock of its own", func(run *record.Run) { run.Header.SharedHost = true }, Blind, "a lock file of its own"},
		{"calm", rounds(calm(0), calm(1), calm(2)), Pass, "nobody else"},
		{"one busy round of three", rounds(calm(0), calm(1), busy(2)), Pass, "are left out whole"},
		{"two of three", rounds(calm(0), busy(1), busy(2)), Blind, "the machine was busy with something else in"},
		{"short of memory", func(run *record.Run) {
			rounds(calm(0))(run)
			stallNs := int64(200e6)
			block(t, run, liveFetch, 1).Host = &record.Host{WallNs: 1e9, MemoryStallNs: &stallNs}
		}, Blind, "waited for memory for 200 of 1000 ms"},
		{"hardly short of memory", func(run *record.Run) {
			rounds(calm(0))(run)
			stallNs := int64(20e6)
			block(t, run, liveFetch, 1).Host = &record.Host{WallNs: 1e9, MemoryStallNs: &stallNs}
		}, Pass, "nobody else"},
	} {
		run := goodRun()
		c.change(run)
		found := false
		for _, f := range Check(run) {
			if f.Guard == Host && f.Family == liveFetch {
				found = true
				if f.Outcome != c.outcome || !strings.Contains(f.Why, c.why) {
					t.Errorf("%s: %s, %q; want %s for %q", c.name, f.Outcome, f.Why, c.outcome, c.why)
				}
			}
		}
		if !found {
			t.Errorf("%s: the guard said nothing", c.name)
		}
	}
}
