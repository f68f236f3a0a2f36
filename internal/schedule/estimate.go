package schedule

import "time"

// Costs are what a block costs besides its batches, in one tier. Estimates only: nothing but the time printed by --list
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

// CostsOf gives a tier's estimates, taken from the prototypes' timings on a shared 2-core machine (147 cells at 1 s of
// CPU in 3 draws took 20 minutes). Records have the block's real times to correct them by.
func CostsOf(tier int) Costs {
	c := Costs{WorkerStart: 50 * time.Millisecond, PerBlock: 50 * time.Millisecond, PerCell: 25 * time.Millisecond,
		WallPerCPU: 1.02, PerBatch: time.Millisecond, WarmRounds: 2 * WarmWindow, WarmFraction: 0.25}
	if tier > 0 {
		c.PerBlock, c.PerCell = 400*time.Millisecond, 50*time.Millisecond
		c.WallPerCPU, c.PerBatch = 1.6, 3*time.Millisecond
	}
	return c
}

// Work is one family as far as its time depends on it.
type Work struct {
	Tier        int
	Cells       int
	Rounds      int // per block
	Primes      int // batches of a round that count for no figure
	Blocks      int
	BatchTarget time.Duration
}

// EstimateBlock is the expected wall time of one block.
func EstimateBlock(w Work) time.Duration { return EstimateBlockAt(w, CostsOf(w.Tier)) }

// EstimateBlockAt is EstimateBlock with the caller's own costs, e.g. those of an earlier record.
func EstimateBlockAt(w Work, c Costs) time.Duration {
	batch := time.Duration(float64(w.BatchTarget) * c.WallPerCPU)
	counted := time.Duration(w.Rounds*(w.Cells+w.Primes)) * (batch + c.PerBatch)
	warm := time.Duration(c.WarmRounds*w.Cells) * (time.Duration(float64(batch)*c.WarmFraction) + c.PerBatch)
	return c.WorkerStart + c.PerBlock + time.Duration(w.Cells)*c.PerCell + warm + counted
}

// Estimate is the expected wall time of all blocks of a family, one after the other.
func Estimate(w Work) time.Duration { return time.Duration(w.Blocks) * EstimateBlock(w) }
