package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"protocolbench/internal/driver"
)

const (
	// maxAnswerBytes bounds an answer: a snapshot of 18 cells has a few KiB.
	maxAnswerBytes = 4 << 20
	// quotedBytes of a junk line go into the error.
	quotedBytes = 200
)

// Open opens a cell.
func (p *Process) Open(ctx context.Context, open driver.Open) (driver.Opened, error) {
	r, err := p.exchange(ctx, driver.Request{Op: driver.OpOpen, Open: &open}, p.deadlines.Open)
	if err != nil {
		return driver.Opened{}, err
	}
	return *r.Opened, nil
}

// Plant makes a cell burn CPU after each of its requests.
func (p *Process) Plant(ctx context.Context, plant driver.Plant) error {
	_, err := p.exchange(ctx, driver.Request{Op: driver.OpPlant, Plant: &plant}, p.deadlines.Open)
	return err
}

// Warm runs a batch that is not counted.
func (p *Process) Warm(ctx context.Context, batch driver.Batch) (driver.Batched, error) {
	return p.batched(ctx, driver.OpWarm, batch)
}

// Batch runs a batch. The calling goroutine sleeps until the answer is there.
func (p *Process) Batch(ctx context.Context, batch driver.Batch) (driver.Batched, error) {
	return p.batched(ctx, driver.OpBatch, batch)
}

func (p *Process) batched(ctx context.Context, op string, batch driver.Batch) (driver.Batched, error) {
	r, err := p.exchange(ctx, driver.Request{Op: op, Batch: &batch}, p.deadlines.Batch)
	if err != nil {
		return driver.Batched{}, err
	}
	return *r.Batched, nil
}

// Steady takes the allocation counters of a batch with full pools.
func (p *Process) Steady(ctx context.Context, batch driver.Batch) (driver.Steadied, error) {
	r, err := p.exchange(ctx, driver.Request{Op: driver.OpSteady, Batch: &batch}, p.deadlines.Batch)
	if err != nil {
		return driver.Steadied{}, err
	}
	return *r.Steadied, nil
}

// Profile takes a CPU profile of batches that aren't counted.
func (p *Process) Profile(ctx context.Context, profile driver.Profile) (driver.Profiled, error) {
	r, err := p.exchange(ctx, driver.Request{Op: driver.OpProfile, Profile: &profile}, p.deadlines.Batch)
	if err != nil {
		return driver.Profiled{}, err
	}
	return *r.Profiled, nil
}

// Hash runs one untimed batch and hashes all of it.
func (p *Process) Hash(ctx context.Context, batch driver.Batch) (driver.Hashed, error) {
	r, err := p.exchange(ctx, driver.Request{Op: driver.OpHash, Batch: &batch}, p.deadlines.Batch)
	if err != nil {
		return driver.Hashed{}, err
	}
	return *r.Hashed, nil
}

// Snapshot reads the worker's counters.
func (p *Process) Snapshot(ctx context.Context) (driver.Snapshot, error) {
	r, err := p.exchange(ctx, driver.Request{Op: driver.OpSnapshot}, p.deadlines.Batch)
	if err != nil {
		return driver.Snapshot{}, err
	}
	return *r.Snapshot, nil
}

// CloseCell closes one cell.
func (p *Process) CloseCell(ctx context.Context, cell int) error {
	_, err := p.exchange(ctx, driver.Request{Op: driver.OpClose, Cell: &cell}, p.deadlines.Close)
	return err
}

// Close asks the worker to end, kills its process group when it does not within the deadline, and reaps it in every case. It may be
// called again, and after any failure; then there is nothing left to report. A ctx that is over leaves no time to ask: it is killed at once.
func (p *Process) Close(ctx context.Context) error {
	p.mu.Lock()
	failed := p.broken != nil
	p.mu.Unlock()
	if failed || ctx.Err() != nil {
		p.mu.Lock()
		p.shut()
		p.mu.Unlock()
		p.kill()
		p.release()
		return nil
	}
	_, err := p.exchange(ctx, driver.Request{Op: driver.OpClose}, p.deadlines.Close)
	var refused *Refused
	if err == nil || errors.As(err, &refused) {
		// A launcher that stands in front of the worker and passes lines on ends only with its input.
		p.stdin.Close()
		if ended := p.awaitEnd(ctx); err == nil {
			err = ended
		}
	}
	p.kill()
	p.release()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut()
	return err
}

func (p *Process) shut() {
	if p.broken == nil {
		p.broken = errors.New("the worker was closed: start a new one")
	}
}

// awaitEnd waits for a worker that has said goodbye, or whose standard input has ended. A line after that is junk like any other.
func (p *Process) awaitEnd(ctx context.Context) error {
	line, err := p.receive(ctx, driver.OpClose, p.deadlines.Close)
	if err == nil || errors.Is(err, errLongLine) {
		return p.junk(driver.OpClose, line, "it had said goodbye")
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	if dead := p.dead(driver.OpClose); !p.success {
		return dead
	}
	return nil
}

// exchange sends one request and waits for its answer.
func (p *Process) exchange(ctx context.Context, request driver.Request, within time.Duration) (driver.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil {
		return driver.Response{}, p.broken
	}
	if ctx.Err() != nil { // nothing was sent: the worker is as good as before
		return driver.Response{}, fmt.Errorf("%q was not asked: %w", request.Op, context.Cause(ctx))
	}
	p.lastID++
	request.ID = p.lastID
	p.request.Reset()
	if err := p.encoder.Encode(request); err != nil {
		return driver.Response{}, fmt.Errorf("cannot encode the request %q: %w", request.Op, err)
	}
	return p.roundTrip(ctx, request.Op, request.ID, p.request.Bytes(), within)
}

// roundTrip writes a line and reads the answer. Any failure but the worker's own refusal is final.
func (p *Process) roundTrip(ctx context.Context, op string, id int, line []byte, within time.Duration) (driver.Response, error) {
	response, err := p.tryRoundTrip(ctx, op, id, line, within)
	if err != nil {
		p.broken = err
		return driver.Response{}, err
	}
	if response.Error != "" {
		return driver.Response{}, &Refused{Op: op, Text: response.Error, Sent: response.Sent}
	}
	return response, nil
}

func (p *Process) tryRoundTrip(ctx context.Context, op string, id int, line []byte, within time.Duration) (driver.Response, error) {
	answer, err := p.ask(ctx, op, line, within)
	if err != nil {
		return driver.Response{}, err
	}
	return p.decode(op, id, answer)
}

// ask writes a line and reads one. The line that comes back is good until the next call.
func (p *Process) ask(ctx context.Context, op string, line []byte, within time.Duration) ([]byte, error) {
	if p.answers.waiting() {
		early, _ := p.receive(ctx, op, within)
		return nil, p.junk(op, early, "nothing had been asked")
	}
	if _, err := p.stdin.Write(line); err != nil {
		return nil, p.dead(op) // a broken pipe: what matters is how it ended
	}
	answer, err := p.receive(ctx, op, within)
	switch {
	case errors.Is(err, errLongLine):
		return nil, p.junk(op, answer, fmt.Sprintf("a line of more than %d bytes", maxAnswerBytes))
	case errors.Is(err, io.EOF):
		return nil, p.dead(op)
	case err != nil:
		return nil, err
	}
	return answer, nil
}

// decode takes a line as the answer to a request.
func (p *Process) decode(op string, id int, answer []byte) (driver.Response, error) {
	response, err := p.decoder.Response(answer, op)
	if err != nil {
		return driver.Response{}, p.junk(op, answer, err.Error())
	}
	if response.ID != id {
		return driver.Response{}, p.junk(op, answer, fmt.Sprintf("id %d where %d was due", response.ID, id))
	}
	return response, nil
}

// receive reads one line. The goroutine sleeps in the read; a deadline and a given-up context end it by killing the worker, whose
// answer would come into the middle of whatever is asked next. io.EOF: the worker has closed its standard output.
func (p *Process) receive(ctx context.Context, op string, within time.Duration) ([]byte, error) {
	due := int64(time.Since(p.started) + within)
	p.due.Store(due)
	disarm := context.AfterFunc(ctx, p.killGroup)
	line, err := p.answers.next(p.line)
	p.line = line
	inTime := p.due.CompareAndSwap(due, 0)
	switch {
	case !disarm():
		p.kill()
		return line, fmt.Errorf("%q was given up and the worker killed: %w", op, context.Cause(ctx))
	case !inTime:
		p.kill()
		return line, &Hung{Op: op, After: within, Log: p.log.quote(quotedLines)}
	case err != nil && !errors.Is(err, errLongLine):
		return line, io.EOF // a read error of a pipe is its end
	}
	return line, err
}

// dead says how a worker ended that has closed its standard output, and ends it if it has not.
func (p *Process) dead(op string) error {
	timer := time.NewTimer(2 * drainTime) // reaping takes up to one
	defer timer.Stop()
	select {
	case <-p.exited:
	case <-timer.C:
		p.kill()
		return &Dead{Op: op, State: "it closed its standard output, went on, and was killed", Log: p.log.quote(quotedLines)}
	}
	return &Dead{Op: op, State: p.state, Log: p.log.quote(quotedLines)}
}

func (p *Process) junk(op string, line []byte, why string) error {
	p.kill()
	return &Junk{Op: op, Line: string(line[:min(len(line), quotedBytes)]), Why: why, Log: p.log.quote(quotedLines)}
}
