package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"protocolbench/guards"
	"protocolbench/internal/record"
	"protocolbench/internal/report"
	"protocolbench/internal/verdict"
)

func (p *program) judgeCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "judge DIR",
		Short: "Judge a saved run again, from its record alone",
		Args:  oneFolder,
	}
	chosen := register(command, "margin")
	command.RunE = func(command *cobra.Command, args []string) error {
		options, err := p.judgeOptions(command, chosen)
		if err != nil {
			return err
		}
		run, v, err := judged(args[0], options)
		if err != nil {
			return err
		}
		if err := p.write(args[0], v, run); err != nil {
			return err
		}
		return p.show(v, run)
	}
	return command
}

// judgeOptions are what may be chosen when a saved run is judged.
func (p *program) judgeOptions(command *cobra.Command, chosen choices) (options verdict.Options, err error) {
	chosen.fill(p.env)
	if g := chosen["margin"]; g.isSet() {
		if options.Margin, err = parseMargin(g.text); err != nil {
			return options, usage(command, g.source()+": "+err.Error())
		}
	}
	return options, nil
}

// judged makes a verdict of a folder's record. The margin of the run itself holds unless another is asked for.
func judged(dir string, options verdict.Options) (*record.Run, verdict.Verdict, error) {
	run, err := record.Read(filepath.Join(dir, "run.jsonl"))
	if err != nil {
		return nil, verdict.Verdict{}, err
	}
	if options.Margin == 0 {
		options.Margin = run.Header.Margin
	}
	return run, verdict.Judge(run, guards.Check(run), options), nil
}

// write makes the files beside the record again. A folder that can't be written (an archive, a mount) is no reason not to judge it.
func (p *program) write(dir string, v verdict.Verdict, run *record.Run) error {
	err := report.WriteAll(dir, v, run)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		fmt.Fprintf(p.stderr, "%s is read-only: verdict and reports were not written there\n", dir)
		return nil
	}
	return err
}
