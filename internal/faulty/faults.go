package faulty

import (
	"protocolbench/internal/driver"
)

// Names of faults.
const (
	Unpinned       = "unpinned"              // the oldest version's client is left alone, under its label
	LiesOfFrames   = "lies-of-its-frames"    // another version leaves at the oldest, and both its count of frames and its word say that it doesn't
	LiesOfAnswers  = "lies-of-its-answers"   // another version leaves at the oldest, and its word says that it doesn't; its count of frames is right
	DropsRecord    = "drops-a-record"        // of each batch at the oldest version
	RepeatsRecord  = "repeats-a-record"      // the same
	SendsFewer     = "sends-a-record-less"   // Produce at the oldest version
	OneBatch       = "asks-batch-by-batch"   // reads one record batch per response, at every version
	Allocates      = "allocates-more"        // at the oldest version, once per request
	HalvesCPU      = "halves-cpu"            // says half the CPU that its batches took
	IgnoresPlant   = "ignores-its-plant"     // the canary burns nothing
	SlowCell       = "slow-cell="            // the cell of that number burns CPU after each request
	Keeps          = "keeps-what-it-reads"   // memory grows
	OtherMetadata  = "asks-other-metadata"   // at the oldest version, in every batch
	OlderThanAlone = "negotiates-an-older"   // left alone it takes Fetch v4
	OldFormat      = "fetches-an-old-format" // left alone it takes Fetch v3, for which the broker converts
)

const (
	oldestFetch   = 4
	oldestProduce = 3
	keyMetadata   = 3
	// oldestMetadata of those that clients with topic ids don't use.
	oldestMetadata = 9
	// slowSpins is some 200 us, as much again as a request of 64 KiB costs.
	slowSpins = 200_000
	// keptBytes per request: over a block of tier 2 more than any buffer grows to.
	keptBytes = 2 << 20
)

var (
	kept [][]byte
	sink uint64
)

// faults is the table. What has to be picked by number gets the cell's.
func faults(number int) []fault {
	return append(pinFaults(), []fault{
		{name: Unpinned, wrong: oldest, open: func(o *driver.Open) { o.Version = driver.Unpinned }},
		{name: LiesOfFrames, wrong: oldestFetched, open: later, answered: sayPinned, counted: countPinned},
		{name: LiesOfAnswers, wrong: oldestFetched, open: later, answered: sayPinned},
		{name: DropsRecord, wrong: oldest, finish: func(b *driver.Batched, o driver.Open) {
			b.Records--
			b.Bytes -= int64(o.Shape.ValueBytes)
		}},
		{name: RepeatsRecord, wrong: oldest, finish: func(b *driver.Batched, o driver.Open) {
			b.Records++
			b.Bytes += int64(o.Shape.ValueBytes)
		}},
		{name: SendsFewer, wrong: func(o driver.Open) bool { return oldest(o) && o.API == "Produce" }, open: func(o *driver.Open) { o.Shape.RecordsPerBatch-- }},
		// A client that can't tell one batch from the next needs a response for each; with as little asked for as one batch has, ours does the same.
		{name: OneBatch, wrong: func(o driver.Open) bool { return o.Shape.FetchBytes > 0 }, times: batchesPerResponse, open: func(o *driver.Open) { o.Shape.FetchBytes /= batchesPerResponse }},
		{name: Allocates, wrong: oldest, run: func() { kept = append(kept[:0], make([]byte, 64)) }},
		{name: HalvesCPU, answer: func(r *driver.Response) {
			if r.Batched != nil {
				r.Batched.CPUNs /= 2
			}
		}},
		{name: IgnoresPlant, request: func(r *driver.Request) {
			if r.Plant != nil {
				r.Plant.CPUNsPerRequest = 0
			}
		}},
		{name: SlowCell, wrong: func(o driver.Open) bool { return o.Cell == number }, run: func() { spin() }},
		{name: Keeps, run: func() {
			block := make([]byte, keptBytes)
			for i := 0; i < len(block); i += 4096 {
				block[i] = 1
			}
			kept = append(kept, block)
		}},
		keepsFromV7(),
		{name: OtherMetadata, wrong: oldest, frames: func(batches int64) driver.Frames {
			return driver.Frames{Key: keyMetadata, Version: oldestMetadata, Count: batches}
		}},
		{name: OlderThanAlone, wrong: aloneFetch, open: func(o *driver.Open) { o.Version = oldestFetch }},
		{name: OldFormat, wrong: aloneFetch, open: func(o *driver.Open) { o.Version = oldestFetch - 1 }},
	}...)
}

// batchesPerResponse is how many record batches the responses have that OneBatch takes apart (Fetch of 4 KiB: three of ten records).
const batchesPerResponse = 3

func oldest(o driver.Open) bool {
	return o.Tier == 1 && (o.API == "Fetch" && o.Version == oldestFetch || o.API == "Produce" && o.Version == oldestProduce)
}

func aloneFetch(o driver.Open) bool {
	return o.Tier == 2 && o.API == "Fetch" && o.Version == driver.Unpinned
}

func spin() {
	for i := range uint64(slowSpins) {
		sink = sink*6364136223846793005 + i
	}
}
