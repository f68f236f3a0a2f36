package worker_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"protocolbench/internal/driver"
	"protocolbench/internal/shape"
	"protocolbench/internal/worker"
)

// binaries are built once per test run, into one folder: a worker is a value (a command), so no test re-runs itself.
var binaries struct {
	dir string
	mu  sync.Mutex
	ok  map[string]error
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "protocolbench-workers-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binaries.dir, binaries.ok = dir, map[string]error{}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// build builds a main package of this module and gives the file.
func build(t testing.TB, pkg string) string {
	t.Helper()
	binaries.mu.Lock()
	defer binaries.mu.Unlock()
	file := filepath.Join(binaries.dir, filepath.Base(pkg))
	err, built := binaries.ok[pkg]
	if !built {
		var out []byte
		if out, err = exec.Command("go", "build", "-o", file, pkg).CombinedOutput(); err != nil {
			err = fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
		}
		binaries.ok[pkg] = err
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func memoryWorker(t testing.TB) worker.Command {
	return worker.Command{Path: build(t, "./testdata/memory-worker")}
}

// quick deadlines for workers that are known to hang; the others keep the defaults.
func quick() worker.Deadlines {
	return worker.Deadlines{Batch: 300 * time.Millisecond, Close: 300 * time.Millisecond}
}

var small = shape.Shape{
	Name: "small", RecordsPerBatch: 5, BatchesPerPartition: 2, Partitions: 1, Topics: 1,
	KeyBytes: 16, ValueBytes: 100, Headers: 1, RequiredAcks: -1,
}

func openSmall(cell int) driver.Open {
	return driver.Open{
		Cell: cell, Tier: 0, API: "Fetch", Version: 12, Shape: small, Mode: driver.ModeBare,
		ContentSeed: 77, BaseTimestampMs: 1_700_000_000_000, MaxRequests: 64,
	}
}
