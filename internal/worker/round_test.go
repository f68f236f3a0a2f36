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
	got, err := p.Round(ctx, []driver.Batch{{Cell: 1, Requests: 3}, {Cell: 0, Requests: 5}, {Cell: 1, Requests: 2}}, around)
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
	got, err := p.Round(ctx, []driver.Batch{{Cell: 0, Requests: 1}, {Cell: 9, Requests: 1}, {Cell: 0, Requests: 1}}, none)
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
	got, err := p.Round(ctx, []driver.Batch{{Cell: 0, Requests: 1}, {Cell: 0, Requests: 1}}, kill)
	var dead *worker.Dead
	if !errors.As(err, &dead) || len(got) != 1 {
		t.Errorf("%d answers, %v; want the one before the death, and the death", len(got), err)
	}
}
