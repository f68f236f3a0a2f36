package tiers

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
	"protocolbench/internal/worker"
)

// workerCommand is a real franz-go worker, built once for all tests of the package.
var workerCommand worker.Command

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "protocolbench-tiers-test-")
	if err != nil {
		panic(err)
	}
	path := filepath.Join(dir, "franz-worker")
	build := exec.Command("go", "build", "-o", path, "protocolbench/cmd/franz-worker")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		panic("building cmd/franz-worker: " + err.Error())
	}
	workerCommand = worker.Command{Path: path}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// silent takes a run's progress and keeps what was said for a failing test.
type silent struct{ t *testing.T }

func (silent) Expect(time.Duration)       {}
func (silent) Step(time.Duration, string) {}
func (s silent) Say(text string)          { s.t.Log(text) }

func config(t *testing.T, tiers []int, only ...string) Config {
	return Config{Tiers: tiers, Profile: "quick", Seed: 7, Out: t.TempDir(), Only: only, Broker: "embedded", Kafka: "4.4.0", Legacy: "1.1.0",
		Client: clientOf(workerCommand), Command: []string{"test"}, Replay: "test", Now: time.Now, Progress: silent{t}, Standing: io.Discard,
		SharedHost: true} // the tests of other packages run beside these
}

// clientOf is a client whose worker lies ready.
func clientOf(command worker.Command) Client {
	return Client{Build: record.Build{Spec: "franz-go", Version: "test", ContentHash: "test", Modules: []record.Module{}},
		Worker: func(context.Context, int) (worker.Command, error) { return command, nil }}
}

func mustRun(t *testing.T, c Config) (*record.Run, verdict.Verdict, string) {
	t.Helper()
	dir, v, err := Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	run, err := record.Read(filepath.Join(dir, record.FileName))
	if err != nil {
		t.Fatal(err)
	}
	return run, v, dir
}

func TestEmbeddedRunShowsTheFlowAndIsInconclusive(t *testing.T) {
	c := config(t, []int{0, 1, 2}, "tier0/fetch/records=100/bare", "tier1/fetch/size=64KiB", "tier2/produce/records=100,")
	c.Versions = map[string][2]int{"fetch": {17, 18}, "produce": {12, 13}}
	run, v, dir := mustRun(t, c)
	if v.Verdict != verdict.Inconclusive || v.ExitCode != verdict.ExitInconclusive {
		t.Errorf("verdict %s (%d): %s; an embedded broker can't give another word than inconclusive", v.Verdict, v.ExitCode, v.Reason)
	}
	for _, g := range v.Guards {
		if g.Outcome == "fail" {
			t.Errorf("guard %s fails on a clean run: %s %s: %s", g.Guard, g.Family, g.Why, g.Evidence)
		}
	}
	if run.Trailer == nil || !run.Trailer.Complete {
		t.Errorf("trailer %+v, want a complete run", run.Trailer)
	}
	if len(run.Families) != 3 {
		t.Fatalf("%d families, want 3", len(run.Families))
	}
	for _, f := range run.Families {
		if len(f.BlockRuns) != f.Blocks {
			t.Errorf("%s: %d blocks, planned %d", f.Name, len(f.BlockRuns), f.Blocks)
		}
		for _, b := range f.BlockRuns {
			if len(b.Batches) != f.Rounds*len(f.Cells) {
				t.Errorf("%s fork %d: %d batches, planned %d x %d", f.Name, b.Fork, len(b.Batches), f.Rounds, len(f.Cells))
			}
		}
	}
	for _, name := range []string{"verdict.json", "report.md", "report.html", "bench.txt"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestSameSeedGivesSameContentsAndSameOrder(t *testing.T) {
	type drawn struct {
		seeds  []uint64
		orders [][][]int
		opened [][]int
	}
	draw := func(seed uint64) drawn {
		c := config(t, []int{0}, "tier0/fetch/records=100/bare")
		c.Versions = map[string][2]int{"fetch": {16, 18}}
		c.Seed = seed
		run, _, _ := mustRun(t, c)
		var d drawn
		for _, b := range run.Families[0].BlockRuns {
			d.seeds, d.orders, d.opened = append(d.seeds, b.ContentSeed), append(d.orders, b.Orders), append(d.opened, b.OpeningOrder)
		}
		return d
	}
	same := func(a, b [][]int) bool { return slices.EqualFunc(a, b, slices.Equal[[]int]) }
	one, again, other := draw(7), draw(7), draw(8)
	if !slices.Equal(one.seeds, again.seeds) || !slices.EqualFunc(one.orders, again.orders, same) || !same(one.opened, again.opened) {
		t.Error("the same seed gave other contents or another order")
	}
	if slices.Equal(one.seeds, other.seeds) || slices.EqualFunc(one.orders, other.orders, same) {
		t.Error("another seed gave the same contents or the same order")
	}
}

// A worker that ends or hangs in the middle is a result of the client, not noise: the run goes on, and fails.
func TestWorkerThatDiesOrHangsFailsTheRun(t *testing.T) {
	// head would do, but holds lines back when it writes to a pipe.
	// Operations are counted, not lines: how long a block warms up is the machine's affair.
	const lines = `i=0; while [ $i -lt 30 ] && IFS= read -r line; do printf '%s\n' "$line"; case "$line" in *'"op":"batch"'*) i=$((i+1));; esac; done `
	for name, script := range map[string]string{
		"cannot be warmed": strings.Replace(lines, `"op":"batch"`, `"op":"warm"`, 1) + `| "$0"`,
		"dies":             lines + `| "$0"`,
		"hangs":            `(` + lines + `; [ $i -lt 30 ] || sleep 60) | "$0"`,
	} {
		t.Run(name, func(t *testing.T) {
			c := config(t, []int{0}, "tier0/fetch/records=100/bare")
			c.Client = clientOf(worker.Command{Path: "/bin/sh", Args: []string{"-c", script, workerCommand.Path}})
			c.Deadlines = worker.DefaultDeadlines()
			c.Deadlines.Batch = 2 * time.Second
			run, v, _ := mustRun(t, c)
			if v.Verdict != verdict.Fail || v.ExitCode != verdict.ExitFail {
				t.Errorf("verdict %s (%d): %s; want fail", v.Verdict, v.ExitCode, v.Reason)
			}
			if len(run.Faults) == 0 || run.Faults[0].What != record.FaultWorker {
				t.Errorf("faults %+v, want a worker's", run.Faults)
			}
			if name != "cannot be warmed" && !slices.ContainsFunc(run.Families[0].BlockRuns, func(b record.BlockRun) bool { return len(b.Batches) > 0 }) {
				t.Error("the batches before the fault are not in the record")
			}
		})
	}
}

func TestInterruptionKeepsWhatWasFound(t *testing.T) {
	c := config(t, []int{0}, "tier0/fetch/records=100/bare")
	ctx, cancel := context.WithCancel(context.Background())
	c.Progress = cancelAt{silent{t}, 3, new(int), cancel}
	dir, v, err := Run(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	if v.Verdict != verdict.Inconclusive || v.ExitCode != verdict.ExitInconclusive {
		t.Errorf("verdict %s (%d): %s", v.Verdict, v.ExitCode, v.Reason)
	}
	run, err := record.Read(filepath.Join(dir, record.FileName))
	if err != nil {
		t.Fatal(err)
	}
	if run.Trailer == nil || run.Trailer.Complete || len(run.Families[0].BlockRuns) == 0 {
		t.Errorf("trailer %+v with %d families", run.Trailer, len(run.Families))
	}
}

// cancelAt cancels a run when its n-th step begins.
type cancelAt struct {
	silent
	n      int
	seen   *int
	cancel context.CancelFunc
}

func (c cancelAt) Step(time.Duration, string) {
	if *c.seen++; *c.seen == c.n {
		c.cancel()
	}
}
