package guards

import (
	"fmt"

	"protocolbench/internal/record"
)

// checkLog asks whether the topic's log held exactly what it should: nothing deleted under the reader, everything sent stored.
func checkLog(run *record.Run, f record.FamilyRun) []Finding {
	t := newTally(Log, f.Family, "nothing was deleted from the topic's log, and it grew by exactly the records that were sent")
	if f.API == fetchAPI {
		t.passWhy = "the topic's log kept its first and last offset while it was read"
	}
	control := deletedRecordsControl(run, f.Tier)
	for _, b := range f.BlockRuns {
		switch {
		case f.Tier == 0:
			t.see(AllVersions, b.Where, NotApplicable, "there is no log", nil)
		case !bracketed(b):
			t.see(AllVersions, b.Where, Blind, whyOpen, nil)
		case !brokerBracketed(b):
			t.see(AllVersions, b.Where, Blind, "the offsets of the topic's log were not read", nil)
		default:
			outcome, why, numbers := judgeLog(f.Family, b)
			control.seen(t, []int{AllVersions}, b.Where)
			if outcome == Pass {
				t.pass(AllVersions, b.Where, numbers)
				continue
			}
			t.see(AllVersions, b.Where, outcome, why, numbers)
		}
	}
	return t.findings()
}

// judgeLog is the rule, for blocks and for the control that plants a deletion alike.
func judgeLog(f record.Family, b record.BlockRun) (outcome Outcome, why string, numbers map[string]any) {
	open, closing := b.Open.Broker, b.Close.Broker
	var sent int64
	if f.API == produceAPI {
		sent = int64(len(b.Batches)) * int64(f.RequestsPerBatch) * int64(f.RecordsPerRequest)
	}
	growth := closing.LogEndOffset - open.LogEndOffset
	numbers = map[string]any{"sent": sent, "grew": growth, "deleted": closing.LogStartOffset - open.LogStartOffset}
	switch {
	case min(open.LogStartOffset, open.LogEndOffset) < 0:
		return Blind, "the log's offsets could not be read when the block began: " + open.OffsetsWhy, numbers
	case min(closing.LogStartOffset, closing.LogEndOffset) < 0:
		return Blind, "the log's offsets could not be read when the block ended: " + closing.OffsetsWhy, numbers
	case closing.LogStartOffset != open.LogStartOffset:
		return Fail, fmt.Sprintf("the first offset of %s moved from %d to %d in the block: records were deleted under the clients (retention, or somebody's DeleteRecords); "+
			"stop what deletes and run again", b.Topic, open.LogStartOffset, closing.LogStartOffset), numbers
	case growth < sent:
		return Fail, fmt.Sprintf("%d records were sent to %s and %d stored: the client reports work that it didn't do, or the broker dropped it; look at the broker's log", sent, b.Topic, growth), numbers
	case growth > sent:
		return Fail, fmt.Sprintf("%s grew by %d records and this block sent %d: somebody else writes to it, or the client sends twice; look for retries", b.Topic, growth, sent), numbers
	}
	return Pass, "", numbers
}
