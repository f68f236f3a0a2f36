package guards

import (
	"slices"
	"testing"

	"protocolbench/internal/driver"
	"protocolbench/internal/measure"
	"protocolbench/internal/record"
)

// Facts about what clients did: which version they sent, which records, how many requests, at which cost.

var pinChanges = []change{
	{name: "a batch decoded the responses of another version",
		// v11 has other lengths, so those of the one batch are as if v11 had been decoded under the label v12
		changes: inBatch(recordedCodecFetch, 1, func(b *record.Batch) { b.WireBytesIn -= int64(b.Requests) }),
		want:    of(Pin, Fail, at(recordedCodecFetch, 12)), why: "the numbers are of another layout"},
	{name: "the client's answer names another version", changes: inCell(recordedCodecFetch, 1, func(c *record.Cell) { c.AnswerVersion = 11 }),
		want: of(Pin, Fail, at(recordedCodecFetch, 12)), why: "the client itself says that its answer had v11"},
	{name: "the client doesn't say what it decoded", changes: inCell(recordedCodecFetch, 1, func(c *record.Cell) { c.AnswerVersion = -1 }),
		want: of(Pin, Blind, at(recordedCodecFetch, 12)), why: "doesn't say which version it decoded"},
	{name: "a request left at another version", changes: inBlock(recordedFetch, func(b *record.BlockRun) { sendOtherwise(b, 1, 1, 12, 11) }),
		want: of(Pin, Fail, at(recordedFetch, 12), at(recordedFetch, 11)), why: "left at another version"}, // the broker counted one v11 less, and one v12 more
	{name: "the same in memory", changes: inBlock(recordedCodecProduce, func(b *record.BlockRun) { sendOtherwise(b, 1, 0, 13, 12) }),
		want: of(Pin, Fail, at(recordedCodecProduce, 13)), why: "1 of 1008 requests left at another version"},
	{name: "the broker counted one request more", changes: inBlock(recordedProduce, func(b *record.BlockRun) { arriveMore(b, 13, 1) }),
		want: of(Pin, Fail, at(recordedProduce, 13)), why: "wire and broker contradict each other"},
	{name: "the broker counted one request of a version that nobody asked for", changes: inBlock(recordedProduce, func(b *record.BlockRun) { arriveMore(b, 9, 1) }),
		want: of(Pin, Fail, whole(recordedProduce)), why: "0 requests left and the broker counted 1"},
	{name: "the old broker counted one request less", changes: inBlock(recordedSanityFetch, func(b *record.BlockRun) { b.Close.Broker.Requests.Value-- }),
		want: of(Pin, Fail, whole(recordedSanityFetch)), why: "wire and broker contradict each other"},
	{name: "the broker's counter can't be read", changes: inBlock(recordedProduce, func(b *record.BlockRun) { b.Close.Broker.RequestsByVersion[13] = unreadable() }),
		want: of(Pin, Blind, at(recordedProduce, 13)), why: "the broker cannot confirm what arrived"},
	{name: "the broker didn't see the unpinned client", changes: inControl(1, record.ControlUnpinned, func(c *record.Control) { c.BrokerObjected = false }),
		want: of(Pin, Blind, at(recordedFetch, 11), at(recordedFetch, 12), at(recordedProduce, 12), at(recordedProduce, 13)), why: "was not seen by the broker"},
	{name: "a request of a batch was not on the wire", changes: inBatch(recordedFetch, 0, func(b *record.Batch) { b.WireRequests-- }),
		want: append(of(Pin, Fail, at(recordedFetch, 11)), of(KnownTruth, Fail, at(recordedFetch, 11))...), why: "requests are missing, repeated or left in flight",
		also: "so few requests can't carry the batch's records"},
}

// sendOtherwise has one request of a cell leave at another version.
func sendOtherwise(b *record.BlockRun, cell int, key, from, to int16) {
	for i := range b.Close.Worker.Cells {
		c := &b.Close.Worker.Cells[i]
		if c.Cell != cell {
			continue
		}
		for j := range c.Frames {
			if c.Frames[j].Key == key && c.Frames[j].Version == from {
				c.Frames[j].Count--
			}
		}
		c.Frames = append(c.Frames, driver.Frames{Key: key, Version: to, Count: 1})
	}
}

// arriveMore has the broker count more of a version.
func arriveMore(b *record.BlockRun, version int, more int64) {
	counter := b.Close.Broker.RequestsByVersion[version]
	counter.State, counter.Value = measure.Number, counter.Value+more
	b.Close.Broker.RequestsByVersion[version] = counter
}

var otherAPIsChanges = []change{
	{name: "one client asked for metadata at another version", changes: inBlock(recordedFetch, func(b *record.BlockRun) { sendOneMore(b, 1, keyMetadata, 9) }),
		want: of(OtherAPIs, Fail, whole(recordedFetch)), why: "Metadata v13 by v11, v12, v9, v13 by v12"},
	{name: "it did so while it was opened", changes: inBlock(recordedProduce, func(b *record.BlockRun) {
		openedWith(b.Open, 0, keyMetadata, 9)
		openedWith(b.Close, 0, keyMetadata, 9)
	}), want: of(OtherAPIs, Pass, whole(recordedProduce)), why: "before them, while clients were opened, it did"},
	{name: "one client in memory asked what the broker has at another version", changes: inBlock(recordedCodecProduce, func(b *record.BlockRun) { sendOneMore(b, 0, keyAPIVersions, 2) }),
		want: of(OtherAPIs, Fail, whole(recordedCodecProduce)), why: "ApiVersions"},
	{name: "a worker that counts no frames", changes: everywhere(recordedFetch, func(b *record.BlockRun) { countNoFrames(b.Open); countNoFrames(b.Close) }),
		want: append(of(OtherAPIs, Blind, whole(recordedFetch)), of(Pin, Fail, at(recordedFetch, 11), at(recordedFetch, 12))...), why: "counts no frames",
		also: "it says that it can count them, and none left where the broker counted some"},
}

func sendOneMore(b *record.BlockRun, cell int, key, version int16) {
	for i := range b.Close.Worker.Cells {
		if c := &b.Close.Worker.Cells[i]; c.Cell == cell {
			c.Frames = append(c.Frames, driver.Frames{Key: key, Version: version, Count: 1})
		}
	}
}

// openedWith has a client use another version of an API from its begin on.
func openedWith(e *record.Evidence, cell int, key, version int16) {
	for i := range e.Worker.Cells {
		for j := range e.Worker.Cells[i].Frames {
			if f := &e.Worker.Cells[i].Frames[j]; e.Worker.Cells[i].Cell == cell && f.Key == key {
				f.Version = version
			}
		}
	}
}

func countNoFrames(e *record.Evidence) {
	for i := range e.Worker.Cells {
		e.Worker.Cells[i].Frames = nil
	}
}

var dataChanges = []change{
	{name: "a batch has another byte sum", changes: inBatch(recordedCodecFetch, 0, func(b *record.Batch) { b.ByteSum++ }), want: of(Data, Fail, at(recordedCodecFetch, 11)), why: "byte sum"},
	{name: "a batch ends with another key", changes: inBatch(recordedFetch, 1, func(b *record.Batch) { b.LastKey = b.FirstKey }), want: of(Data, Fail, at(recordedFetch, 12)), why: "ended with key"},
	{name: "a batch's offsets have a gap", changes: inBatch(recordedProduce, 0, func(b *record.Batch) { b.EndOffset++ }), want: of(Data, Fail, at(recordedProduce, 12)), why: "span of offsets"},
	{name: "a full hash is another", changes: inCell(recordedSanityFetch, 0, func(c *record.Cell) { c.Hash++ }), want: of(Data, Fail, whole(recordedSanityFetch)), why: "full hash"},
	{name: "a hash of no records", changes: inCell(recordedCodecProduce, 0, func(c *record.Cell) { c.HashRecords = 0 }), want: of(Data, Fail, at(recordedCodecProduce, 12)), why: "no records"},
	{name: "the broker stored other records of a version", changes: inCell(recordedProduce, 0, func(c *record.Cell) { c.Stored.Hash++ }), want: of(Data, Fail, at(recordedProduce, 12)), why: "not those made from the seed"},
	{name: "the broker stored a record less of a version", changes: inCell(recordedProduce, 1, func(c *record.Cell) { c.Stored.Records-- }), want: of(Data, Fail, at(recordedProduce, 13)), why: "loses or repeats records"},
	{name: "a version was not read back", changes: inCell(recordedProduce, 0, func(c *record.Cell) { c.Stored = nil }), want: of(Data, Blind, at(recordedProduce, 12)), why: "was not read back"},
	{name: "the topic's last records are others", changes: inBlock(recordedProduce, func(b *record.BlockRun) { b.Close.Broker.ReadBack.Hash++ }), want: of(Data, Fail, whole(recordedProduce)), why: "what the client sent is wrong"},
	{name: "the old broker's topic was not read back", changes: inBlock(recordedSanityProduce, func(b *record.BlockRun) { b.Close.Broker.ReadBack = nil }),
		want: of(Data, Blind, whole(recordedSanityProduce)), why: "what the broker stored was not read back"},
	{name: "the worker counts what is expected of it", changes: inControl(2, record.ControlMissingRecord, echo),
		want: of(Data, Blind, whole(recordedSanityFetch), whole(recordedSanityProduce)), why: "echo of what is expected"},
	{name: "nothing was expected of a batch", changes: inBatch(recordedCodecProduce, 0, func(b *record.Batch) { b.ExpectedRecords = 0 }), want: of(Data, Blind, at(recordedCodecProduce, 12)), why: "nothing was expected"},
	{name: "a batch lacks its last record", changes: inBatch(recordedFetch, 0, func(b *record.Batch) { b.Records-- }),
		want: append(of(Data, Fail, at(recordedFetch, 11)), of(KnownTruth, Fail, at(recordedFetch, 11))...), why: "records 15079 where 15080 belong",
		also: "the batch's requests carry one more"},
}

var knownTruthChanges = []change{
	{name: "a batch came over the wire twice", changes: inBatch(recordedFetch, 0, func(b *record.Batch) { b.WireBytesIn *= 2 }), want: of(KnownTruth, Fail, at(recordedFetch, 11)), why: "moves records more than once"},
	{name: "a batch's bytes did not come over the wire", changes: inBatch(recordedProduce, 0, func(b *record.Batch) { b.WireBytesOut /= 2 }), want: of(KnownTruth, Fail, at(recordedProduce, 12)), why: "records did not come from the broker, or go to it"},
	{name: "a client takes one record batch out of its first response", changes: inCell(recordedFetch, 1, func(c *record.Cell) { c.RecordsPerRequest = 10 }),
		want: of(KnownTruth, Fail, at(recordedFetch, 12)), why: "it doesn't take out all"},
	{name: "batches were sized by what the client takes out", changes: inFamily(recordedCodecFetch, func(f *record.FamilyRun) { f.RecordsPerRequest = 10 }),
		want: of(KnownTruth, Fail, whole(recordedCodecFetch)), why: "batches were sized by something else"},
	{name: "a batch needs less requests than its family says", changes: inFamily(recordedCodecFetch, func(f *record.FamilyRun) { f.FewestRequests++ }), want: of(KnownTruth, Fail, whole(recordedCodecFetch)), why: "takes at least"},
	{name: "a client asks for metadata all the time", changes: inBlock(recordedFetch, func(b *record.BlockRun) { sendMore(b, 0, keyMetadata, 5) }), want: of(KnownTruth, Fail, at(recordedFetch, 11)), why: "5 Metadata requests"},
	{name: "the worker itself fetches between batches", changes: inBlock(recordedProduce, func(b *record.BlockRun) { sendOneMore(b, -1, 1, 12) }), want: of(KnownTruth, Fail, whole(recordedProduce)), why: "the worker's own connections"},
	{name: "the shape doesn't say how much is fetched", changes: inFamily(recordedFetch, func(f *record.FamilyRun) { f.Shape.FetchBytes = 0 }),
		want: append(of(KnownTruth, Blind, at(recordedFetch, 11), at(recordedFetch, 12)), of(Counters, Fail, at(recordedFetch, 12))...), why: "the shape doesn't say",
		also: "how much longer a compact response is depends on how long it is"},
}

func sendMore(b *record.BlockRun, cell int, key int16, more int64) {
	for i := range b.Close.Worker.Cells {
		for j := range b.Close.Worker.Cells[i].Frames {
			if f := &b.Close.Worker.Cells[i].Frames[j]; b.Close.Worker.Cells[i].Cell == cell && f.Key == key {
				f.Count += more
				return
			}
		}
	}
}

var countersChanges = []change{
	{name: "a version allocates once more for each record", changes: everywhere(recordedCodecFetch, func(b *record.BlockRun) { allocateMore(b, []int{0}, 100, 0) }),
		want: of(Counters, Fail, at(recordedCodecFetch, 11)), why: "1.00 per record are not"},
	{name: "the newest version allocates more bytes", changes: everywhere(recordedProduce, func(b *record.BlockRun) { allocateMore(b, []int{1, 2, 3, 4}, 0, 4096) }),
		want: of(Counters, Fail, at(recordedProduce, 13)), why: "bytes allocated for a request"},
	{name: "a version's requests are a byte longer", changes: everywhere(recordedFetch, func(b *record.BlockRun) { lengthen(b, 0) }), want: of(Counters, Fail, at(recordedFetch, 12)), why: "bytes in a request beside v11"},
	{name: "a version reads its responses in small pieces", changes: everywhere(recordedFetch, func(b *record.BlockRun) { readMore(b, 0, 10_000) }), want: of(Counters, Fail, at(recordedFetch, 11)), why: "reads for a response"},
	{name: "a version's allocations were not counted", changes: everywhere(recordedCodecFetch, func(b *record.BlockRun) {
		b.Steadies = slices.DeleteFunc(b.Steadies, func(s record.Steady) bool { return s.Cell == 0 })
	}), want: of(Counters, Blind, at(recordedCodecFetch, 11)), why: "has no steady pass"},
	{name: "the worker doesn't say how long requests are", changes: everywhere(recordedCodecProduce, func(b *record.BlockRun) {
		for i := range b.Batches {
			b.Batches[i].MinFrame, b.Batches[i].MaxFrame = 0, 0
		}
	}), want: of(Counters, Blind, at(recordedCodecProduce, 12), at(recordedCodecProduce, 13)), why: "how long its requests are"},
	{name: "one request of a batch is longer than the others", changes: inBatch(recordedProduce, 0, func(b *record.Batch) { b.MaxFrame++ }),
		want: append(of(Counters, Fail, at(recordedProduce, 12)), of(Data, Fail, at(recordedProduce, 12))...), why: "where all are equal",
		also: "each batch is asked by itself, too: of produced records all requests are alike"},
}

func allocateMore(b *record.BlockRun, cells []int, times, bytes uint64) {
	for i := range b.Steadies {
		if s := &b.Steadies[i]; slices.Contains(cells, s.Cell) {
			s.Allocs += times * uint64(s.Requests)
			s.AllocBytes += bytes * uint64(s.Requests)
		}
	}
}

func lengthen(b *record.BlockRun, cell int) {
	for i := range b.Batches {
		if batch := &b.Batches[i]; batch.Cell == cell {
			batch.MinFrame++
			batch.MaxFrame++
		}
	}
}

func readMore(b *record.BlockRun, cell int, more int64) {
	for i := range b.Close.Worker.Cells {
		if c := &b.Close.Worker.Cells[i]; c.Cell == cell {
			c.Reads += more
		}
	}
}

var negotiationChanges = []change{
	{name: "an older version than both sides have", changes: everywhere(recordedSanityFetch, func(b *record.BlockRun) { negotiate(b, 1, 7, 6); sayVersion(b, 6) }),
		want: of(Negotiation, Fail, whole(recordedSanityFetch)), why: "v7 is the newest that both sides have"},
	{name: "an older version by a client that says nothing", changes: everywhere(recordedSanityProduce, func(b *record.BlockRun) { negotiate(b, 0, 5, 4); sayVersion(b, -1) }),
		want: of(Negotiation, Fail, whole(recordedSanityProduce)), why: "v5 is the newest that both sides have"},
	{name: "the client says one version and sends another", changes: everywhere(recordedSanityFetch, func(b *record.BlockRun) { negotiate(b, 1, 7, 6) }),
		want: of(Negotiation, Fail, whole(recordedSanityFetch)), why: "most of its requests left at v6"},
	{name: "the client says one version and later another", changes: inBlock(recordedSanityFetch, func(b *record.BlockRun) { b.CellRows[len(b.CellRows)-1].AnswerVersion = 6 }),
		want: of(Negotiation, Fail, whole(recordedSanityFetch)), why: "negotiated Fetch v7, and later v6"},
	{name: "another broker's answer", changes: inPlan(2, produceAPI, func(p *record.Plan) { p.Advertised[1] = 7 }), want: of(Negotiation, Fail, whole(recordedSanityProduce)), why: "it is another broker"},
	{name: "nobody says what was negotiated", changes: func(t *testing.T, run *record.Run) {
		everywhere(recordedSanityProduce, func(b *record.BlockRun) { countNoFrames(b.Open); countNoFrames(b.Close); sayVersion(b, -1) })(t, run)
	}, want: slices.Concat(of(Negotiation, Blind, whole(recordedSanityProduce)), of(Pin, Fail, whole(recordedSanityProduce)), of(OtherAPIs, Blind, whole(recordedSanityProduce))),
		why: "neither the client nor the wire", also: "what isn't counted can't be compared with what the broker counted"},
}

// negotiate has a client send another version from its begin on.
func negotiate(b *record.BlockRun, key, from, to int16) {
	for _, e := range []*record.Evidence{b.Open, b.Close} {
		for i := range e.Worker.Cells {
			for j := range e.Worker.Cells[i].Frames {
				if f := &e.Worker.Cells[i].Frames[j]; f.Key == key && f.Version == from {
					f.Version = to
				}
			}
		}
	}
}

func sayVersion(b *record.BlockRun, version int) {
	for i := range b.CellRows {
		b.CellRows[i].AnswerVersion = version
	}
}

var memoryChanges = []change{
	{name: "the client keeps what it fetched", changes: everywhere(recordedSanityFetch, func(b *record.BlockRun) { b.Close.Worker.HeapLiveBytes += 64 << 20 }), want: of(Memory, Fail, whole(recordedSanityFetch)), why: "it keeps what it should let go"},
	{name: "the client keeps what it sent", changes: everywhere(recordedSanityProduce, func(b *record.BlockRun) { b.Close.Worker.HeapLiveBytes += 64 << 20 }), want: of(Memory, Fail, whole(recordedSanityProduce)), why: "it keeps what it should let go"},
	{name: "one reading of the heap", changes: everywhere(recordedSanityFetch, func(b *record.BlockRun) { b.Close.Worker.HeapLiveBytes = 0 }), want: of(Memory, Blind, whole(recordedSanityFetch)), why: "no worker process gave two readings"},
}
