package planted

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"protocolbench/internal/verdict"
)

// Options of a run of planted faults.
type Options struct {
	Program string   // protocolbench, built
	Work    string   // folder for copies and results
	Args    []string // more for protocolbench run, e.g. a profile and a seed
}

// Result is what came of a fault.
type Result struct {
	Fault
	Judged
	Ended *Ended // of a fault whose run's end counts
	Dir   string // of the record
}

// Try plants a fault in a fresh copy of the client, measures it, and says what was called.
func Try(ctx context.Context, o Options, f Fault) (Result, error) {
	client := filepath.Join(o.Work, "client")
	if err := os.RemoveAll(client); err != nil {
		return Result{}, err
	}
	if err := Checkout(ctx, client); err != nil {
		return Result{}, err
	}
	if err := plant(client, f.edits, f.declarations); err != nil {
		return Result{}, fmt.Errorf("%s: %w", f.Name, err)
	}
	v, exit, dir, err := o.measure(ctx, client, f)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", f.Name, err)
	}
	if f.Ends != nil {
		ended := f.Ends.judge(v, exit)
		return Result{Fault: f, Ended: &ended, Dir: dir}, nil
	}
	return Result{Fault: f, Judged: f.judge(v), Dir: dir}, nil
}

// measure runs protocolbench as a maintainer would. Its exit code is no error where there is a verdict: that is what is asked for.
func (o Options) measure(ctx context.Context, client string, f Fault) (v verdict.Verdict, exit int, dir string, err error) {
	out := filepath.Join(o.Work, "results", f.Name)
	if err := os.RemoveAll(out); err != nil {
		return v, 0, "", err
	}
	args := []string{"run", "--tier", strconv.Itoa(f.Tier), "--client", "franz-go=" + client, "--out", out}
	for _, only := range f.Only {
		args = append(args, "--only", only)
	}
	run := exec.CommandContext(ctx, o.Program, append(args, o.Args...)...)
	var said bytes.Buffer
	run.Stdout, run.Stderr = &said, &said
	runErr := run.Run()
	content, err := os.ReadFile(filepath.Join(out, "latest", "verdict.json"))
	if err != nil {
		return v, 0, "", errors.Join(fmt.Errorf("protocolbench left no verdict; it said: %s", lastBytes(said.Bytes(), 2000)), runErr, err)
	}
	if err := json.Unmarshal(content, &v); err != nil {
		return v, 0, "", fmt.Errorf("reading its verdict: %w", err)
	}
	dir, err = filepath.EvalSymlinks(filepath.Join(out, "latest"))
	return v, run.ProcessState.ExitCode(), dir, err
}

func lastBytes(b []byte, n int) []byte { return b[max(0, len(b)-n):] }

// Print says what came of a fault.
func (r Result) Print(w io.Writer) {
	if r.Ended != nil {
		r.printEnd(w)
		return
	}
	word := "found, and nothing else called"
	switch {
	case !r.Right():
		word = "NOT AS IT SHOULD BE"
	case len(r.Finds) == 0:
		word = "nothing called"
	}
	fmt.Fprintf(w, "%s: %s\n  planted: %s\n", r.Name, word, r.Planted)
	list(w, "found", r.Found)
	list(w, "besides ("+r.Why+")", r.Besides)
	list(w, "MISSED", r.Missed)
	list(w, "CALLED, and nothing was planted there", r.Strangers)
	for _, e := range r.Unasked {
		fmt.Fprintf(w, "  NOT MEASURED: %s\n", e.Family)
	}
	fmt.Fprintf(w, "  record: %s\n", r.Dir)
}

// Right tells whether it came out as it has to.
func (r Result) Right() bool {
	if r.Ended != nil {
		return r.Ended.Right()
	}
	return r.Judged.Right()
}

func (r Result) printEnd(w io.Writer) {
	word := "found"
	switch {
	case !r.Right():
		word = "NOT AS IT SHOULD BE"
	case r.Hidden != "":
		word = "not found, as known: " + r.Hidden
	}
	e := r.Ended
	fmt.Fprintf(w, "%s: %s\n  planted: %s\n  exit %d, %s: %s\n", r.Name, word, r.Planted, e.Exit, e.Verdict, e.Reason)
	for _, missed := range e.Missed {
		fmt.Fprintf(w, "  MISSED: %s\n", missed)
	}
	for _, guard := range e.Strange {
		fmt.Fprintf(w, "  FAILED, and it is none of its business: %s\n", guard)
	}
	for _, said := range e.Objected[:min(len(e.Objected), mostSaid)] {
		fmt.Fprintf(w, "  said: %s\n", said)
	}
	fmt.Fprintf(w, "  record: %s\n", r.Dir)
}

// mostSaid of a run's objections are shown: the record has the rest.
const mostSaid = 4

// list has a line for each family and kind.
func list(w io.Writer, title string, calls []Call) {
	for i := 0; i < len(calls); {
		c, versions := calls[i], ""
		for ; i < len(calls) && calls[i].Family == c.Family && calls[i].Kind == c.Kind; i++ {
			if calls[i].Version >= 0 {
				versions += fmt.Sprintf(" v%d", calls[i].Version)
			}
		}
		fmt.Fprintf(w, "  %s: %s, %s%s\n", title, c.Kind, c.Family, versions)
	}
}
