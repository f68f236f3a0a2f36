package schedule

import "time"

// Costs are what a block costs besides its batches. Estimates only: nothing but the time printed by --list
// and at the start of a run depends on them.
type Costs struct {
	WorkerStart  time.Duration // from exec to hello
	PerBlock     time.Duration // topic, snapshots, bracket, hashes' share
	PerCell      time.Duration // open, preflight, steady pass, hash, close
	WallPerCPU   float64       // wall time of a batch per CPU time of it: the rest is waiting for the broker
	PerBatch     time.Duration // protocol, collection and settling between batches
	WarmRounds   int           // usual number: two windows
	WarmFraction float64       // length of a warm-up batch as a part of a counted one
}

// CostsOf gives the estimates with a broker (live) or without, taken from the prototypes' timings on a shared 2-core machine
// (147 cells at 1 s of CPU in 3 draws took 20 minutes). Records have the blocks' real times to correct them by.
func CostsOf(live bool) Costs {
	c := Costs{WorkerStart: 50 * time.Millisecond, PerBlock: 50 * time.Millisecond, PerCell: 25 * time.Millisecond,
		WallPerCPU: 1.02, PerBatch: time.Millisecond, WarmRounds: 2 * WarmWindow, WarmFraction: 0.25}
	if live {
		c.PerBlock, c.PerCell = 400*time.Millisecond, 50*time.Millisecond
		c.WallPerCPU, c.PerBatch = 1.6, 3*time.Millisecond
	}
	return c
}

// BlockTime is the expected wall time of one block: one family in one fork. rounds are those of one fork.
func BlockTime(cells, rounds int, batchTarget time.Duration, live bool) time.Duration {
	return CostsOf(live).blockTime(cells, rounds, batchTarget)
}

func (c Costs) blockTime(cells, rounds int, batchTarget time.Duration) time.Duration {
	batch := time.Duration(float64(batchTarget) * c.WallPerCPU)
	counted := time.Duration(rounds*cells) * (batch + c.PerBatch)
	warm := time.Duration(c.WarmRounds*cells) * (time.Duration(float64(batch)*c.WarmFraction) + c.PerBatch)
	return c.WorkerStart + c.PerBlock + time.Duration(cells)*c.PerCell + warm + counted
}
