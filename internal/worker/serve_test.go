package worker_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"protocolbench/internal/driver"
	"protocolbench/internal/measure"
	"protocolbench/internal/shape"
	"protocolbench/internal/worker"
	"protocolbench/internal/worker/testdata/memory"
)

// session is a Serve in this process, spoken to line by line.
type session struct {
	t     *testing.T
	in    *io.PipeWriter
	out   *bufio.Reader
	ended chan struct{}
	err   error // after ended
}

func serve(t *testing.T, engine worker.Engine) *session {
	t.Helper()
	requests, in := io.Pipe()
	out, answers := io.Pipe()
	s := &session{t: t, in: in, out: bufio.NewReader(out), ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		s.err = worker.Serve(context.Background(), requests, answers, engine)
		answers.Close()
	}()
	t.Cleanup(func() { s.end() }) // one Serve at a time: it takes process-wide settings and gives them back
	return s
}

func (s *session) end() error {
	s.in.Close()
	<-s.ended
	return s.err
}

func (s *session) say(line string) driver.Response {
	s.t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
	answer, err := s.out.ReadBytes('\n')
	if err != nil {
		s.t.Fatalf("no answer to %s: %v", line, err)
	}
	var r driver.Response
	d := json.NewDecoder(strings.NewReader(string(answer)))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		s.t.Fatalf("answer %s: %v", answer, err)
	}
	return r
}

func (s *session) open(open driver.Open) {
	s.t.Helper()
	line, _ := json.Marshal(driver.Request{ID: 1, Op: driver.OpOpen, Open: &open})
	if r := s.say(string(line)); r.Error != "" || r.Opened == nil {
		s.t.Fatalf("open: %+v", r)
	}
}

func (s *session) refused(line, text string, id int) {
	s.t.Helper()
	r := s.say(line)
	if !strings.Contains(r.Error, text) || r.ID != id {
		s.t.Errorf("%.100s\n  is answered with id %d, error %q; wanted %d and %q", line, r.ID, r.Error, id, text)
	}
}

func TestEveryBadRequestIsAnsweredAndSurvived(t *testing.T) {
	s := serve(t, &memory.Engine{})
	s.open(openSmall(0))
	open := func(change func(*driver.Open)) string {
		o := openSmall(1)
		change(&o)
		line, _ := json.Marshal(driver.Request{ID: 5, Op: driver.OpOpen, Open: &o})
		return string(line)
	}
	for _, c := range []struct {
		line, text string
		id         int
	}{
		{"good morning", "not a JSON object", 0},
		{"", "not a JSON object", 0},
		{`{"id":5,"op":"dance"}`, `unknown op "dance"`, 5},
		{`{"id":5,"op":"batch","batch":{"cell":0,"requests":1,"colour":3}}`, "unknown field", 5},
		{`{"id":5,"op":"batch"}`, `without its field`, 5},
		{`{"id":5,"op":"batch","batch":{"cell":7,"requests":1,"placement":"0"}}`, "cell 7 is not open", 5},
		{`{"id":5,"op":"hash","batch":{"cell":7,"requests":1,"placement":"0"}}`, "cell 7 is not open", 5},
		{`{"id":5,"op":"steady","batch":{"cell":7,"requests":1,"placement":"0"}}`, "cell 7 is not open", 5},
		{`{"id":5,"op":"plant","plant":{"cell":7,"cpuNsPerRequest":1}}`, "cell 7 is not open", 5},
		{`{"id":5,"op":"plant","plant":{"cell":0,"cpuNsPerRequest":-1}}`, "cannot burn -1 ns", 5},
		{`{"id":5,"op":"close","cell":7}`, "cell 7 is not open", 5},
		{`{"id":5,"op":"batch","batch":{"cell":0,"requests":0,"placement":"0"}}`, "0 requests of cell 0", 5},
		{`{"id":5,"op":"batch","batch":{"cell":0,"requests":65,"placement":"0"}}`, "1 to the 64", 5},
		{open(func(o *driver.Open) { o.Cell = 0 }), "open already", 5},
		{open(func(o *driver.Open) { o.Cell = -1 }), "negative", 5},
		{open(func(o *driver.Open) { o.Tier = 3 }), "tier 3", 5},
		{open(func(o *driver.Open) { o.Tier = 1 }), "needs brokers and a topic", 5},
		{open(func(o *driver.Open) { o.API = "Heartbeat" }), `API "Heartbeat"`, 5},
		{open(func(o *driver.Open) { o.Version = 19 }), "implements v4 to v18", 5},
		{open(func(o *driver.Open) { o.Version = -2 }), "implements v4 to v18", 5},
		{open(func(o *driver.Open) { o.Mode = "fast" }), `mode "fast"`, 5},
		{open(func(o *driver.Open) { o.MaxRequests = 1 << 40 }), "maxRequests", 5},
		{open(func(o *driver.Open) { o.Shape.Partitions = 0 }), "partitions is 0", 5},
		{`{"id":5,"op":"hello","x":"` + strings.Repeat("y", 2<<20) + `"}`, "more than 1048576 bytes", 0},
	} {
		s.refused(c.line, c.text, c.id)
		if r := s.say(`{"id":6,"op":"batch","batch":{"cell":0,"requests":2,"placement":"0"}}`); r.ID != 6 || r.Batched == nil || r.Batched.Records != 20 {
			t.Fatalf("after %.100s a batch is answered with %+v", c.line, r)
		}
	}
	if r := s.say(`{"id":9,"op":"close"}`); r.ID != 9 || r.Error != "" {
		t.Errorf("close: %+v", r)
	}
	if err := s.end(); err != nil {
		t.Errorf("Serve ended with %v", err)
	}
}

func TestPanicsAndFaultsOfAnEngineBecomeAnswers(t *testing.T) {
	batch := `{"id":2,"op":"batch","batch":{"cell":0,"requests":2,"placement":"0"}}`
	steady := `{"id":2,"op":"steady","batch":{"cell":0,"requests":2,"placement":"0"}}`
	for _, c := range []struct {
		engine memory.Engine
		text   string
	}{
		{memory.Engine{PanicOn: "run"}, "planted in run"},
		{memory.Engine{FailOn: "prepare"}, "planted in prepare"},
		{memory.Engine{FailOn: "run"}, "planted in run"},
		{memory.Engine{FailOn: "finish"}, "planted in finish"},
		{memory.Engine{ExtraDone: true}, "ended 3 requests where 2 were asked"},
	} {
		s := serve(t, &c.engine)
		s.open(openSmall(0))
		s.refused(batch, c.text, 2)
		s.refused(steady, c.text, 2)
		if r := s.say(`{"id":3,"op":"hello"}`); r.Hello == nil {
			t.Errorf("%+v: after it hello is answered with %+v", c.engine, r)
		}
		if err := s.end(); err != nil {
			t.Errorf("Serve ended with %v", err)
		}
	}
	s := serve(t, &memory.Engine{PanicOn: "open"})
	line, _ := json.Marshal(driver.Request{ID: 1, Op: driver.OpOpen, Open: ptr(openSmall(0))})
	s.refused(string(line), `panic in "open": planted in open`, 1)
	s.refused(batch, "cell 0 is not open", 2)
}

func ptr[T any](v T) *T { return &v }

func TestServeEndsWhenToldInTheMiddleOfABatch(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	requests, in := io.Pipe()
	ended := make(chan error, 1)
	engine := &memory.Engine{Block: true}
	out, answers := io.Pipe()
	go func() { ended <- worker.Serve(ctx, requests, answers, engine) }()
	go io.Copy(io.Discard, out)
	open, _ := json.Marshal(driver.Request{ID: 1, Op: driver.OpOpen, Open: ptr(openSmall(0))})
	fmt.Fprintf(in, "%s\n", open)
	fmt.Fprintln(in, `{"id":2,"op":"batch","batch":{"cell":0,"requests":2,"placement":"0"}}`)
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("still there")
	}
}

// The records of a batch are those of package shape, through a real encoder and decoder of record batches.
func TestRecordsOfABatch(t *testing.T) {
	s := serve(t, &memory.Engine{})
	for cell, api := range []string{"Produce", "Fetch"} {
		o := openSmall(cell)
		o.API = api
		s.open(o)
		r := s.say(fmt.Sprintf(`{"id":2,"op":"batch","batch":{"cell":%d,"requests":3,"placement":"0"}}`, cell))
		want := shape.NewContent(small, 77).Expect(10)
		b := r.Batched
		if b == nil || b.Records != 30 || b.Bytes != 3*want.Bytes || b.ByteSum != 3*want.ByteSum || b.FirstKey != want.FirstKey || b.LastKey != want.LastKey {
			t.Errorf("%s: %+v, wanted three times %+v", api, r, want)
		}
		r = s.say(fmt.Sprintf(`{"id":3,"op":"hash","batch":{"cell":%d,"requests":1,"placement":"0"}}`, cell))
		if r.Hashed == nil || r.Hashed.Hash != want.Hash {
			t.Errorf("%s: %+v, wanted hash %d", api, r, want.Hash)
		}
	}
}

// 1,000 allocations of 64 bytes a request are planted; the harness adds none, the runtime may add a few of its own.
func TestSteadyCountsAllocationsOfRunOnly(t *testing.T) {
	s := serve(t, &memory.Engine{AllocsPerRequest: 1000})
	counts := map[int]*driver.Steadied{}
	o := openSmall(0)
	o.API = "Produce" // Finish reads everything back, which allocates and must not count
	s.open(o)
	for _, n := range []int{8, 16} {
		r := s.say(fmt.Sprintf(`{"id":2,"op":"steady","batch":{"cell":0,"requests":%d,"placement":"0"}}`, n))
		if r.Steadied == nil || r.Steadied.Requests != n || r.Steadied.Records != 10*n {
			t.Fatalf("%+v", r)
		}
		counts[n] = r.Steadied
	}
	allocs, bytes := counts[16].Allocs-counts[8].Allocs, counts[16].AllocBytes-counts[8].AllocBytes
	if allocs < 8000 || allocs > 8000+8*100 || bytes < 8000*64 {
		t.Errorf("8 more requests made %d allocations of %d bytes, planted were 8000 of 512000", allocs, bytes)
	}
}

func TestTheProcessIsGivenBack(t *testing.T) {
	procs := runtime.GOMAXPROCS(0)
	percent := debug.SetGCPercent(80)
	defer debug.SetGCPercent(percent)
	s := serve(t, &memory.Engine{})
	s.open(openSmall(0))
	s.say(`{"id":2,"op":"batch","batch":{"cell":0,"requests":2,"placement":"0"}}`)
	if got := runtime.GOMAXPROCS(0); got != 1 {
		t.Errorf("GOMAXPROCS is %d while a worker serves", got)
	}
	s.end()
	if got := runtime.GOMAXPROCS(0); got != procs {
		t.Errorf("GOMAXPROCS %d, was %d", got, procs)
	}
	if got := debug.SetGCPercent(80); got != 80 {
		t.Errorf("GC percentage %d, was 80", got)
	}
}

// A bare batch has no collection in it; with the collector on, the same garbage makes some.
func TestTheCollectorByMode(t *testing.T) {
	s := serve(t, &memory.Engine{AllocsPerRequest: 50_000})
	cycles := map[string]int{}
	for i, mode := range []string{driver.ModeBare, driver.ModeGC, driver.ModeShipped, driver.ModeBare} {
		o := openSmall(i)
		o.Mode = mode
		s.open(o)
		r := s.say(fmt.Sprintf(`{"id":2,"op":"batch","batch":{"cell":%d,"requests":64,"placement":"0"}}`, i))
		if r.Batched == nil {
			t.Fatalf("%+v", r)
		}
		cycles[mode] = r.Batched.GCCycles
	}
	if cycles[driver.ModeBare] != 0 || cycles[driver.ModeGC] == 0 || cycles[driver.ModeShipped] == 0 {
		t.Errorf("collections in a batch with 200 MB of garbage: %v", cycles)
	}
}

// The plant against the CPU clock, as a ratio: what 3 ms and 6 ms a request add to the same batch. A burn that did not follow its number, or
// was optimised away, gives 1 or nonsense. Each round plants and so calibrates anew, and the median round counts: beside other load a
// processor's speed moves by tens of per cents for a while, which no single calibration can foresee.
func TestThePlantBurnsWhatWasAsked(t *testing.T) {
	s := serve(t, &memory.Engine{})
	planted := []int64{0, 3_000_000, 6_000_000}
	for cell := range planted {
		s.open(openSmall(cell))
	}
	var ratios []float64
	for range 11 {
		cost := make([]int64, len(planted))
		for cell, ns := range planted {
			if r := s.say(fmt.Sprintf(`{"id":2,"op":"plant","plant":{"cell":%d,"cpuNsPerRequest":%d}}`, cell, ns)); r.Error != "" {
				t.Fatal(r.Error)
			}
			r := s.say(fmt.Sprintf(`{"id":2,"op":"batch","batch":{"cell":%d,"requests":2,"placement":"0"}}`, cell))
			if r.Batched == nil {
				t.Fatalf("%+v", r)
			}
			cost[cell] = r.Batched.CPUNs
		}
		ratios = append(ratios, float64(cost[2]-cost[0])/float64(cost[1]-cost[0]))
	}
	slices.Sort(ratios)
	t.Logf("twice the plant costs %.2f times as much", ratios)
	if ratio := ratios[len(ratios)/2]; ratio < 1.6 || ratio > 2.4 {
		t.Errorf("twice the plant costs %.2f times as much", ratio)
	}
}

// The clocks cost nothing that a batch could be mistaken for; see also the wire counter's benchmark.
func BenchmarkClocks(b *testing.B) {
	for range b.N {
		measure.SelfCPUNs()
		measure.Switches()
	}
}
