package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"protocolbench/internal/lock"
	"protocolbench/internal/record"
	"protocolbench/internal/report"
	"protocolbench/internal/verdict"
	"protocolbench/tiers"
)

// brokerSettings choose and narrow what a live tier runs against.
var brokerSettings = []string{"tier", "client", "baseline", "versions", "broker", "jolokia", "kafka", "legacy"}

func (p *program) runCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "run",
		Short: "Measure, and judge",
		Args:  noArguments,
	}
	chosen := register(command, append(slices.Clone(brokerSettings), "profile", "seed", "only", "margin", "plant", "profile-cpu", "no-profile-cpu", "any-broker", "out")...)
	list := command.Flags().Bool("list", false, "list the families that would run, with their expected times, and run nothing")
	command.RunE = func(command *cobra.Command, _ []string) error {
		config, err := p.config(command, chosen)
		if err != nil {
			return err
		}
		if *list {
			return p.list(config.Config)
		}
		return p.run(command.Context(), config)
	}
	return command
}

// run measures under the host's lock and prints what came of it.
func (p *program) run(ctx context.Context, config request) error {
	held, err := lock.Acquire(p.lockPath(), os.Getpid(), p.now())
	if err != nil {
		return err
	}
	defer held.Release()
	ctx, stop := interruptible(ctx, p.stderr)
	defer stop()
	shown := newProgress(p.stderr, p.now)
	shown.heading = fmt.Sprintf("seed %d; to repeat this run: %s", config.Seed, config.Replay)
	config.Progress, config.Standing = shown, p.stderr
	config.SharedHost = p.env[envLock] != "" // whoever has a lock file of his own wants runs side by side
	var dir string
	var v verdict.Verdict
	if err = p.prepare(ctx, &config, shown.Say); err == nil {
		dir, v, err = tiers.Run(ctx, config.Config)
	}
	shown.close()
	if err == nil {
		return p.finish(dir, v)
	}
	return p.broken(dir, v, err, ctx.Err() != nil)
}

// prepare makes what can fail before anything is measured.
func (p *program) prepare(ctx context.Context, config *request, say func(string)) error {
	if err := preflight(ctx, config.Config, say); err != nil {
		return err
	}
	return p.buildClients(ctx, config, say)
}

// broken prints what there is of a run that ended in an error, and gives the error: an interruption excuses only what it has caused.
func (p *program) broken(dir string, v verdict.Verdict, cause error, interrupted bool) error {
	if dir == "" {
		if interrupted && errors.Is(cause, context.Canceled) {
			fmt.Fprintf(p.stdout, "verdict: %s (interrupted before anything was measured)\n", verdict.Inconclusive)
			return verdictOf(verdict.ExitInconclusive)
		}
		return cause
	}
	fmt.Fprintf(p.stderr, "results: %s\n", dir)
	if v.Verdict == "" {
		return cause
	}
	saved, err := record.Read(filepath.Join(dir, record.FileName))
	if err == nil {
		err = report.Text(p.stdout, v, saved)
	}
	return errors.Join(cause, err)
}

// finish prints what came of a run that has a record.
func (p *program) finish(dir string, v verdict.Verdict) error {
	saved, err := record.Read(filepath.Join(dir, "run.jsonl"))
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stderr, "results: %s\n", dir)
	err = p.show(v, saved)
	var judged *verdictError
	if errors.As(err, &judged) && judged.code == verdict.ExitHarness {
		return harnessFault(v, saved)
	}
	return err
}

// harnessFault says what kept a run from its work, with the last words of the process that it happened to.
func harnessFault(v verdict.Verdict, saved *record.Run) error {
	for _, fault := range saved.Faults {
		if fault.What == record.FaultBroker || fault.What == record.FaultTool {
			return errors.New(strings.Join(append([]string{fault.Text}, fault.Log...), "\n  "))
		}
	}
	return errors.New(v.Reason)
}

// show prints a verdict and gives its exit code.
func (p *program) show(v verdict.Verdict, saved *record.Run) error {
	if err := report.Text(p.stdout, v, saved); err != nil {
		return fmt.Errorf("the report can't be printed: %w", err)
	}
	return verdictOf(v.ExitCode)
}

func (p *program) lockPath() string {
	if path := p.env[envLock]; path != "" {
		return path
	}
	return filepath.Join(os.TempDir(), "protocolbench.lock")
}
