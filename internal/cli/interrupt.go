package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"protocolbench/internal/measure"
	"protocolbench/internal/verdict"
)

// interruptible gives a context that the first SIGINT, SIGTERM or SIGHUP ends. A second one ends the process at once; workers and brokers die with
// it by the kernel's hand. stop gives the signals back. What was ignored when the process started stays so: nohup means SIGHUP, and a shell's
// background job must not end by the Ctrl-C that is meant for another.
//
// A closed standard output (`| head`) must not kill a run that has a record to finish, so SIGPIPE is ignored.
func interruptible(parent context.Context, stderr io.Writer) (ctx context.Context, stop func()) {
	signal.Ignore(syscall.SIGPIPE)
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	stopped := make(chan struct{})
	gone := orphaned(ctx)
	go func() {
		for first := true; ; first = false {
			select {
			case <-stopped:
				return
			case <-gone:
				fmt.Fprintln(stderr, "\n`go run` has ended: stopping and taking everything down")
				gone = nil
				cancel()
			case got := <-signals:
				if !first {
					os.Exit(verdict.ExitHarness)
				}
				fmt.Fprintf(stderr, "\n%s: stopping and taking everything down; once more ends it at once\n", got)
				cancel()
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(stopped)
		cancel()
	}
}

// orphaned is closed when the `go run` that started this process has ended: SIGTERM to `go run` kills only `go run`. Other parents are not
// watched, since a shell may end and leave a run to nohup.
func orphaned(ctx context.Context) <-chan struct{} {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", os.Getppid()))
	if err != nil || strings.TrimSpace(string(name)) != "go" {
		return nil
	}
	return measure.ParentGone(ctx)
}
