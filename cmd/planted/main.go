// Command planted plants faults in copies of the client and shows that tier 0 finds each of them, and calls nothing else. METHODOLOGY.md has its output.
//
//	go run ./cmd/planted [-only NAME] [-work DIR] [-program PROTOCOLBENCH] [-- flags of protocolbench run]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"protocolbench/internal/planted"
)

func main() {
	only := flag.String("only", "", "faults whose names contain this")
	work := flag.String("work", "", "folder for copies and results (default: a temporary one, which is kept)")
	program := flag.String("program", "", "a built protocolbench (default: it is built)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	wrong, err := run(ctx, *only, planted.Options{Work: *work, Program: *program, Args: flag.Args()})
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "planted:", err)
		os.Exit(2)
	case wrong > 0:
		fmt.Printf("%d faults were not found as they should be\n", wrong)
		os.Exit(1)
	}
}

func run(ctx context.Context, only string, o planted.Options) (wrong int, err error) {
	if o.Work == "" {
		if o.Work, err = os.MkdirTemp("", "planted"); err != nil {
			return 0, err
		}
	}
	if o.Program == "" {
		o.Program = filepath.Join(o.Work, "protocolbench")
		if out, err := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", o.Program, "./cmd/protocolbench").CombinedOutput(); err != nil {
			return 0, fmt.Errorf("building protocolbench: %w\n%s", err, out)
		}
	}
	tried := 0
	for _, f := range slices.Concat(planted.Faults(), []planted.Fault{planted.Nothing()}, planted.LiveFaults()) {
		if !strings.Contains(f.Name, only) {
			continue
		}
		tried++
		r, err := planted.Try(ctx, o, f)
		if err != nil {
			return wrong, err
		}
		r.Print(os.Stdout)
		if !r.Right() {
			wrong++
		}
	}
	if tried == 0 {
		return 0, fmt.Errorf("no fault's name contains %q", only)
	}
	return wrong, nil
}
