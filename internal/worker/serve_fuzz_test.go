package worker

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"protocolbench/internal/driver"
)

// idle opens cells that do nothing: what is fuzzed is the protocol, and a batch of what somebody made up could burn CPU for hours.
type idle struct{}

func (idle) Hello() driver.Hello {
	return driver.Hello{Client: "idle", Implemented: []driver.Range{{API: "Produce", Min: 0, Max: 13}, {API: "Fetch", Key: 1, Min: 4, Max: 18}}}
}

func (idle) Open(_ context.Context, open driver.Open) (Cell, driver.Opened, error) {
	return idleCell{}, driver.Opened{AnswerVersion: open.Version, RecordsPerRequest: 1}, nil
}

func (idle) Checking() driver.CellSnapshot { return driver.CellSnapshot{} }

type idleCell struct{}

var errIdle = errors.New("this cell does nothing")

func (idleCell) Prepare(context.Context, driver.Batch) error     { return nil }
func (idleCell) Run(context.Context, driver.Batch, func()) error { return errIdle }
func (idleCell) Finish(context.Context) (driver.Batched, error)  { return driver.Batched{}, errIdle }
func (idleCell) Hash(context.Context, driver.Batch) (driver.Hashed, error) {
	return driver.Hashed{Records: 1, Hash: 2, Requests: 1}, nil
}
func (idleCell) Snapshot() driver.CellSnapshot { return driver.CellSnapshot{} }
func (idleCell) Close() error                  { return nil }

// FuzzServe: whatever a parent sends, each of its lines gets one line that the parent's own decoder takes, with the line's id and without a panic, until it asks to
// close.
func FuzzServe(f *testing.F) {
	const open = `{"id":2,"op":"open","open":{"cell":1,"tier":0,"api":"Fetch","version":12,"shape":{"name":"s","recordsPerBatch":1,"batchesPerPartition":1,"partitions":1,"topics":1,"keyBytes":8,"valueBytes":1,"headers":0,"requiredAcks":-1},` +
		`"mode":"bare","contentSeed":"9","baseTimestampMs":0,"maxRequests":3}}`
	for _, lines := range [][]string{
		{`{"id":1,"op":"hello"}`, open, `{"id":3,"op":"batch","batch":{"cell":1,"requests":3,"placement":"1"}}`, `{"id":4,"op":"close"}`},
		{open, open, `{"id":3,"op":"hash","batch":{"cell":1,"requests":1,"placement":"1"}}`, `{"id":4,"op":"snapshot"}`, `{"id":5,"op":"close","cell":1}`, `{"id":6,"op":"close","cell":1}`},
		{open, `{"id":3,"op":"plant","plant":{"cell":1,"cpuNsPerRequest":5}}`, `{"id":4,"op":"steady","batch":{"cell":1,"requests":1,"placement":"1"}}`, `{"id":5,"op":"warm","batch":{"cell":2,"requests":-1,"placement":"1"}}`},
		{`null`, ``, `{"id":"x"}`, `{"id":7,"op":"dance"}`, `{"id":8,"op":"close"} {}`},
	} {
		f.Add([]byte(strings.Join(lines, "\n") + "\n"))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		if err := newServer(idle{}).loop(context.Background(), bytes.NewReader(in), &out); err != nil {
			t.Fatalf("%q ended it: %v", in, err)
		}
		requests := bytes.SplitAfter(in, []byte("\n"))
		requests = requests[:len(requests)-1] // what has no end is no line
		answers := bytes.SplitAfter(out.Bytes(), []byte("\n"))
		answers = answers[:len(answers)-1]
		closed := len(answers) > 0 && endsSession(requests[len(answers)-1])
		if len(answers) > len(requests) || len(answers) < len(requests) && !closed {
			t.Fatalf("%d answers to %d lines:\n%s\n%s", len(answers), len(requests), in, out.Bytes())
		}
		for i, answer := range answers {
			checkAnswer(t, requests[i], answer)
		}
	})
}

// checkAnswer reads one answer as the parent would.
func checkAnswer(t *testing.T, line, answer []byte) {
	t.Helper()
	var d driver.Decoder
	request, notOne := d.Request(line)
	response, err := d.Response(answer, request.Op)
	switch {
	case err != nil:
		t.Fatalf("%q is answered with %q: %v", line, answer, err)
	case notOne != nil && response.Error == "":
		t.Fatalf("%q is no request (%v), and is answered with %q", line, notOne, answer)
	case response.ID != driver.LooseID(line):
		t.Fatalf("%q is answered with the id %d", line, response.ID)
	case strings.Contains(response.Error, "panic in"):
		t.Fatalf("%q: %s", line, response.Error)
	}
}

// endsSession tells whether a line asks for the end of the session.
func endsSession(line []byte) bool {
	var d driver.Decoder
	request, err := d.Request(line)
	return err == nil && request.Op == driver.OpClose && request.Cell == nil
}
