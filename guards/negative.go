package guards

import (
	"fmt"
	"slices"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
)

// negative is what a negative control showed: a fault that was planted beside the measurement, and the evidence of it as it was read. Whether it was seen is asked of
// the guard's own rule, here and now: a word of the runner's would go on saying yes after the rule is gone.
type negative struct {
	name    string
	asked   bool   // the build that wrote the record takes this control, and the broker is one to take it on
	blind   string // why the guard could not have failed in this tier; "": it could
	numbers map[string]any
}

// seen puts a control that its guard missed into a block's answers. One that the guard saw changes nothing.
func (n negative) seen(t *tally, versions []int, where record.Where) {
	if !n.asked || n.blind == "" {
		return
	}
	for _, v := range versions {
		t.see(v, where, Blind, n.blind, n.numbers)
	}
}

// negativeOf finds a tier's control. Records of builds that took none have no list of them, and their guards had to do without. Where it is there and can be judged,
// judge says why the guard would not have objected.
func negativeOf(run *record.Run, tier int, name, what string, judge func(record.Control) (why string, numbers map[string]any)) negative {
	broker, _ := brokerOf(run, tier)
	n := negative{name: name, asked: tier > 0 && broker.Provider != embeddedBroker && slices.Contains(run.Header.Controls, name)}
	if !n.asked {
		return n
	}
	c, ran := controlOf(run, tier, name)
	control := fmt.Sprintf("the control (%s: %s) ", name, what)
	switch {
	case !ran:
		n.blind = control + "did not run, so it is not shown that such a fault would be seen; run the tier again"
	case !c.Applies || c.Why != "":
		n.blind = control + "could not be run: " + c.Why + "; mend that and run the tier again"
	default:
		var why string
		if why, n.numbers = judge(c); why != "" {
			n.blind = control + "was not objected to: " + why
		}
	}
	return n
}

// deletedRecordsControl: DeleteRecords between two readings of a scratch topic.
func deletedRecordsControl(run *record.Run, tier int) negative {
	return negativeOf(run, tier, record.ControlDeletedRecords, "DeleteRecords in a scratch block", func(c record.Control) (string, map[string]any) {
		if c.Open == nil || c.Close == nil {
			return "nothing was read around the deletion", nil
		}
		scratch := record.BlockRun{Open: &record.Evidence{Broker: c.Open}, Close: &record.Evidence{Broker: c.Close}}
		outcome, why, numbers := judgeLog(record.Family{Tier: tier, API: fetchAPI}, scratch)
		numbers["expected"] = c.Expected
		switch deleted := c.Close.LogStartOffset - c.Open.LogStartOffset; {
		case outcome == Blind:
			return why, numbers
		case outcome != Fail:
			return fmt.Sprintf("%d records were deleted and the topic's offsets were read as if none had been; nothing shows that a deletion in a block would be seen", c.Expected), numbers
		case c.Expected <= 0 || deleted != c.Expected:
			return fmt.Sprintf("%d records were deleted and the first offset moved by %d; offsets that are wrong here can't be trusted elsewhere", c.Expected, deleted), numbers
		}
		return "", numbers
	})
}

// missingRecordControl: a topic that lacks one record of the seed's, read by the worker under test. The fault is on the topic's side, so it is the same for workers in every language.
func missingRecordControl(run *record.Run, tier int) negative {
	return negativeOf(run, tier, record.ControlMissingRecord, "a topic that lacks one record", func(c record.Control) (string, map[string]any) {
		if c.Batch == nil {
			return "the worker took no batch of it", nil
		}
		numbers := map[string]any{"records": c.Batch.Records, "expectedRecords": c.Batch.ExpectedRecords}
		f := record.Family{Tier: tier, API: fetchAPI, Mode: driver.ModeBare, RequestsPerBatch: 1}
		blind, fault := batchFault(f, *c.Batch)
		numbers["fault"] = fault
		switch {
		case blind || c.Batch.Requests != f.RequestsPerBatch:
			return "it can't be told what the worker should have read", numbers
		case fault == "":
			return "the worker says that it read what the seed says, and the topic lacks a record: its counts are an echo of what is expected, or are not taken of what came; correct how the worker counts", numbers
		}
		if !hasAbility(run, "hash") {
			return "", numbers // that no full hash is made the guard says by itself
		}
		if c.Cell == nil {
			return "the worker made no full hash of it", numbers
		}
		if outcome, _ := hashFault(run, *c.Cell); outcome != Fail {
			return "the worker's full hash is that of all records, and the topic lacks one: the hash is not made of what came; correct how the worker hashes", numbers
		}
		return "", numbers
	})
}
