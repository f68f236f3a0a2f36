package guards

import (
	"testing"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
)

// breakAll changes every batch of a family.
func breakAll(family string, change func(*record.Batch)) func(*testing.T, *record.Run) {
	return func(t *testing.T, run *record.Run) {
		for fork := range goodBlocks {
			b := block(t, run, family, fork)
			for i := range b.Batches {
				change(&b.Batches[i])
			}
		}
	}
}

func truths(family, outcome string, versions ...string) []string {
	var want []string
	for _, v := range versions {
		want = append(want, "known truth|"+family+"|"+v+"|"+outcome)
	}
	return want
}

func familyNamed(t *testing.T, run *record.Run, name string) *record.FamilyRun {
	t.Helper()
	for i := range run.Families {
		if run.Families[i].Name == name {
			return &run.Families[i]
		}
	}
	t.Fatalf("no family %s", name)
	return nil
}

func TestKnownTruth(t *testing.T) {
	checkBreakages(t, []breakage{
		{"records fetched twice", breakAll(liveFetch, func(b *record.Batch) { b.WireBytesIn *= 2 }), truths(liveFetch, "fail", "16", "17", "18"), "moves records more than once"},
		{"records sent twice in one request", breakAll(liveProduce, func(b *record.Batch) { b.WireBytesOut *= 2 }), truths(liveProduce, "fail", "11", "12", "13"), "moves records more than once"},
		{"records that nothing brought", breakAll(liveFetch, func(b *record.Batch) { b.WireBytesIn = 4000 }), truths(liveFetch, "fail", "16", "17", "18"), "did not come from the broker"},
		{"no fetch size", func(t *testing.T, run *record.Run) { familyNamed(t, run, liveFetch).Shape.FetchBytes = 0 }, truths(liveFetch, "blind", "16", "17", "18"), "how many bytes a fetch asks for"},
		{"records lost", breakAll(liveProduce, func(b *record.Batch) { b.Records, b.ExpectedRecords, b.StartOffset = 39, 39, b.StartOffset+1 }),
			truths(liveProduce, "fail", "11", "12", "13"), "4 requests carried 39 records where 40 belong"},
		{"records counted twice", breakAll(codecFetch, func(b *record.Batch) { b.Records, b.ExpectedRecords = 80, 80 }), truths(codecFetch, "fail", "16", "17", "18"), "at least 8 are needed"},
		{"a family row that asks for too much", func(t *testing.T, run *record.Run) { familyNamed(t, run, liveProduce).FewestRequests++ }, truths(liveProduce, "fail", "-1"), "takes at least 5 requests"},
		{"a family row by a client's word", func(t *testing.T, run *record.Run) { familyNamed(t, run, liveFetch).RecordsPerRequest = 5 }, truths(liveFetch, "fail", "-1"), "carries 5 records, and by its shape it carries 10"},
		{"a preflight that took part of a response", func(t *testing.T, run *record.Run) { block(t, run, liveFetch, 1).CellRows[1].RecordsPerRequest = 9 }, truths(liveFetch, "fail", "17"), "found 9 records"},
	})
}

// One record batch is taken out of each response at every version, by the reference, too, on which batches were sized: versions agree with each other,
// every batch brought what was expected of it, and the record itself says that no fewer requests could do. Only the shape knows better.
func TestOneBatchOfAResponseAtEveryVersion(t *testing.T) {
	const fetchBytes = 64 << 10 // 58 batches of 1,111 bytes
	checkBreakages(t, []breakage{{"one batch of each response", func(t *testing.T, run *record.Run) {
		familyNamed(t, run, liveFetch).Shape.FetchBytes = fetchBytes
		breakAll(liveFetch, func(b *record.Batch) { b.WireBytesIn = goodRequests * (fetchBytes + 78) })(t, run)
	}, truths(liveFetch, "fail", "-1", "16", "17", "18"), "carries 10 records, and by its shape it carries 580"}})

	run := goodRun()
	f := familyNamed(t, run, liveFetch)
	f.Shape.FetchBytes = fetchBytes
	const want = "a batch took 4 requests for 40 records where 1 can carry them: each holds 580 by its shape"
	if why := truthOf(run, *f).fault(f.BlockRuns[0].Batches[0]); len(why) < len(want) || why[:len(want)] != want {
		t.Errorf("%q, want %q", why, want)
	}
}

func TestRequestsBesideTheAPIUnderTest(t *testing.T) {
	// beside adds frames of another API to a cell of a block at its end.
	beside := func(family string, cell int, key int16, n int64) func(*testing.T, *record.Run) {
		return func(t *testing.T, run *record.Run) {
			cells := block(t, run, family, 1).Close.Worker.Cells
			for i := range cells {
				if cells[i].Cell == cell {
					cells[i].Frames = append(cells[i].Frames, driver.Frames{Key: key, Version: 12, Count: n}) // Metadata as all clients of goodRun have it
				}
			}
		}
	}
	forMinutes := func(n int64, family string, then func(*testing.T, *record.Run)) func(*testing.T, *record.Run) {
		return func(t *testing.T, run *record.Run) {
			block(t, run, family, 1).Host = &record.Host{WallNs: n * 60e9}
			then(t, run)
		}
	}
	checkBreakages(t, []breakage{
		{"one metadata refresh", beside(liveFetch, 1, keyMetadata, 1), nil, ""},
		{"metadata with every batch", beside(liveFetch, 1, keyMetadata, goodRounds), truths(liveFetch, "fail", "17"), "6 Metadata requests"},
		{"as many in five minutes", forMinutes(5, liveFetch, beside(liveFetch, 1, keyMetadata, goodRounds)), nil, ""},
		{"offsets asked for by the client", beside(liveProduce, 0, keyListOffsets, 1), truths(liveProduce, "fail", "11"), "1 ListOffsets requests"},
		{"telemetry that is switched off", beside(liveFetch, 2, keyPushTelemetry, 1), truths(liveFetch, "fail", "18"), "PushTelemetry"},
		{"telemetry as shipped", beside(sanityFetch, 0, keyPushTelemetry, 1), nil, ""},
		{"another API by number", beside(liveFetch, 2, 60, 1), truths(liveFetch, "fail", "18"), "API 60"},
		{"offsets asked for by the worker", beside(liveProduce, -1, keyListOffsets, 500), nil, ""},
		{"fetches of the worker", beside(liveProduce, -1, 1, 2), truths(liveProduce, "fail", "-1"), "2 Fetch requests"},
	})
}
