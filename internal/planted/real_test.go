package planted

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Two of the faults, whose calls are counted and not timed, in a copy of the client that is built and measured as a maintainer's would be: one that has a version, and one that all
// versions share. The others want a machine to themselves (scripts/planted-faults.sh).
func TestCountedFaultsAreFoundInACopyOfTheClient(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED with -short: planted faults in a copy of the client, which is built twice")
	}
	work := t.TempDir()
	program := filepath.Join(work, "protocolbench")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", program, "protocolbench/cmd/protocolbench").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("PROTOCOL_BENCH_LOCK", filepath.Join(work, "lock")) // other tests measure at the same time
	t.Setenv("PROTOCOL_BENCH_PROFILE", "quick")
	only := map[string][]string{"allocates-per-partition": {"tier0/fetch/topics=100/bare"}, "one-batch": {"tier0/fetch/batches=1000x10/bare"}}
	for _, f := range Faults() {
		families, wanted := only[f.Name]
		if !wanted {
			continue
		}
		f.Only = families
		f.Finds = f.Finds[:1]
		r, err := Try(t.Context(), Options{Program: program, Work: work}, f)
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		r.Print(&said)
		t.Log(said.String())
		// What is timed may come out in any way on a machine that has other work.
		if len(r.Missed) > 0 || len(r.Found) == 0 || len(r.Unasked) > 0 {
			t.Errorf("%s is not found:\n%s", f.Name, said.String())
		}
		for _, c := range r.Strangers {
			if c.Kind != Slower && c.Kind != Dearer && c.Kind != Grows {
				t.Errorf("%s: %s, and nothing was planted there", f.Name, c)
			}
		}
		if _, err := os.Stat(filepath.Join(r.Dir, "run.jsonl")); err != nil {
			t.Error(err)
		}
	}
}

// A fault that is no Go shows nothing, and its run says so only where somebody has a broker. All are parsed; whether they compile, which takes seconds each, shows
// the program that runs them, and here one of each kind.
func TestLiveFaultsAreGo(t *testing.T) {
	compiled := []string{"pin-ignored-v9", "leaks-goroutines", "forgets-to-compress"}
	if testing.Short() {
		compiled = nil
	}
	for _, f := range LiveFaults() {
		dir := filepath.Join(t.TempDir(), "client")
		if err := Checkout(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		if err := plant(dir, f.edits, f.declarations); err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		for _, e := range f.edits {
			if _, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.file), nil, parser.SkipObjectResolution); err != nil {
				t.Errorf("%s: %v", f.Name, err)
			}
		}
		if !slices.Contains(compiled, f.Name) {
			continue
		}
		build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", ".")
		build.Dir = filepath.Join(dir, filepath.Dir(f.edits[0].file))
		if out, err := build.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", f.Name, err, out)
		}
	}
}
