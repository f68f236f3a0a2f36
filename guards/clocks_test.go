package guards

import (
	"testing"

	"protocolbench/internal/record"
)

func TestClocks(t *testing.T) {
	one := func(outcome string) []string { return []string{"clocks|" + codecFetch + "|-1|" + outcome} }
	eachBatch := func(run *record.Run, change func(*record.Batch)) {
		for b := range run.Families[0].BlockRuns {
			for i := range run.Families[0].BlockRuns[b].Batches {
				change(&run.Families[0].BlockRuns[b].Batches[i])
			}
		}
	}
	checkBreakages(t, []breakage{
		{"a worker that halves its CPU everywhere", func(_ *testing.T, run *record.Run) {
			eachBatch(run, func(b *record.Batch) { b.CPUNs /= 2 })
			for _, b := range run.Families[0].BlockRuns {
				b.Open.Worker.CPUNs, b.Close.Worker.CPUNs = b.Open.Worker.CPUNs/2, b.Close.Worker.CPUNs/2
			}
		}, one("fail"), "over a block"},
		{"a worker that halves the CPU of its batches only", func(_ *testing.T, run *record.Run) {
			eachBatch(run, func(b *record.Batch) { b.CPUNs /= 2 })
		}, one("fail"), "planted slowdown"},
		{"too few pairs of canary and reference to find that", func(_ *testing.T, run *record.Run) {
			f := &run.Families[0]
			for i := range f.BlockRuns {
				var kept []record.Batch
				for _, b := range f.BlockRuns[i].Batches {
					if b.Round == 0 {
						kept = append(kept, b)
					}
				}
				f.BlockRuns[i].Batches = kept
			}
			f.Rounds = 1
			for i := range f.BlockRuns {
				f.BlockRuns[i].Orders = f.BlockRuns[i].Orders[:1]
			}
		}, append(one("blind"), "memory|"+codecFetch+"|16|blind", "memory|"+codecFetch+"|17|blind", "memory|"+codecFetch+"|18|blind"), "only 2 rounds"},
		{"a batch that claims more than the process used", func(t *testing.T, run *record.Run) {
			b := block(t, run, codecFetch, 1)
			b.Batches[7].CPUNs = b.Batches[7].OutsideCPUNs + 2*grainNs
		}, one("fail"), "a batch claims"},
		{"a batch that claims nothing", func(t *testing.T, run *record.Run) { block(t, run, codecFetch, 1).Batches[7].CPUNs = 0 }, one("fail"), "no CPU"},
		{"a block that is 3 % off", func(t *testing.T, run *record.Run) {
			b := block(t, run, codecFetch, 1)
			b.Close.OutsideCPUNs += (b.Close.OutsideCPUNs - b.Open.OutsideCPUNs) * 3 / 100
		}, one("fail"), "over a block"},
		{"batches that together claim more than the process used", func(t *testing.T, run *record.Run) {
			b := block(t, run, codecFetch, 1)
			b.Close.Worker.CPUNs, b.Close.OutsideCPUNs = b.Open.Worker.CPUNs+300_000_000, b.Open.OutsideCPUNs+300_000_000
		}, one("fail"), "together claim more"},
		{"no outside clock", func(t *testing.T, run *record.Run) { block(t, run, codecFetch, 0).Batches[3].OutsideCPUNs = -1 }, one("blind"), "from outside"},
		{"no outside clock at the bracket", func(t *testing.T, run *record.Run) { block(t, run, codecFetch, 0).Close.OutsideCPUNs = -1 }, one("blind"), "from outside"},
	})
}
