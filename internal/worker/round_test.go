package worker_test

import (
	"context"
	"errors"
	"syscall"
	"testing"

	"protocolbench/internal/driver"
	"protocolbench/internal/measure"
	"protocolbench/internal/worker"
)

func turns(p *worker.Process, batches ...driver.Batch) []worker.Turn {
	var list []worker.Turn
	for _, b := range batches {
		list = append(list, worker.Turn{Process: p, Batch: b})
	}
	return list
}

func TestARoundRunsInOrderAndReadsItsClocksAroundEachBatch(t *testing.T) {
	ctx := context.Background()
	p := start(t, memoryWorker(t), worker.Deadlines{})
	for _, cell := range []int{0, 1} {
		if _, err := p.Open(ctx, openSmall(cell)); err != nil {
			t.Fatal(err)
		}
	}
	var calls []int
	around := worker.Around{Before: func(i int) { calls = append(calls, i) }, After: func(i int) { calls = append(calls, -i-1) }}
	got, err := worker.Round(ctx, turns(p, []driver.Batch{{Cell: 1, Requests: 3}, {Cell: 0, Requests: 5}, {Cell: 1, Requests: 2}}...), around)
	if err != nil || len(got) != 3 || got[0].Requests != 3 || got[1].Requests != 5 || got[2].Requests != 2 {
		t.Fatalf("round %+v, %v", got, err)
	}
	for i, want := range []int{0, -1, 1, -2, 2, -3} {
		if calls[i] != want {
			t.Fatalf("clocks were read as %v", calls)
		}
	}
	if b, err := p.Batch(ctx, driver.Batch{Cell: 0, Requests: 1}); err != nil || b.Requests != 1 {
		t.Errorf("after a round, a batch: %+v, %v", b, err)
	}
}

func TestARoundKeepsWhatCameBeforeARefusal(t *testing.T) {
	ctx := context.Background()
	p := start(t, memoryWorker(t), worker.Deadlines{})
	if _, err := p.Open(ctx, openSmall(0)); err != nil {
		t.Fatal(err)
	}
	none := worker.Around{Before: func(int) {}, After: func(int) {}}
	got, err := worker.Round(ctx, turns(p, []driver.Batch{{Cell: 0, Requests: 1}, {Cell: 9, Requests: 1}, {Cell: 0, Requests: 1}}...), none)
	var refused *worker.Refused
	if !errors.As(err, &refused) || len(got) != 1 {
		t.Errorf("%d answers, %v; want the one before the refusal, and the refusal", len(got), err)
	}
	if _, err := p.Snapshot(ctx); err != nil {
		t.Errorf("the worker was refused something and lives on: %v", err)
	}
}

func TestARoundOfAWorkerThatDiesIsItsDeath(t *testing.T) {
	ctx := context.Background()
	p := start(t, memoryWorker(t), worker.Deadlines{})
	if _, err := p.Open(ctx, openSmall(0)); err != nil {
		t.Fatal(err)
	}
	kill := worker.Around{Before: func(i int) {
		if i == 1 {
			measure.KillGroup(p.PID(), syscall.SIGKILL)
		}
	}, After: func(int) {}}
	got, err := worker.Round(ctx, turns(p, []driver.Batch{{Cell: 0, Requests: 1}, {Cell: 0, Requests: 1}}...), kill)
	var dead *worker.Dead
	if !errors.As(err, &dead) || len(got) != 1 {
		t.Errorf("%d answers, %v; want the one before the death, and the death", len(got), err)
	}
}

// Two workers take turns: each answers its own requests, and one that refuses or dies leaves the other usable.
func TestARoundOfTwoWorkers(t *testing.T) {
	ctx := context.Background()
	command := memoryWorker(t)
	a, b := start(t, command, worker.Deadlines{}), start(t, command, worker.Deadlines{})
	for cell, p := range []*worker.Process{a, b} {
		if _, err := p.Open(ctx, openSmall(cell)); err != nil {
			t.Fatal(err)
		}
	}
	none := worker.Around{Before: func(int) {}, After: func(int) {}}
	list := []worker.Turn{{Process: a, Batch: driver.Batch{Cell: 0, Requests: 1}}, {Process: b, Batch: driver.Batch{Cell: 1, Requests: 2}},
		{Process: b, Batch: driver.Batch{Cell: 1, Requests: 3}}, {Process: a, Batch: driver.Batch{Cell: 0, Requests: 4}}}
	for range 2 {
		got, err := worker.Round(ctx, list, none)
		if err != nil || len(got) != 4 {
			t.Fatalf("round %+v, %v", got, err)
		}
		for i := range got {
			if got[i].Requests != i+1 {
				t.Errorf("turn %d answered %d requests", i, got[i].Requests)
			}
		}
	}
	kill := worker.Around{Before: func(i int) {
		if i == 2 {
			measure.KillGroup(b.PID(), syscall.SIGKILL)
		}
	}, After: func(int) {}}
	got, err := worker.Round(ctx, list, kill)
	var dead *worker.Dead
	if !errors.As(err, &dead) || len(got) != 2 {
		t.Errorf("%d answers, %v; want the two before the death, and the death", len(got), err)
	}
	if batch, err := a.Batch(ctx, driver.Batch{Cell: 0, Requests: 5}); err != nil || batch.Requests != 5 {
		t.Errorf("the other worker afterwards: %+v, %v", batch, err)
	}
}
