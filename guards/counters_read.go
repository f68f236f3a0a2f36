package guards

import (
	"cmp"
	"math"
	"slices"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
)

// usual is what one counter says of a version over all its clients and blocks: the value that comes most often, since a mean is one that nobody counted.
type usual struct {
	value float64
	times int // how often it was counted; 0: none
	// agreed: more than half of them, and at least two, are this very value.
	agreed bool
	all    bool // there is no other value
}

func usualOf(xs []float64) usual {
	u := usual{times: len(xs)}
	slices.Sort(xs)
	most := 0
	for i := 0; i < len(xs); {
		next := i
		for next < len(xs) && xs[next] == xs[i] {
			next++
		}
		if next-i > most {
			most, u.value = next-i, xs[i]
		}
		i = next
	}
	u.agreed, u.all = most > 1 && 2*most > len(xs), most == len(xs)
	if most == 1 && len(xs) > 1 {
		u.value = xs[len(xs)/2] // no two are alike
	}
	return u
}

// versionCounters are a version's counters, each for one request and its response. -1 is unknown.
type versionCounters struct {
	version                     int
	requests, records           usual // of a batch
	requestBytes, responseBytes usual
	shortest, longest           int // request frames of all batches
	allocs, allocBytes          usual
	steadyRequests              int // of one steady pass: what strays into it is spread over so many
	reads, segmentsIn           float64
}

// countersOf reads the counters of a version.
func countersOf(f record.FamilyRun, version int) versionCounters {
	c := versionCounters{version: version}
	cells := map[int]bool{}
	for _, cell := range f.Cells {
		cells[cell.Cell] = cells[cell.Cell] || cell.Version == version
	}
	c.readBatches(f, cells)
	c.readSteadies(f, cells)
	c.reads, c.segmentsIn = receivedPerResponse(f, cells)
	return c
}

func (c *versionCounters) readBatches(f record.FamilyRun, cells map[int]bool) {
	var requests, records, frames, in []float64
	for _, b := range f.BlockRuns {
		for _, batch := range b.Batches {
			n := requestsOf(f.Family, batch)
			if !cells[batch.Cell] || n <= 0 {
				continue
			}
			requests, records = append(requests, float64(n)), append(records, float64(batch.Records))
			shortest, longest := requestLengths(f.Family, batch, n)
			frames, in = append(frames, float64(longest)), append(in, float64(batch.WireBytesIn)/float64(n))
			if c.shortest == 0 || shortest < c.shortest {
				c.shortest = shortest
			}
			c.longest = max(c.longest, longest)
		}
	}
	c.requests, c.records, c.requestBytes, c.responseBytes = usualOf(requests), usualOf(records), usualOf(frames), usualOf(in)
}

// requestLengths are those of a batch's shortest and longest request. On a live broker requests go on through the content, and other records compress to other
// lengths: there it is the mean of the batch, since all batches send the same ones. A worker that says no frames has no such mean either.
func requestLengths(f record.Family, b record.Batch, requests int) (shortest, longest int) {
	if f.API == produceAPI && f.Tier > 0 && f.Shape.Compressed() && b.MaxFrame > 0 {
		mean := int(math.Round(float64(b.WireBytesOut) / float64(requests)))
		return mean, mean
	}
	return b.MinFrame, b.MaxFrame
}

func (c *versionCounters) readSteadies(f record.FamilyRun, cells map[int]bool) {
	var allocs, sizes []float64
	for _, b := range f.BlockRuns {
		for _, s := range b.Steadies {
			if !cells[s.Cell] || s.Requests <= 0 {
				continue
			}
			allocs, sizes = append(allocs, float64(s.Allocs)/float64(s.Requests)), append(sizes, float64(s.AllocBytes)/float64(s.Requests))
			if c.steadyRequests == 0 || s.Requests < c.steadyRequests {
				c.steadyRequests = s.Requests
			}
		}
	}
	c.allocs, c.allocBytes = usualOf(allocs), usualOf(sizes)
}

// receivedPerResponse gives the reads and the TCP data segments that a response took, as the median over clients and blocks: both are the kernel's and
// the broker's doing, too, and at 1 MiB no two blocks have the same.
func receivedPerResponse(f record.FamilyRun, cells map[int]bool) (reads, segmentsIn float64) {
	var allReads, allSegments []float64
	for _, b := range f.BlockRuns {
		if !bracketed(b) {
			continue
		}
		for cell, wanted := range cells {
			before, ok1 := snapshotOf(b.Open, cell)
			after, ok2 := snapshotOf(b.Close, cell)
			requests := float64(framesIn(after, f.Key) - framesIn(before, f.Key))
			if !wanted || !ok1 || !ok2 || requests <= 0 {
				continue
			}
			if after.Reads > 0 {
				allReads = append(allReads, float64(after.Reads-before.Reads)/requests)
			}
			if before.DataSegsIn >= 0 && after.DataSegsIn >= before.DataSegsIn {
				allSegments = append(allSegments, float64(after.DataSegsIn-before.DataSegsIn)/requests)
			}
		}
	}
	return middle(allReads), middle(allSegments)
}

// middle is a median that was counted, of several the lower one; -1 where nothing was.
func middle(xs []float64) float64 {
	if len(xs) == 0 {
		return -1
	}
	slices.SortFunc(xs, cmp.Compare)
	return xs[(len(xs)-1)/2]
}

func framesIn(c driver.CellSnapshot, key int16) (frames int64) {
	for _, f := range c.Frames {
		if f.Key == key {
			frames += f.Count
		}
	}
	return frames
}
