package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"protocolbench/guards"
	"protocolbench/internal/record"
	"protocolbench/internal/report"
	"protocolbench/internal/verdict"
)

// comparisonFormats of `compare`, by name.
var comparisonFormats = map[string]func(io.Writer, verdict.Comparison) error{
	"text": report.Comparison,
	"json": comparisonJSON,
}

func comparisonJSON(out io.Writer, c verdict.Comparison) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	return encoder.Encode(c)
}

func (p *program) compareCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "compare A B",
		Short: "Lay two saved runs side by side: what differs, which counters changed, which versions' curves rose",
		Long: `compare lays two saved runs side by side, A before B: what differs between them (client build, machine, brokers, budget), which counters changed, and
how each version's cost against the others changed. Times of two runs are never compared, since machines drift by tens of per cent between runs, so a
change that made all versions slower alike is invisible to it: run --baseline is for that. Where even the curves can't be compared (other machine, broker,
shape or mode, a guard that failed) it says why and refuses a verdict.

Exit codes: 0 no version's curve rose, 1 harness fault, 2 usage, 3 a version's curve rose, 4 inconclusive or refused.`,
		Args: twoRecords,
	}
	format := command.Flags().String("format", "text", "what to print: text or json")
	chosen := register(command, "margin")
	command.RunE = func(command *cobra.Command, args []string) error {
		print, ok := comparisonFormats[*format]
		if !ok {
			return usage(command, fmt.Sprintf("unknown format %q; there are json, text", *format))
		}
		options, err := p.judgeOptions(command, chosen)
		if err != nil {
			return err
		}
		var runs [2]*record.Run
		for i, path := range args {
			run, err := record.Read(path)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return usage(command, err.Error())
			case err != nil:
				return err
			}
			runs[i] = run
		}
		a, b := runs[0], runs[1]
		comparison := verdict.Compare(a, b, guards.Check(a), guards.Check(b), options)
		if err := print(p.stdout, comparison); err != nil {
			return fmt.Errorf("the comparison can't be printed: %w", err)
		}
		return verdictOf(comparison.ExitCode)
	}
	return command
}

// twoRecords wants two result folders, or records, and nothing else.
func twoRecords(command *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return usage(command, "two result folders are missing, e.g. results/20261130T222001Z-7 results/latest")
	case 1:
		return usage(command, "a second result folder is missing, e.g. results/latest")
	case 2:
		return nil
	}
	return usage(command, fmt.Sprintf("unexpected argument %q", args[2]))
}
