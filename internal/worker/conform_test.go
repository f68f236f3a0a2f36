package worker_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"protocolbench/internal/worker"
)

func TestConformanceOfTheMemoryEngine(t *testing.T) {
	for _, failure := range worker.Conform(context.Background(), worker.Bench{Command: memoryWorker(t)}) {
		t.Error(failure)
	}
}

func TestConformanceOfTheFranzWorkerWithoutABroker(t *testing.T) {
	for _, failure := range worker.Conform(context.Background(), worker.Bench{Command: franzWorker(t)}) {
		t.Error(failure)
	}
}

func franzWorker(t testing.TB) worker.Command {
	return worker.Command{Path: build(t, "protocolbench/cmd/franz-worker")}
}

// rules gives the names of the failed rules, each once.
func rules(failures []worker.Failure) []string {
	names := []string{}
	for _, f := range failures {
		if !slices.Contains(names, f.Rule) {
			names = append(names, f.Rule)
		}
	}
	slices.Sort(names)
	return names
}

// TestConformanceOfAnyWorker is for authors of workers: DRIVER.md gives the command.
func TestConformanceOfAnyWorker(t *testing.T) {
	command := strings.Fields(os.Getenv("PROTOCOLBENCH_WORKER"))
	if len(command) == 0 {
		t.Skip("no worker to test: set PROTOCOLBENCH_WORKER to its command")
	}
	bench := embeddedBench(t)
	bench.Command = worker.Command{Path: command[0], Args: command[1:]}
	for _, failure := range worker.Conform(context.Background(), bench) {
		t.Error(failure)
	}
}
