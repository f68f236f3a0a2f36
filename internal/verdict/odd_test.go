package verdict

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"protocolbench/guards"
	"protocolbench/internal/record"
	"protocolbench/seed"
)

// Records that a reader accepts, and that no run makes: nothing may panic, and verdict.json has to be JSON.
func TestOddRecordsAreJudged(t *testing.T) {
	simulates(t)
	for s := uint64(1); s <= 250; s++ {
		func() {
			var done []string
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("seed %d %v: panic %v", s, done, r)
				}
			}()
			w := looksWorld(s%5 + 1)
			w.Profile = []string{"quick", "standard"}[s%2]
			w.Tier = int(s/2) % 2
			run := w.Run()
			run.Header.Budget.Looks = 2
			f := &run.Families[0]
			r := seed.Stream(s, "fuzz")
			pick := func(n int) int { return int(r.Float64() * float64(n)) }
			if r.Float64() < .7 {
				w.LookAgain(f, []int{4 + pick(15)}, []int{16, 17})
			}
			for range 1 + pick(3) {
				k := pick(17)
				done = append(done, fmt.Sprint(k))
				b := &f.BlockRuns[pick(len(f.BlockRuns))]
				switch k {
				case 0:
					b.Batches = nil
				case 1:
					for i := range b.Batches {
						b.Batches[i].CPUNs = 1
					}
				case 2:
					for i := range f.BlockRuns {
						for k := range f.BlockRuns[i].Batches {
							f.BlockRuns[i].Batches[k].CPUNs = 7
						}
					}
				case 3:
					b.Batches[0].CPUNs = math.MaxInt64
				case 4:
					f.Cells = f.Cells[:2]
				case 5:
					f.BlockRuns = f.BlockRuns[:1+pick(len(f.BlockRuns))]
				case 6:
					if f.Look != nil {
						f.Look.Cells = f.Look.Cells[:pick(len(f.Look.Cells))]
					}
				case 7:
					if f.Look != nil {
						f.Look.Versions = []int{99, -1}
					}
				case 8:
					f.Look = nil
				case 9:
					f.Reference = 9
				case 10:
					for i := range f.BlockRuns {
						f.BlockRuns[i].Batches = f.BlockRuns[i].Batches[:min(len(f.BlockRuns[i].Batches), 18)]
					}
				case 11:
					f.Margin, f.PlantNsPerRequest = 0, 0
				case 12:
					b.Look = 2
				case 13:
					f.Cells = nil
				case 14:
					for i := range f.BlockRuns {
						f.BlockRuns[i].Draw = 0
					}
				case 15:
					for i := range b.Batches {
						b.Batches[i].Requests = 0
						b.Batches[i].LongestGapNs = math.MaxInt64
					}
				case 16:
					for i := range f.BlockRuns {
						for k := range f.BlockRuns[i].Batches {
							if x := &f.BlockRuns[i].Batches[k]; x.Cell == 3 {
								x.CPUNs = 1
							} else if x.Cell == 4 {
								x.CPUNs = math.MaxInt64 / 2
							}
						}
					}
				}
				if len(f.BlockRuns) == 0 {
					break
				}
			}
			v := Judge(run, guards.Check(run), Options{})
			if _, err := json.Marshal(v); err != nil {
				t.Errorf("seed %d %v: %v", s, done, err)
			}
		}()
	}
	run := &record.Run{Families: []record.FamilyRun{{Look: &record.Look{Taken: true}}}}
	if _, err := json.Marshal(Judge(run, guards.Check(run), Options{})); err != nil {
		t.Error(err)
	}
}
