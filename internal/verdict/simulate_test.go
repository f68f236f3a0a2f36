package verdict

import (
	"encoding/json"
	"math"
	"testing"

	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
	"protocolbench/seed"
)

// Quick runs of a clean client, eight families: at least 95 % have to pass, none may fail. On the machine of METHOD.md, and on one
// that is several times as noisy.
func TestCleanQuickRunsPass(t *testing.T) {
	simulates(t)
	for name, c := range map[string]struct{ noise, state float64 }{"usual": {0.01, 0.005}, "noisy": {0.04, 0.012}} {
		t.Run(name, func(t *testing.T) { cleanQuickRuns(t, c.noise, c.state) })
	}
}

func cleanQuickRuns(t *testing.T, noise, state float64) {
	const runs = 40
	passes, canaries, alarms, families := 0, 0, 0, 0
	worst := 0.0
	for i := range runs {
		w := quickWorld(uint64(1000 + i))
		w.families, w.noise, w.state = 8, noise, state
		v := judge(w)
		switch v.Verdict {
		case Pass:
			passes++
		case Fail:
			t.Errorf("seed %d: a clean client fails: %s", w.seed, v.Reason)
		default:
			t.Logf("seed %d: %s", w.seed, v.Reason)
		}
		for _, f := range v.Families {
			families++
			worst = max(worst, f.Floor)
			if !f.Canary.Seen {
				canaries++
			}
			if f.Position.P < rareAlpha {
				alarms++
			}
		}
	}
	t.Logf("%d of %d clean quick runs pass; of %d families %d canaries missed, %d with position p < %v; worst floor %.1f %%",
		passes, runs, families, canaries, alarms, rareAlpha, 100*worst)
	if passes < runs*95/100 {
		t.Errorf("%d of %d clean quick runs pass, want 95 %%", passes, runs)
	}
	if canaries > families/100 {
		t.Errorf("%d of %d canaries missed, want under 1 %%", canaries, families)
	}
}

// Whatever a record has in it, the verdict goes through JSON: no NaN, no infinity, no null list.
func TestVerdictIsAlwaysJSON(t *testing.T) {
	r := seed.Stream(1, "odd records")
	odd := []int64{0, -1, 1, math.MaxInt64, math.MinInt64, 1e9}
	for i := range 300 {
		w := quickWorld(uint64(i))
		w.versions = span(4, 4+int(r.Uint64()%4))
		if i%3 == 0 {
			w.profile = schedule.Standard
		}
		run := w.run()
		f := &run.Families[0]
		f.Margin = []float64{0, -1, 0.1, 1e300, math.SmallestNonzeroFloat64}[r.Uint64()%5]
		f.PlantNsPerRequest = odd[r.Uint64()%6]
		for range r.Uint64() % 40 {
			block := &f.BlockRuns[r.Uint64()%uint64(len(f.BlockRuns))]
			if len(block.Batches) == 0 {
				continue
			}
			b := &block.Batches[r.Uint64()%uint64(len(block.Batches))]
			v := odd[r.Uint64()%6]
			switch r.Uint64() % 8 {
			case 0:
				b.CPUNs = v
			case 1:
				b.Records = int(v)
			case 2:
				b.Requests, b.WireRequests = int(v), int(v)
			case 3:
				b.WallNs, b.BrokerCPUNs = v, v
			case 4:
				b.Cell = int(v)
			case 5:
				b.Position, b.Round = int(v), int(v)
			case 6:
				block.Batches = block.Batches[:r.Uint64()%uint64(len(block.Batches))]
			case 7:
				block.Open, block.Steadies = nil, nil
			}
		}
		mangle(r.Uint64(), run)
		v := Judge(run, nil, Options{Margin: float64(i % 2)})
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
		var back map[string]any
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
		for _, list := range []string{"brokers", "families", "sanity", "guards", "negotiated", "warnings"} {
			if back[list] == nil {
				t.Fatalf("record %d: %s is null", i, list)
			}
		}
		if v.Reason == "" || v.Verdict == "" {
			t.Fatalf("record %d: no verdict or no reason", i)
		}
	}
	if _, err := json.Marshal(Judge(&record.Run{}, nil, Options{})); err != nil {
		t.Fatal(err)
	}
}

func mangle(how uint64, run *record.Run) {
	f := &run.Families[0]
	switch how % 9 {
	case 0:
		f.Cells = nil
	case 1:
		f.BlockRuns = nil
	case 2:
		f.Cells = f.Cells[:1]
	case 3:
		for i := range f.BlockRuns {
			f.BlockRuns[i].Batches = f.BlockRuns[i].Batches[:min(len(f.Cells), len(f.BlockRuns[i].Batches))]
		}
	case 4:
		zero(f, func(b *record.Batch) { b.CPUNs = 0 })
	case 5:
		f.Tier = 2
	case 6:
		f.Reference = -1
	case 7:
		f.BlockRuns = f.BlockRuns[:1]
	}
}
