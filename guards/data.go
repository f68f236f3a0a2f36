package guards

import (
	"fmt"
	"strconv"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
)

// checkData asks whether the records that went through are the ones that should have: a client that drops or repeats some is fast
// for the wrong reason.
func checkData(run *record.Run, f record.FamilyRun) []Finding {
	t := newTally(Data, f.Family, dataPassWhy(f.Family))
	control := missingRecordControl(run, f.Tier)
	for _, b := range f.BlockRuns {
		control.seen(t, versionsOf(f.Family), b.Where)
		for _, batch := range b.Batches {
			version := versionOf(f.Family, batch.Cell)
			if blind, fault := batchFault(f.Family, batch); fault != "" || blind {
				sayBatch(t, version, batch, blind, fault)
				continue
			}
			t.pass(version, b.Where, map[string]any{"batches": int64(1), "records": int64(batch.Records)})
		}
		hashes(t, run, f.Family, b, hashFault)
		if f.Tier > 0 && f.API == produceAPI {
			readBack(t, b)
			stored(t, run, f.Family, b)
		}
	}
	return t.findings()
}

func dataPassWhy(f record.Family) string {
	const why = "count, bytes, first and last key of every batch and the full hash of one per cell and block are those of the records that were made from the seed"
	if f.Shape.Polls() {
		return "every batch had as many responses, partitions and error codes as were made, and the full hash of what partitions say, one per cell and block, is right"
	}
	if f.Tier > 0 && f.API == produceAPI {
		return why + ", and so is what another client read back of the latter"
	}
	return why
}

func sayBatch(t *tally, version int, batch record.Batch, blind bool, fault string) {
	outcome, why := Fail, fault+"; the client loses, repeats or changes records at this version, or its worker miscounts"
	if blind {
		outcome, why = Blind, "nothing was expected of a batch, so nothing could have been wrong with it"
	}
	t.see(version, batch.Where, outcome, why, map[string]any{"cell": batch.Cell, "round": batch.Round, "fault": fault})
}

// batchFault names the first thing that is wrong with a batch.
func batchFault(f record.Family, b record.Batch) (blind bool, fault string) {
	differs := func(what string, got, want int64) string {
		return fmt.Sprintf("a batch had %s %d where %d belong", what, got, want)
	}
	offsets := b.EndOffset - b.StartOffset
	switch {
	case f.Shape.Polls() && b.ExpectedPartitions <= 0 || !f.Shape.Polls() && b.ExpectedRecords <= 0:
		return true, ""
	case b.Partitions != b.ExpectedPartitions:
		return false, differs("partitions without records", int64(b.Partitions), int64(b.ExpectedPartitions))
	case b.Errors != b.ExpectedErrors:
		return false, differs("error codes", int64(b.Errors), int64(b.ExpectedErrors))
	case b.Requests != f.RequestsPerBatch:
		return false, differs("completed requests", int64(b.Requests), int64(f.RequestsPerBatch))
	case b.Records != b.ExpectedRecords:
		return false, differs("records", int64(b.Records), int64(b.ExpectedRecords))
	case b.Bytes != b.ExpectedBytes:
		return false, differs("value bytes", b.Bytes, b.ExpectedBytes)
	case b.ByteSum != b.ExpectedByteSum:
		return false, fmt.Sprintf("a batch had the byte sum %d where %d belongs", b.ByteSum, b.ExpectedByteSum)
	case b.FirstKey != b.ExpectedFirstKey:
		return false, fmt.Sprintf("a batch began with key %q where %q belongs", b.FirstKey, b.ExpectedFirstKey)
	case b.LastKey != b.ExpectedLastKey:
		return false, fmt.Sprintf("a batch ended with key %q where %q belongs", b.LastKey, b.ExpectedLastKey)
	case f.Tier > 0 && offsets != int64(b.ExpectedRecords):
		return false, differs("a span of offsets of", offsets, int64(b.ExpectedRecords))
	// Other records compress to another length, and as shipped a client compresses: of these the stored batches say what was sent. Tier 0 sends the same ones.
	case f.API == produceAPI && f.Mode != driver.ModeShipped && (f.Tier == 0 || !f.Shape.Compressed()) && b.MinFrame != b.MaxFrame:
		return false, fmt.Sprintf("a batch had requests of %d to %d bytes where all are equal", b.MinFrame, b.MaxFrame)
	}
	return false, ""
}

// hashes judges the full hash that each cell made of an untimed batch, by a rule.
func hashes(t *tally, run *record.Run, f record.Family, b record.BlockRun, rule func(*record.Run, record.Cell) (Outcome, string)) {
	hashed := map[int]bool{}
	for _, c := range b.CellRows {
		hashed[c.Cell] = true
		version := versionOf(f, c.Cell)
		numbers := map[string]any{"cell": c.Cell, "hash": strconv.FormatUint(c.Hash, 10), "expectedHash": strconv.FormatUint(c.ExpectedHash, 10), "hashRecords": c.HashRecords}
		if outcome, why := rule(run, c); outcome != Pass {
			t.see(version, b.Where, outcome, why, numbers)
			continue
		}
		t.pass(version, b.Where, map[string]any{"hashes": int64(1), "recordsHashed": int64(c.HashRecords)})
	}
	for _, c := range f.Cells {
		if !hashed[c.Cell] {
			t.see(c.Version, b.Where, Blind, "the block ended before the full hash was made", map[string]any{"cell": c.Cell})
		}
	}
}

// hashFault is the rule about a full hash, for blocks and for the control that lacks a record alike.
func hashFault(run *record.Run, c record.Cell) (outcome Outcome, why string) {
	switch {
	case c.HashRecords <= 0 && !hasAbility(run, "hash"):
		return Blind, "this worker makes no full hash, so records that are wrong between the first and the last key would not be seen"
	case c.HashRecords <= 0:
		return Fail, "the worker hashed a batch of no records"
	case c.Hash != c.ExpectedHash:
		return Fail, "the full hash of a batch is not that of the records made from the seed: keys, values, headers or timestamps are changed at this version"
	}
	return Pass, ""
}

// readBack judges what the orchestrator, with a client of its own, found stored.
func readBack(t *tally, b record.BlockRun) {
	const blind = "what the broker stored was not read back"
	switch {
	case !brokerBracketed(b):
		t.see(AllVersions, b.Where, Blind, blind+": the block has no closing evidence of the broker", nil)
	case b.Close.Broker.ReadBack == nil:
		t.see(AllVersions, b.Where, Blind, blind, nil)
	case b.Close.Broker.ReadBack.Why != "":
		t.see(AllVersions, b.Where, Blind, blind+": "+b.Close.Broker.ReadBack.Why, nil)
	default:
		r := b.Close.Broker.ReadBack
		numbers := map[string]any{"records": r.Records, "hash": strconv.FormatUint(r.Hash, 10), "expectedHash": strconv.FormatUint(r.ExpectedHash, 10)}
		if r.Records <= 0 || r.Hash != r.ExpectedHash {
			t.see(AllVersions, b.Where, Fail, fmt.Sprintf("the %d records that the broker stored are not those made from the seed: what the client sent is wrong", r.Records), numbers)
			return
		}
		t.pass(AllVersions, b.Where, map[string]any{"recordsReadBack": int64(r.Records)})
	}
}

// stored judges, cell by cell, what the broker stored of a hashed batch. The worker's hash is of what its client was given; only this one is of
// what the client made of it at this version. Of a cell's several rows (tier 2) one has to have it.
func stored(t *tally, run *record.Run, f record.Family, b record.BlockRun) {
	const blind = "what the broker stored of this version was not read back"
	for _, cell := range f.Cells {
		rows, read := 0, 0
		for _, c := range b.CellRows {
			if c.Cell != cell.Cell {
				continue
			}
			rows++
			if c.Stored != nil {
				read++
				storedBatch(t, cell.Version, b.Where, c, blind)
				if asksCodec(run, f) {
					storedCodec(t, cell.Version, b, f, c)
				}
			}
		}
		if rows > 0 && read == 0 { // without rows the hash itself is missed already
			t.see(cell.Version, b.Where, Blind, blind, map[string]any{"cell": cell.Cell})
		}
	}
}

func storedBatch(t *tally, version int, where record.Where, c record.Cell, blind string) {
	r := c.Stored
	numbers := map[string]any{"cell": c.Cell, "records": r.Records, "hashRecords": c.HashRecords,
		"hash": strconv.FormatUint(r.Hash, 10), "expectedHash": strconv.FormatUint(r.ExpectedHash, 10)}
	switch {
	case r.Why != "":
		t.see(version, where, Blind, blind+": "+r.Why, numbers)
	case c.HashRecords <= 0:
		t.see(version, where, Blind, blind+": the worker doesn't say how many records its batch had", numbers)
	case r.Records <= 0 || r.Records != c.HashRecords:
		t.see(version, where, Fail, fmt.Sprintf("%d records of a batch were read back where the client was given %d: it loses or repeats records at this version", r.Records, c.HashRecords), numbers)
	case r.Hash != r.ExpectedHash:
		t.see(version, where, Fail, fmt.Sprintf("the %d records that the broker stored of a batch are not those made from the seed: what the client sent at this version is wrong", r.Records), numbers)
	default:
		t.pass(version, where, map[string]any{"batchesReadBack": int64(1), "recordsStored": int64(r.Records)})
	}
}
