package worker

import (
	"context"
	"errors"
	"fmt"

	"protocolbench/internal/driver"
)

// Around is called right before a batch is sent and right after its answer's line is there: for the clocks that are read from outside.
type Around struct {
	Before, After func(i int)
}

// Round runs the batches one after the other. Requests are encoded before the first and answers decoded after the last: both cost the parent
// several times more when they come one by one after a pause of 10 ms than all at once, and between batches the parent should keep still.
//
// With an error come the answers before it.
func (p *Process) Round(ctx context.Context, batches []driver.Batch, around Around) ([]driver.Batched, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil {
		return nil, p.broken
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%q was not asked: %w", driver.OpBatch, context.Cause(ctx))
	}
	first := p.lastID + 1
	ends, err := p.encodeRound(batches)
	if err != nil {
		return nil, err
	}
	var answers [][]byte
	at := 0
	for i := range batches {
		around.Before(i)
		line, err := p.ask(ctx, driver.OpBatch, p.request.Bytes()[at:ends[i]], p.deadlines.Batch)
		around.After(i)
		if err != nil {
			p.broken = err
			done, earlier := p.decodeRound(answers, first)
			return done, errors.Join(earlier, err)
		}
		answers = append(answers, append([]byte(nil), line...))
		at = ends[i]
	}
	return p.decodeRound(answers, first)
}

// encodeRound puts all requests into the request buffer and says where each ends.
func (p *Process) encodeRound(batches []driver.Batch) (ends []int, err error) {
	p.request.Reset()
	for i := range batches {
		p.lastID++
		request := driver.Request{ID: p.lastID, Op: driver.OpBatch, Batch: &batches[i]}
		if err := p.encoder.Encode(request); err != nil {
			return nil, fmt.Errorf("cannot encode the request %q: %w", request.Op, err)
		}
		ends = append(ends, p.request.Len())
	}
	return ends, nil
}

// decodeRound decodes answers up to the first that is no answer, or that refuses.
func (p *Process) decodeRound(answers [][]byte, firstID int) ([]driver.Batched, error) {
	var done []driver.Batched
	for i, answer := range answers {
		response, err := p.decode(driver.OpBatch, firstID+i, answer)
		if err != nil {
			p.broken = err
			return done, err
		}
		if response.Error != "" {
			return done, &Refused{Op: driver.OpBatch, Text: response.Error}
		}
		done = append(done, *response.Batched)
	}
	return done, nil
}
