package guards

import (
	"testing"

	"protocolbench/internal/record"
)

func TestData(t *testing.T) {
	breakBatch := func(family string, change func(*record.Batch)) func(*testing.T, *record.Run) {
		return func(t *testing.T, run *record.Run) {
			b := block(t, run, family, 1)
			for i := range b.Batches {
				if b.Batches[i].Cell == 1 && b.Batches[i].Round == 2 {
					change(&b.Batches[i])
				}
			}
		}
	}
	onStored := func(family string, change func(*record.ReadBack)) func(*testing.T, *record.Run) {
		return func(t *testing.T, run *record.Run) { change(block(t, run, family, 1).CellRows[1].Stored) }
	}
	fetch, produce := []string{"data|" + liveFetch + "|17|fail"}, []string{"data|" + liveProduce + "|12|fail"}
	checkBreakages(t, []breakage{
		{"the last record dropped", breakBatch(liveFetch, func(b *record.Batch) { b.Records-- }),
			[]string{"data|" + liveFetch + "|17|fail", "known truth|" + liveFetch + "|17|fail"}, "records 39 where 40"},
		{"a poll too many", breakBatch(liveFetch, func(b *record.Batch) { b.Requests++ }), fetch, "completed requests 5 where 4"},
		{"bytes missing", breakBatch(liveFetch, func(b *record.Batch) { b.Bytes -= 80 }), fetch, "value bytes"},
		{"other content", breakBatch(liveFetch, func(b *record.Batch) { b.ByteSum++ }), fetch, "byte sum"},
		{"first record skipped", breakBatch(liveFetch, func(b *record.Batch) { b.FirstKey = "second" }), fetch, `"second" where "first"`},
		{"last record repeated", breakBatch(liveFetch, func(b *record.Batch) { b.LastKey = "last but one" }), fetch, "ended with key"},
		{"offsets with a hole", breakBatch(liveFetch, func(b *record.Batch) { b.EndOffset++ }), fetch, "span of offsets"},
		{"acknowledged and not stored", breakBatch(liveProduce, func(b *record.Batch) { b.EndOffset = b.StartOffset }), produce, "span of offsets of 0 where 40"},
		{"requests of different sizes", breakBatch(liveProduce, func(b *record.Batch) { b.MaxFrame++ }),
			[]string{produce[0], "counters|" + liveProduce + "|12|fail"}, "1200 to 1201 bytes"},
		{"nothing expected", breakBatch(codecFetch, func(b *record.Batch) { b.ExpectedRecords = 0 }), []string{"data|" + codecFetch + "|17|blind"}, "nothing was expected"},
		{"another hash", func(t *testing.T, run *record.Run) { block(t, run, codecFetch, 0).CellRows[2].Hash++ }, []string{"data|" + codecFetch + "|18|fail"}, "full hash"},
		{"a second hash that differs", func(t *testing.T, run *record.Run) {
			b := block(t, run, sanityFetch, 0)
			second := b.CellRows[0]
			second.Hash++
			b.CellRows = append(b.CellRows, second)
		}, []string{"data|" + sanityFetch + "|-1|fail"}, "full hash"},
		{"a hash of nothing", func(t *testing.T, run *record.Run) { block(t, run, codecFetch, 0).CellRows[2].HashRecords = 0 }, []string{"data|" + codecFetch + "|18|fail"}, "no records"},
		{"a worker that makes no hashes", func(t *testing.T, run *record.Run) {
			run.Header.Client.Abilities = []string{"frames"}
			block(t, run, codecFetch, 0).CellRows[2].HashRecords = 0
		}, []string{"data|" + codecFetch + "|18|blind"}, "makes no full hash"},
		{"a hash not made", func(t *testing.T, run *record.Run) {
			b := block(t, run, liveFetch, 0)
			b.CellRows = b.CellRows[1:]
		}, []string{"data|" + liveFetch + "|16|blind"}, "before the full hash"},
		{"stored records differ", func(t *testing.T, run *record.Run) {
			block(t, run, liveProduce, 0).Close.Broker.ReadBack.Hash++
		}, []string{"data|" + liveProduce + "|-1|fail"}, "the broker stored"},
		{"one version's stored batch differs", onStored(liveProduce, func(r *record.ReadBack) { r.Hash++ }), produce, "what the client sent at this version is wrong"},
		{"one version's stored batch is short", onStored(liveProduce, func(r *record.ReadBack) { r.Records-- }), produce, "9 records of a batch were read back where the client was given 10"},
		{"nothing of one version's batch was stored", onStored(liveProduce, func(r *record.ReadBack) { r.Records, r.Hash, r.ExpectedHash = 0, 0, 0 }), produce, "0 records of a batch"},
		{"one version forgets to compress", func(t *testing.T, run *record.Run) {
			compressing(t, run)
			r := block(t, run, liveProduce, 1).CellRows[1].Stored
			r.Codecs, r.StoredBytes = []string{"none"}, 9204
		}, produce, "was to send lz4 and stored batches of none: 9204 bytes where most clients of the block store 1111"},
		{"one version compresses by another codec", func(t *testing.T, run *record.Run) {
			compressing(t, run)
			block(t, run, liveProduce, 1).CellRows[1].Stored.Codecs = []string{"snappy"}
		}, produce, "stored batches of snappy"},
		{"one version compresses some batches only", func(t *testing.T, run *record.Run) {
			compressing(t, run)
			block(t, run, liveProduce, 1).CellRows[1].Stored.Codecs = []string{"none", "lz4"}
		}, produce, "stored batches of none and lz4"},
		{"one version compresses what it should not", onStored(liveProduce, func(r *record.ReadBack) { r.Codecs = []string{"lz4"} }), produce, "was to send none"},
		{"one version compresses to another length", onStored(liveProduce, func(r *record.ReadBack) { r.StoredBytes++ }), produce, "this version compresses otherwise"},
		{"one version cuts its batches otherwise", onStored(liveProduce, func(r *record.ReadBack) { r.Batches++ }), produce, "2 record batches are stored of 10 records, which fill 1"},
		{"how one version's batches are stored is unknown", onStored(liveProduce, func(r *record.ReadBack) { r.Codecs = nil }), []string{"data|" + liveProduce + "|12|blind"}, "was not read"},
		{"one version's batches have no length", onStored(liveProduce, func(r *record.ReadBack) { r.StoredBytes = 0 }), []string{"data|" + liveProduce + "|12|blind"}, "was not read"},
		{"one version's batches were not counted", onStored(liveProduce, func(r *record.ReadBack) { r.Batches = 0 }), []string{"data|" + liveProduce + "|12|blind"}, "was not read"},
		{"nobody asked a record of schema 3 how batches are stored", func(t *testing.T, run *record.Run) {
			run.Header.Schema = 3
			block(t, run, liveProduce, 1).CellRows[1].Stored.Codecs = nil
		}, nil, ""},
		{"a client as shipped compresses as it likes", func(t *testing.T, run *record.Run) {
			block(t, run, sanityProduce, 1).CellRows[0].Stored.Codecs = []string{"snappy"}
		}, nil, ""},
		{"one version's batch could not be read back", onStored(liveProduce, func(r *record.ReadBack) { r.Why = "timed out" }), []string{"data|" + liveProduce + "|12|blind"}, "of this version was not read back: timed out"},
		{"one version's batch was not read back", func(t *testing.T, run *record.Run) {
			block(t, run, liveProduce, 1).CellRows[1].Stored = nil
		}, []string{"data|" + liveProduce + "|12|blind"}, "of this version was not read back"},
		{"a tier 2 cell whose second batch was not read back", func(t *testing.T, run *record.Run) {
			b := block(t, run, sanityProduce, 0)
			second := b.CellRows[0]
			second.Stored = nil
			b.CellRows = append(b.CellRows, second)
		}, nil, ""},
		{"a tier 2 cell of which no batch was read back", func(t *testing.T, run *record.Run) {
			b := block(t, run, sanityProduce, 0)
			b.CellRows[0].Stored = nil
			b.CellRows = append(b.CellRows, b.CellRows[0])
		}, []string{"data|" + sanityProduce + "|-1|blind"}, "of this version was not read back"},
		{"nothing was stored to read", func(t *testing.T, run *record.Run) {
			*block(t, run, liveProduce, 0).Close.Broker.ReadBack = record.ReadBack{}
		}, []string{"data|" + liveProduce + "|-1|fail"}, "the 0 records"},
		{"not read back", func(t *testing.T, run *record.Run) {
			block(t, run, liveProduce, 0).Close.Broker.ReadBack = nil
		}, []string{"data|" + liveProduce + "|-1|blind"}, "not read back"},
		{"could not be read back", func(t *testing.T, run *record.Run) {
			block(t, run, sanityProduce, 0).Close.Broker.ReadBack.Why = "timed out"
		}, []string{"data|" + sanityProduce + "|-1|blind"}, "timed out"},
	})
}

// compressing makes the good run's live Produce one of lz4, stored as such by all.
func compressing(t *testing.T, run *record.Run) {
	t.Helper()
	for i := range run.Families {
		if run.Families[i].Name == liveProduce {
			run.Families[i].Shape.Compression = "lz4"
		}
	}
	for fork := range goodBlocks {
		for _, c := range block(t, run, liveProduce, fork).CellRows {
			c.Stored.Codecs = []string{"lz4"}
		}
	}
}
