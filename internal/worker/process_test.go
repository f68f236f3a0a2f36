package worker_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"protocolbench/internal/driver"
	"protocolbench/internal/measure"
	"protocolbench/internal/worker"
)

func start(t testing.TB, command worker.Command, deadlines worker.Deadlines) *worker.Process {
	t.Helper()
	p, err := worker.Start(context.Background(), command, deadlines)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close(context.Background()) })
	return p
}

func TestAWorkerFromHelloToClose(t *testing.T) {
	ctx := context.Background()
	p := start(t, memoryWorker(t), worker.Deadlines{})
	if h := p.Hello(); h.Client != "memory" || h.PID != p.PID() || h.Protocol != driver.ProtocolVersion {
		t.Errorf("hello %+v from process %d", h, p.PID())
	}
	opened, err := p.Open(ctx, openSmall(3))
	if err != nil || opened.RecordsPerRequest != 10 {
		t.Fatalf("opened %+v, %v", opened, err)
	}
	if err := p.Plant(ctx, driver.Plant{Cell: 3, CPUNsPerRequest: 1000}); err != nil {
		t.Error(err)
	}
	batch := driver.Batch{Cell: 3, Requests: 7}
	warm, err := p.Warm(ctx, batch)
	if err != nil || warm.Records != 70 {
		t.Errorf("warm %+v, %v", warm, err)
	}
	before, _ := p.CPUNs()
	b, err := p.Batch(ctx, batch)
	after, ok := p.CPUNs()
	if err != nil || b.Records != 70 || b.Requests != 7 || b.CPUNs <= 0 || b.WallNs <= 0 || b.RequestP99Ns < b.RequestP50Ns || b.LongestGapNs < b.RequestP99Ns {
		t.Errorf("batch %+v, %v", b, err)
	}
	if ok && after-before < b.CPUNs {
		t.Errorf("the batch took %d ns of CPU by the worker's clock and %d by the parent's", b.CPUNs, after-before)
	}
	if s, err := p.Steady(ctx, batch); err != nil || s.Records != 70 {
		t.Errorf("steady %+v, %v", s, err)
	}
	if h, err := p.Hash(ctx, driver.Batch{Cell: 3, Requests: 1}); err != nil || h.Records != 10 {
		t.Errorf("hash %+v, %v", h, err)
	}
	snapshot, err := p.Snapshot(ctx)
	if err != nil || len(snapshot.Cells) != 2 || snapshot.Cells[0].Cell != 3 || snapshot.Cells[1].Cell != -1 || snapshot.HeapLiveBytes == 0 || snapshot.PeakRSSBytes == 0 {
		t.Errorf("snapshot %+v, %v", snapshot, err)
	}
	if err := p.CloseCell(ctx, 3); err != nil {
		t.Error(err)
	}
	if err := p.Close(ctx); err != nil {
		t.Error(err)
	}
	if tail := p.LogTail(5); len(tail) != 1 || tail[0] != "memory worker: up" {
		t.Errorf("log %q", tail)
	}
	if _, ok := p.CPUNs(); ok {
		t.Error("a CPU clock of a process that has ended")
	}
	if err := p.Close(ctx); err != nil {
		t.Errorf("a second Close: %v", err)
	}
	if _, err := p.Snapshot(ctx); err == nil {
		t.Error("a closed worker answers")
	}
}

func TestARefusalLeavesTheWorkerAlive(t *testing.T) {
	ctx := context.Background()
	p := start(t, memoryWorker(t), worker.Deadlines{})
	_, err := p.Batch(ctx, driver.Batch{Cell: 9, Requests: 1})
	var refused *worker.Refused
	if !errors.As(err, &refused) || refused.Op != "batch" || !strings.Contains(refused.Text, "cell 9 is not open") {
		t.Errorf("batch of no cell: %v", err)
	}
	if _, err := p.Open(ctx, openSmall(9)); err != nil {
		t.Error(err)
	}
	// A context that is over before anything is sent does no harm either.
	over, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := p.Snapshot(over); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
	if _, err := p.Batch(ctx, driver.Batch{Cell: 9, Requests: 1}); err != nil {
		t.Error(err)
	}
}

// Each way to fail gives its own error, with the log's last words, and leaves no process.
func TestFailuresOfAWorker(t *testing.T) {
	dead := func() any { return new(*worker.Dead) }
	hung := func() any { return new(*worker.Hung) }
	junk := func() any { return new(*worker.Junk) }
	for _, c := range []struct {
		way      string
		as       func() any
		text     string
		deadline bool
	}{
		{way: "panics", as: dead, text: "panic: the engine is on fire"},
		{way: "exits", as: dead, text: "exit status 3"},
		{way: "closes stdout", as: dead, text: "closed its standard output"},
		{way: "hangs", as: hung, text: "child ", deadline: true},
		{way: "wrong id", as: junk, text: "id 8 where 3 was due"},
		{way: "new field", as: junk, text: "unknown field"},
		{way: "other answer", as: junk, text: `without its field "batched"`},
		{way: "endless line", as: junk, text: "more than 4194304 bytes"},
	} {
		t.Run(c.way, func(t *testing.T) {
			t.Parallel()
			p := startMisfit(t, c.way, c.deadline)
			_, err := p.Batch(context.Background(), driver.Batch{Cell: 0, Requests: 1})
			as := c.as()
			if !errors.As(err, as) || !strings.Contains(err.Error(), c.text) {
				t.Fatalf("error %v, wanted %T with %q", err, as, c.text)
			}
			if c.text != "panic: the engine is on fire" && !strings.Contains(err.Error(), "log line 299") {
				t.Errorf("the error does not quote the log: %v", err)
			}
			if _, again := p.Batch(context.Background(), driver.Batch{Cell: 0, Requests: 1}); again != err {
				t.Errorf("the second time: %v", again)
			}
			if err := p.Close(context.Background()); err != nil {
				t.Errorf("close after a failure: %v", err)
			}
			groupIsGone(t, p)
		})
	}
}

func startMisfit(t *testing.T, way string, deadline bool) *worker.Process {
	t.Helper()
	command := worker.Command{Path: build(t, "./testdata/misfit"), Args: []string{way, memoryWorker(t).Path}}
	deadlines := worker.Deadlines{}
	if deadline {
		deadlines = quick()
	}
	p := start(t, command, deadlines)
	if _, err := p.Open(context.Background(), openSmall(0)); err != nil {
		t.Fatal(err)
	}
	return p
}

// groupIsGone: nothing of the process group lives, children of the worker among it. Killed orphans are reaped by init, which takes
// a moment.
func groupIsGone(t *testing.T, p *worker.Process) {
	t.Helper()
	for range 200 {
		if err := syscall.Kill(-p.PID(), 0); errors.Is(err, syscall.ESRCH) {
			return
		}
		if !anyAlive(p.PID()) {
			return // zombies that a container's init does not reap
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process group %d is still there", p.PID())
}

func anyAlive(group int) bool {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		var pid int
		if _, err := fmt.Sscan(e.Name(), &pid); err != nil {
			continue
		}
		if g, err := syscall.Getpgid(pid); err == nil && g == group && measure.Alive(pid) {
			return true
		}
	}
	return false
}

func TestHandshakeFailures(t *testing.T) {
	real := memoryWorker(t).Path
	misfit := build(t, "./testdata/misfit")
	for way, text := range map[string]string{
		"other protocol": "speaks driver protocol 99",
		"other pid":      "not in the process group",
		"loud start":     "Welcome to the worker!",
	} {
		_, err := worker.Start(context.Background(), worker.Command{Path: misfit, Args: []string{way, real}}, worker.Deadlines{})
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", way, err)
		}
	}
	_, err := worker.Start(context.Background(), worker.Command{Path: misfit, Args: []string{"no hello", real}}, worker.Deadlines{Hello: 200 * time.Millisecond})
	var hung *worker.Hung
	if !errors.As(err, &hung) || hung.Op != driver.OpHello {
		t.Errorf("no hello: %v", err)
	}
	if _, err := worker.Start(context.Background(), worker.Command{Path: "./no/such/worker"}, worker.Deadlines{}); err == nil || !strings.Contains(err.Error(), "no/such/worker") {
		t.Errorf("no file: %v", err)
	}
	if _, err := worker.Start(context.Background(), worker.Command{Path: "/bin/true"}, worker.Deadlines{}); err == nil || !strings.Contains(err.Error(), "exit status 0") {
		t.Errorf("a program that ends at once: %v", err)
	}
}

func TestCloseOfAWorkerThatDoesNotEnd(t *testing.T) {
	p := startMisfit(t, "never ends", true)
	var hung *worker.Hung
	if err := p.Close(context.Background()); !errors.As(err, &hung) {
		t.Errorf("close: %v", err)
	}
	groupIsGone(t, p)

	p = startMisfit(t, "ends badly", false)
	var dead *worker.Dead
	if err := p.Close(context.Background()); !errors.As(err, &dead) || dead.State != "exit status 7" {
		t.Errorf("close: %v", err)
	}
}

func TestALineThatNobodyAskedFor(t *testing.T) {
	p := startMisfit(t, "line after", false)
	if _, err := p.Batch(context.Background(), driver.Batch{Cell: 0, Requests: 1}); err != nil {
		t.Fatal(err)
	}
	var junk *worker.Junk
	if err := p.Close(context.Background()); !errors.As(err, &junk) || junk.Line != "and by the way" {
		t.Errorf("close: %v", err)
	}
}

func TestGivingUpInABatchKillsTheWorker(t *testing.T) {
	p := startMisfit(t, "hangs", false)
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if _, err := p.Batch(ctx, driver.Batch{Cell: 0, Requests: 1}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("given up: %v", err)
	}
	groupIsGone(t, p)

	p = startMisfit(t, "never ends", false)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if err := p.Close(over); err != nil {
		t.Errorf("close without any time: %v", err)
	}
	groupIsGone(t, p)
}

// The worker here stands behind a launcher, as one in another language would.
func TestEnvironmentAndFolderReachTheWorker(t *testing.T) {
	dir := t.TempDir()
	script := dir + "/launcher"
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$PROTOCOLBENCH_TEST in $(pwd)\" >&2\nexec \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := start(t, worker.Command{
		Path: script, Args: []string{memoryWorker(t).Path}, Env: []string{"PROTOCOLBENCH_TEST=seen"}, Dir: dir,
	}, worker.Deadlines{})
	if log := strings.Join(p.LogTail(10), "\n"); !strings.Contains(log, "seen in "+dir) {
		t.Errorf("log: %s", log)
	}
}

// What a client library prints goes to the log, and the protocol goes on.
func TestALibraryThatPrintsDoesNoHarm(t *testing.T) {
	command := memoryWorker(t)
	command.Args = []string{"noisy"}
	p := start(t, command, worker.Deadlines{})
	if _, err := p.Open(context.Background(), openSmall(0)); err != nil {
		t.Fatal(err)
	}
	if b, err := p.Batch(context.Background(), driver.Batch{Cell: 0, Requests: 2}); err != nil || b.Records != 20 {
		t.Errorf("batch %+v, %v", b, err)
	}
	if err := p.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if log := strings.Join(p.LogTail(10), "\n"); !strings.Contains(log, "a line of the library's own") {
		t.Errorf("log: %s", log)
	}
}

// BenchmarkBatch is what one batch of one request costs the parent: compare its ns/op and allocs/op with the 10 ms that a batch takes.
func BenchmarkBatch(b *testing.B) {
	ctx := context.Background()
	p := start(b, memoryWorker(b), worker.Deadlines{})
	if _, err := p.Open(ctx, openSmall(0)); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	before := measure.SelfCPUNs()
	b.ResetTimer()
	for range b.N {
		if _, err := p.Batch(ctx, driver.Batch{Cell: 0, Requests: 1}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(measure.SelfCPUNs()-before)/float64(b.N), "parent-cpu-ns/op")
}
