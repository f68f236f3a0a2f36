package verdict

import (
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"protocolbench/internal/record"
	"protocolbench/internal/synthetic"
	"protocolbench/seed"
)

// hostRounds gives every round of a run a reading of the host, busy in a share of them, by chance.
func hostRounds(run *record.Run, share float64) {
	r := seed.Stream(run.Header.Seed, "busy rounds")
	for i := range run.Families {
		for k := range run.Families[i].BlockRuns {
			b := &run.Families[i].BlockRuns[k]
			for number := range b.Orders {
				h := record.HostRound{Where: b.Where, Round: number, WallNs: 200e6}
				if r.Float64() < share {
					h.OthersCPUNs = 100e6
				}
				b.Rounds = append(b.Rounds, h)
			}
		}
	}
}

// Busy rounds are left out whole, so every version loses as many, and each place in the round as well as chance has it.
func TestBusyRoundsAreLeftOutAtEqualRates(t *testing.T) {
	w := synthetic.Clean(3)
	w.Profile = "standard"
	run := w.Run()
	hostRounds(run, 0.2)
	s := samplesOf(run.Families[0])
	if s.busy == 0 || s.rounds+s.busy != 12*18 {
		t.Fatalf("%d rounds and %d busy ones of %d", s.rounds, s.busy, 12*18)
	}
	byCell, byPlace := map[int]int{}, map[[2]int]int{}
	for _, f := range s.forks {
		for _, round := range f.rounds {
			for place, cell := range round.order {
				byCell[cell]++
				byPlace[[2]int{cell, place}]++
			}
		}
	}
	for cell, n := range byCell {
		if n != s.rounds {
			t.Errorf("cell %d has %d of %d rounds", cell, n, s.rounds)
		}
	}
	expected := float64(s.rounds) / 18
	var chi float64
	for cell := range 18 {
		for place := range 18 {
			d := float64(byPlace[[2]int{cell, place}]) - expected
			chi += d * d / expected
		}
	}
	if p := (distuv.ChiSquared{K: 17 * 17}).Survival(chi); p < 0.001 {
		t.Errorf("places of the rounds that are left: chi-square %.0f, p %.4f", chi, p)
	}
	f := Judge(run, nil, Options{}).Families[0]
	if f.Cells[3].Verdict != NotSlower || !strings.Contains(f.Warnings[0].Text, "left out because the machine was busy") {
		t.Errorf("%+v, %+v", f.Cells[3], f.Warnings)
	}
}

// A version that costs twice as much in busy rounds, and says so in its own switches, is judged by the others.
func TestAWorkerCannotMakeARoundBusy(t *testing.T) {
	w := synthetic.Clean(4)
	w.Profile = "standard"
	w.Cost = func(version int) float64 {
		if version == 9 {
			return 1.3
		}
		return 1
	}
	run := w.Run()
	hostRounds(run, 0)
	for i := range run.Families[0].BlockRuns {
		for k := range run.Families[0].BlockRuns[i].Batches {
			run.Families[0].BlockRuns[i].Batches[k].InvoluntarySwitches = 1000
		}
	}
	if c := cellOf(Judge(run, nil, Options{}).Families[0], 9); c.Verdict != Slower {
		t.Errorf("v9 shed its rounds: %+v", c)
	}
}

func TestTooBusyIsUnresolvable(t *testing.T) {
	run := synthetic.Clean(5).Run()
	hostRounds(run, 0.6)
	v := Judge(run, nil, Options{})
	if c := v.Families[0].Cells[3]; c.Verdict != Unresolvable || !strings.Contains(c.Why, "busy with something else") || v.ExitCode != ExitInconclusive {
		t.Errorf("%+v, exit %d", c, v.ExitCode)
	}
}
