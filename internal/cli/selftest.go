package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"protocolbench/guards"
	"protocolbench/internal/lock"
	"protocolbench/internal/selftest"
	"protocolbench/internal/verdict"
	"protocolbench/internal/worker"
	"protocolbench/tiers"
)

func (p *program) selftestCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "selftest",
		Short: "Plant faults on real brokers, and show which guard catches each",
		Long: `Plants one fault after the other, on real brokers, and prints which guard caught it with its evidence; and runs without a fault, on which all have to stay silent.

Exit codes: 0 every fault was caught by its own guard and by nothing else, 3 one was not, 4 one could not be tried here, 1 it could not go on, 2 usage.`,
		Args: noArguments,
	}
	chosen := register(command, "broker", "jolokia", "kafka", "legacy", "seed", "out")
	only := command.Flags().StringSlice("plant", nil, "plant these faults only, by the beginning of their names or of their guards' (default: all)")
	command.RunE = func(command *cobra.Command, _ []string) error {
		config, err := p.config(command, chosen)
		if err != nil {
			return err
		}
		faults, err := selftest.Choose(*only)
		if err != nil {
			return usage(command, err.Error())
		}
		return p.selftest(command.Context(), config.Config, faults)
	}
	return command
}

// selftest runs under the host's lock, as every run does.
func (p *program) selftest(ctx context.Context, c tiers.Config, faults []selftest.Fault) error {
	held, err := lock.Acquire(p.lockPath(), os.Getpid(), p.now())
	if err != nil {
		return err
	}
	defer held.Release()
	ctx, stop := interruptible(ctx, p.stderr)
	defer stop()
	own, err := ownClient()
	if err != nil {
		return err
	}
	self, err := own.Worker(ctx, 0)
	if err != nil {
		return err
	}
	began := p.now()
	c.Out = filepath.Join(c.Out, "selftest-"+began.UTC().Format("20060102T150405Z"))
	c.Tiers = []int{1, 2}
	if c.Attached() {
		c.Tiers = []int{1}
	}
	say := func(text string) { fmt.Fprintln(p.stderr, text) }
	c.Progress = quiet{}
	say(fmt.Sprintf("seed %d; records in %s", c.Seed, c.Out))
	results, err := selftest.Run(ctx, selftest.Options{
		Config: c, Build: own.Build, Say: say, Check: guards.Check, Faults: faults,
		Worker: func(fault string) worker.Command {
			command := worker.Command{Path: self.Path, Args: slices.Clone(self.Args)}
			if fault != "" {
				command.Args = append(command.Args, "--"+faultFlag, fault)
			}
			return command
		},
		Each: func(r selftest.Result) { _ = selftest.Line(p.stdout, r) }, // a broken pipe shows at the summary
	})
	if err != nil {
		return err
	}
	text, missed, untried := selftest.Summary(results)
	if _, err := fmt.Fprintf(p.stdout, "selftest: %s (%s)\n", text, p.now().Sub(began).Round(100_000_000)); err != nil {
		return err
	}
	switch {
	case missed > 0:
		return verdictOf(verdict.ExitFail)
	case untried > 0:
		return verdictOf(verdict.ExitInconclusive)
	}
	return nil
}

// quiet keeps the runs of a selftest from talking: its own lines say what happens.
type quiet struct{}

func (quiet) Expect(time.Duration)       {}
func (quiet) Step(time.Duration, string) {}
func (quiet) Say(string)                 {}
