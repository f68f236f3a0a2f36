package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"protocolbench/internal/driver"
)

// Around is called right before a batch is sent and right after its answer's line is there: for the clocks that are read from outside.
type Around struct {
	Before, After func(i int)
}

// Turn is one batch of a round and the worker that runs it.
type Turn struct {
	Process *Process
	Batch   driver.Batch
}

// Round runs the batches one after the other, whichever of the workers each belongs to: while one works, the others wait for their line.
// Requests are encoded before the first and answers decoded after the last: both cost the parent several times more when they come one by one
// after a pause of 10 ms than all at once, and between batches the parent should keep still.
//
// With an error come the answers before it.
func Round(ctx context.Context, turns []Turn, around Around) ([]driver.Batched, error) {
	var workers []*Process
	for _, turn := range turns {
		if !slices.Contains(workers, turn.Process) {
			workers = append(workers, turn.Process)
		}
	}
	for _, p := range workers {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.broken != nil {
			return nil, p.broken
		}
		p.request.Reset()
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%q was not asked: %w", driver.OpBatch, context.Cause(ctx))
	}
	requests, err := encodeRound(turns)
	if err != nil {
		return nil, err
	}
	var answers [][]byte
	for i, turn := range turns {
		p := turn.Process
		around.Before(i)
		line, err := p.ask(ctx, driver.OpBatch, p.request.Bytes()[requests[i].from:requests[i].to], p.deadlines.Batch)
		around.After(i)
		if err != nil {
			p.broken = err
			done, earlier := decodeRound(turns, requests, answers)
			return done, errors.Join(earlier, err)
		}
		answers = append(answers, append([]byte(nil), line...))
	}
	return decodeRound(turns, requests, answers)
}

// encoded is where a turn's request lies in its worker's buffer.
type encoded struct{ id, from, to int }

func encodeRound(turns []Turn) ([]encoded, error) {
	requests := make([]encoded, len(turns))
	for i := range turns {
		p := turns[i].Process
		p.lastID++
		from := p.request.Len()
		if err := p.encoder.Encode(driver.Request{ID: p.lastID, Op: driver.OpBatch, Batch: &turns[i].Batch}); err != nil {
			return nil, fmt.Errorf("cannot encode the request %q: %w", driver.OpBatch, err)
		}
		requests[i] = encoded{p.lastID, from, p.request.Len()}
	}
	return requests, nil
}

// decodeRound decodes answers up to the first that is no answer, or that refuses.
func decodeRound(turns []Turn, requests []encoded, answers [][]byte) ([]driver.Batched, error) {
	var done []driver.Batched
	for i, answer := range answers {
		p := turns[i].Process
		response, err := p.decode(driver.OpBatch, requests[i].id, answer)
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
