package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"protocolbench/internal/driver"
	"protocolbench/internal/measure"
)

const (
	// maxRequestBytes bounds a line from the parent: the longest real one has a few hundred bytes.
	maxRequestBytes = 1 << 20
	// memoryLimitBytes is a safety net for batches with the collector off: near it the collector runs all the same, which
	// shows as gcCycles, and the host lives on. A 10 ms batch makes some 100 MB of garbage at most.
	memoryLimitBytes = 4 << 30
	// lastWords is how long a request in hand may go on when the worker has to end.
	lastWords = time.Second
)

// Serve answers the requests on in with lines on out until close is asked, in ends (both nil), ctx ends or the parent process is
// gone (an error). It answers in order and works on nothing between requests.
//
// It takes the process over: one P (two cost 20-29 % more CPU and double the spread), the collector's default percentage whatever
// GOGC says, and the standard output, which carries the protocol and nothing else. All of it is given back at the end.
func Serve(ctx context.Context, in io.Reader, out io.Writer, engine Engine) error {
	out, giveBack, err := shield(out)
	if err != nil {
		return fmt.Errorf("cannot keep other output off the protocol: %w", err)
	}
	defer giveBack()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(memoryLimitBytes))
	defer debug.SetGCPercent(debug.SetGCPercent(defaultGCPercent))

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := newServer(engine)
	ended := make(chan error, 1)
	// The loop has no goroutine that reads ahead: while a batch runs, nothing of ours runs beside it.
	go func() { ended <- s.loop(ctx, in, out) }()
	var why error
	select {
	case err := <-ended:
		return err
	case <-measure.ParentGone(ctx):
		why = errors.New("the parent process is gone: nobody is left to answer")
	case <-ctx.Done():
		why = fmt.Errorf("told to end: %w", context.Cause(ctx))
	}
	cancel()
	if s.busy.Load() {
		// An engine that does not heed ctx must not keep the process: its caller returns from main.
		grace := time.NewTimer(lastWords)
		defer grace.Stop()
		select {
		case <-ended:
		case <-grace.C:
		}
	}
	return why
}

// openCell is a cell and what it was opened with.
type openCell struct {
	Cell
	open     driver.Open
	burnSpin int64 // iterations per request
}

type server struct {
	engine    Engine
	hello     driver.Hello
	cells     map[int]*openCell
	meter     *meter
	collector collector
	decoder   driver.Decoder
	busy      atomic.Bool
}

func newServer(engine Engine) *server {
	return &server{engine: engine, cells: map[int]*openCell{}, meter: newMeter()}
}

func (s *server) loop(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := newLineReader(in, maxRequestBytes)
	var line []byte
	var answer bytes.Buffer
	encoder := json.NewEncoder(&answer)
	encoder.SetEscapeHTML(false)
	for {
		var err error
		line, err = lines.next(line)
		if errors.Is(err, io.EOF) {
			s.closeAll()
			return nil
		}
		var response driver.Response
		ends := false
		switch {
		case errors.Is(err, errLongLine):
			response.Error = fmt.Sprintf("a request line of more than %d bytes: send one request per line", maxRequestBytes)
		case err != nil:
			return fmt.Errorf("cannot read requests: %w", err)
		default:
			s.busy.Store(true)
			response, ends = s.answer(ctx, line)
			s.busy.Store(false)
		}
		answer.Reset()
		if err := encoder.Encode(response); err != nil {
			return fmt.Errorf("cannot encode the answer to request %d: %w", response.ID, err)
		}
		// One write per answer: a parent never sees half a line, and nothing waits in a buffer.
		if _, err := out.Write(answer.Bytes()); err != nil {
			return fmt.Errorf("cannot write the answer to request %d: %w", response.ID, err)
		}
		if ends {
			return nil
		}
	}
}

// answer gives the answer to one line, and whether it was the last one.
func (s *server) answer(ctx context.Context, line []byte) (response driver.Response, ends bool) {
	request, err := s.decoder.Request(line)
	if err != nil {
		return driver.Response{ID: driver.LooseID(line), Error: "not a request of the driver protocol: " + err.Error()}, false
	}
	defer func() {
		if thrown := recover(); thrown != nil {
			debug.PrintStack() // to stderr, the worker's log
			response = driver.Response{Error: fmt.Sprintf("panic in %q: %v (the stack is in the worker's log)", request.Op, thrown)}
			ends = false
		}
		response.ID = request.ID
	}()
	response, err = s.dispatch(ctx, &request)
	if err != nil {
		response = driver.Response{Error: err.Error()}
		if notOpened := new(NotOpened); errors.As(err, &notOpened) {
			response.Sent = notOpened.Sent
		}
		return response, false
	}
	return response, request.Op == driver.OpClose && request.Cell == nil
}

func (s *server) dispatch(ctx context.Context, r *driver.Request) (response driver.Response, err error) {
	switch r.Op {
	case driver.OpWarm, driver.OpBatch:
		response.Batched, err = s.batch(ctx, *r.Batch)
		return response, err
	case driver.OpSteady:
		response.Steadied, err = s.steady(ctx, *r.Batch)
		return response, err
	case driver.OpProfile:
		response.Profiled, err = s.profile(ctx, *r.Profile)
		return response, err
	}
	if r.Op != driver.OpSnapshot && r.Op != driver.OpPlant {
		// These two come right before counted batches. With the collector on, if only for a moment, the runtime gives pages back,
		// and the next batch pays for faulting them in: the first one of each block came out half as dear again.
		s.collector.on(true)
	}
	switch r.Op {
	case driver.OpHello:
		hello := s.sayHello()
		response.Hello = &hello
	case driver.OpOpen:
		response.Opened, err = s.open(ctx, *r.Open)
	case driver.OpPlant:
		err = s.plant(*r.Plant)
	case driver.OpHash:
		response.Hashed, err = s.hash(ctx, *r.Batch)
	case driver.OpSnapshot:
		response.Snapshot = s.snapshot()
	case driver.OpClose:
		if r.Cell != nil {
			err = s.closeCell(*r.Cell)
		} else {
			err = s.closeAll()
		}
	}
	return response, err
}
