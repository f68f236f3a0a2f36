package guards

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"protocolbench/internal/measure"
	"protocolbench/internal/record"
)

// goodNegatives are what a run's negative controls leave where all is well: the evidence of a planted fault.
func goodNegatives(run *record.Run, tier int) []record.Control {
	f := record.Family{Tier: tier, API: fetchAPI, Key: 1, Cells: []record.FamilyCell{{Cell: 0, Version: 7}}, Mode: "bare"}
	open := goodBrokerEvidence(run, f, record.WhenOpen, map[int]int64{})
	closing := *open
	closing.LogStartOffset += 30
	notTried := measure.Counter{State: measure.Unreadable, Why: "not tried"}
	batch := goodBatch(f, record.Where{}, 0, 0, 0)
	batch.Requests, batch.Records, batch.ExpectedRecords, batch.EndOffset = 1, 19, 20, 19
	cell := &record.Cell{AnswerVersion: 7, RecordsPerRequest: 19, Hash: 4, HashRecords: 19, ExpectedHash: 5}
	return []record.Control{
		{Tier: tier, Control: record.ControlDeletedRecords, Applies: true, Expected: 30, Observed: notTried, TopicObserved: notTried, Open: open, Close: &closing},
		{Tier: tier, Control: record.ControlMissingRecord, Applies: true, Expected: 1, Observed: notTried, TopicObserved: notTried, Batch: &batch, Cell: cell},
	}
}

// control gives a control of a run for a test to break.
func control(t *testing.T, run *record.Run, tier int, name string) *record.Control {
	t.Helper()
	for i := range run.Controls {
		if c := &run.Controls[i]; c.Tier == tier && c.Control == name {
			return c
		}
	}
	t.Fatalf("no control %q in tier %d", name, tier)
	return nil
}

func TestNegativeControls(t *testing.T) {
	var logs, datas, oldDatas []string
	for _, family := range []string{liveFetch, liveProduce} {
		logs = append(logs, "log|"+family+"|-1|blind")
		newest := map[string][]string{liveFetch: {"16", "17", "18"}, liveProduce: {"11", "12", "13"}}[family]
		for _, v := range newest {
			datas = append(datas, "data|"+family+"|"+v+"|blind")
		}
	}
	for _, family := range []string{sanityFetch, sanityProduce} {
		oldDatas = append(oldDatas, "data|"+family+"|-1|blind")
	}
	deleted := func(do func(c *record.Control)) func(*testing.T, *record.Run) {
		return func(t *testing.T, run *record.Run) { do(control(t, run, 1, record.ControlDeletedRecords)) }
	}
	missing := func(tier int, do func(c *record.Control)) func(*testing.T, *record.Run) {
		return func(t *testing.T, run *record.Run) { do(control(t, run, tier, record.ControlMissingRecord)) }
	}
	checkBreakages(t, []breakage{
		{"a deletion that the offsets don't show", deleted(func(c *record.Control) { c.Close.LogStartOffset = c.Open.LogStartOffset }), logs, "read as if none had been"},
		{"a deletion that moves the offset by another number", deleted(func(c *record.Control) { c.Close.LogStartOffset++ }), logs, "30 records were deleted and the first offset moved by 31"},
		{"offsets that can't be read", deleted(func(c *record.Control) { c.Close.LogStartOffset, c.Close.OffsetsWhy = -1, "timed out" }), logs, "timed out"},
		{"a growth in place of the deletion", deleted(func(c *record.Control) {
			c.Close.LogStartOffset = c.Open.LogStartOffset
			c.Close.LogEndOffset++ // the rule objects, and to something else
		}), logs, "first offset moved by 0"},
		{"nothing read", deleted(func(c *record.Control) { c.Close = nil }), logs, "nothing was read"},
		{"a deletion that was refused", deleted(func(c *record.Control) { c.Close, c.Why = nil, "not authorized" }), logs, "not authorized"},
		{"a control that does not apply", deleted(func(c *record.Control) { c.Applies, c.Why = false, "this broker deletes nothing" }), logs, "deletes nothing"},
		{"a control that never ran", deleted(func(c *record.Control) { c.Control = "another" }), logs, "did not run"},
		{"a worker that counts what is expected", missing(1, func(c *record.Control) { c.Batch.Records, c.Batch.EndOffset = 20, 20 }), datas, "echo of what is expected"},
		{"the same on the old broker", missing(2, func(c *record.Control) { c.Batch.Records, c.Batch.EndOffset = 20, 20 }), oldDatas, "echo of what is expected"},
		{"a worker that hashes what is expected", missing(1, func(c *record.Control) { c.Cell.Hash = c.Cell.ExpectedHash }), datas, "hash is not made of what came"},
		{"a worker that took no batch", missing(1, func(c *record.Control) { c.Batch = nil }), datas, "took no batch"},
		{"a worker that made no hash", missing(1, func(c *record.Control) { c.Cell = nil }), datas, "no full hash of it"},
		{"a worker that did another number of requests", missing(1, func(c *record.Control) { c.Batch.Requests = 2 }), datas, "can't be told"},
		{"a worker that refused", missing(1, func(c *record.Control) { c.Batch, c.Why = nil, "the worker read nothing of it" }), datas, "could not be run"},
		{"the lost record shows in its key alone", missing(1, func(c *record.Control) { c.Batch.Records, c.Batch.EndOffset, c.Batch.LastKey = 20, 20, "another" }), nil, ""},
	})
}

// What a guard sees is worse than that it might not see.
func TestFailureOutranksAMissedControl(t *testing.T) {
	run := goodRun()
	control(t, run, 1, record.ControlDeletedRecords).Close = nil
	block(t, run, liveFetch, 0).Close.Broker.LogStartOffset = 3
	for _, f := range Check(run) {
		if f.Guard == Log && f.Family == liveFetch && f.Outcome != Fail {
			t.Errorf("%s: %s", label(f), f.Why)
		}
	}
}

// Records of earlier builds list no negative controls, and the embedded broker gets none: their guards say what they said.
func TestNegativeControlsAreAskedOfThoseWhoTakeThem(t *testing.T) {
	for name, change := range map[string]func(run *record.Run){
		"an earlier build": func(run *record.Run) { run.Header.Controls = nil },
		"the embedded broker": func(run *record.Run) {
			run.Brokers[0].Provider, run.Brokers[1].Provider = embeddedBroker, embeddedBroker
		},
		"one of the two alone": func(run *record.Run) { run.Header.Controls = []string{"one of tomorrow's"} },
	} {
		run := goodRun()
		run.Controls = run.Controls[:6] // the positive ones
		change(run)
		for _, f := range Check(run) {
			if (f.Guard == Log || f.Guard == Data) && f.Outcome != Pass && f.Outcome != NotApplicable {
				t.Errorf("%s: %s: %s", name, label(f), f.Why)
			}
		}
	}
	run := goodRun()
	for _, f := range Check(run) {
		if strings.HasPrefix(f.Family, "tier0") && (f.Guard == Log || f.Guard == Data) && f.Outcome == Blind {
			t.Errorf("there is no broker for a control: %s", label(f))
		}
	}
}

// recordedControls are the rows of real runs, on Kafka 4.4.0 and 1.1.0.
func recordedControls(t *testing.T) []record.Control {
	t.Helper()
	file, err := os.Open("testdata/controls.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var rows []record.Control
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var row record.Control
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// What real brokers and the real worker gave is objected to, and each piece of it that is taken away blinds the guard that it is for.
func TestRecordedControls(t *testing.T) {
	for name, test := range map[string]struct {
		breaks func(c *record.Control)
		blind  string // guard
	}{
		"as recorded":       {func(*record.Control) {}, ""},
		"nothing deleted":   {func(c *record.Control) { c.Close = c.Open }, Log},
		"less deleted":      {func(c *record.Control) { deleteLess(c) }, Log},
		"an echoing worker": {func(c *record.Control) { echo(c) }, Data},
		"an echoed hash": {func(c *record.Control) {
			if c.Cell != nil {
				c.Cell.Hash = c.Cell.ExpectedHash
			}
		}, Data},
		"a conversion missed": {func(c *record.Control) { c.Observed.Value = max(0, c.Observed.Value-1) }, Conversions},
	} {
		run := goodRun()
		run.Controls = recordedControls(t)
		for i := range run.Controls {
			test.breaks(&run.Controls[i])
		}
		blind := map[string][]int{}
		for _, f := range Check(run) {
			if f.Outcome == Fail {
				t.Errorf("%s: %s: %s", name, label(f), f.Why)
			}
			if f.Outcome == Blind && !slices.Contains(blind[f.Guard], f.Tier) {
				blind[f.Guard] = append(blind[f.Guard], f.Tier)
			}
		}
		want := map[string][]int{}
		if test.blind != "" {
			want[test.blind] = []int{1, 2}
		}
		if len(blind) != len(want) || !slices.Equal(blind[test.blind], want[test.blind]) {
			t.Errorf("%s: blind are %v, want %v", name, blind, want)
		}
	}
}

func deleteLess(c *record.Control) {
	if c.Close != nil {
		c.Close.LogStartOffset--
	}
}

// echo has the worker say what is expected of it.
func echo(c *record.Control) {
	if b := c.Batch; b != nil {
		b.Records, b.Bytes, b.ByteSum, b.FirstKey, b.LastKey = b.ExpectedRecords, b.ExpectedBytes, b.ExpectedByteSum, b.ExpectedFirstKey, b.ExpectedLastKey
		b.EndOffset = b.StartOffset + int64(b.ExpectedRecords)
	}
}
