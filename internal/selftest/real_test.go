package selftest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"protocolbench/guards"
	"protocolbench/internal/broker"
	"protocolbench/internal/build"
	"protocolbench/internal/faulty"
	"protocolbench/internal/record"
	"protocolbench/internal/worker"
	"protocolbench/tiers"
)

// A selftest has to be able to fail: with one guard taken out, the fault that is its own is missed. The others are found: among them a client that ignores its pin, and one whose
// count of frames lies about it.
func TestSelftestMissesWhatNoGuardSees(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED, NO REAL BROKER WAS TESTED: -short leaves out real brokers")
	}
	for _, tool := range []string{"java", "mvn"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED, NO REAL BROKER WAS TESTED: there is no %s (apt-get install openjdk-17-jre-headless maven)", tool)
		}
	}
	binary := filepath.Join(t.TempDir(), "protocolbench")
	if out, err := exec.Command("go", "build", "-o", binary, "protocolbench/cmd/protocolbench").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	own, err := build.Own(binary)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := broker.CacheDir(os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	faults, err := Choose([]string{"repeats-a-record", "deleted records", faulty.PinUpwards, faulty.LiesOfFrames})
	if err != nil {
		t.Fatal(err)
	}
	results, err := Run(context.Background(), Options{
		Config: tiers.Config{Seed: 5, Out: t.TempDir(), CacheDir: cache, Tiers: []int{1, 2}, Now: time.Now, Progress: silent{}, Tool: "test"},
		Build:  own, Say: func(text string) { t.Log(text) }, Each: func(Result) {}, Faults: faults,
		Worker: func(fault string) worker.Command {
			command := worker.Command{Path: binary, Args: []string{"worker"}}
			if fault != "" {
				command.Args = append(command.Args, "--fault", fault)
			}
			return command
		},
		Check: func(run *record.Run) []guards.Finding {
			return slices.DeleteFunc(guards.Check(run), func(f guards.Finding) bool { return f.Guard == guards.Log || f.Guard == guards.Host })
		},
	})
	if err != nil || len(results) != 4 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	for _, r := range results {
		if want := r.Guard != guards.Log; r.Caught() != want {
			t.Errorf("%s, with no guard of logs: caught %v, want %v: %+v", r.Name, r.Caught(), want, r)
		}
		run, err := record.Read(filepath.Join(r.Dir, record.FileName))
		if err != nil || !slices.Contains(run.Header.Plants, "fault: "+r.Name) {
			t.Errorf("the record doesn't say what was planted: %v %v", run.Header.Plants, err)
		}
	}
}

type silent struct{}

func (silent) Expect(time.Duration)       {}
func (silent) Step(time.Duration, string) {}
func (silent) Say(string)                 {}
