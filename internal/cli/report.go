package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"protocolbench/internal/record"
	"protocolbench/internal/report"
	"protocolbench/internal/verdict"
)

// formats of `report`, by name.
var formats = map[string]func(io.Writer, verdict.Verdict, *record.Run) error{
	"text":  report.Text,
	"md":    report.Markdown,
	"html":  report.HTML,
	"bench": report.Bench,
	"json":  verdictJSON,
}

func verdictJSON(out io.Writer, v verdict.Verdict, _ *record.Run) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	return encoder.Encode(v)
}

// reportCommand shows; its exit code is not the verdict's, so that a report of a failed run can stand in a pipeline. `judge` has that.
func (p *program) reportCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "report DIR",
		Short: "Show a saved run, and make the files beside its record again",
		Args:  oneFolder,
	}
	format := command.Flags().String("format", "text", "what to print: text, md, html, bench or json")
	command.RunE = func(command *cobra.Command, args []string) error {
		print, ok := formats[*format]
		if !ok {
			names := make([]string, 0, len(formats))
			for name := range formats {
				names = append(names, name)
			}
			slices.Sort(names)
			return usage(command, fmt.Sprintf("unknown format %q; there are %s", *format, strings.Join(names, ", ")))
		}
		run, v, err := judged(args[0], verdict.Options{})
		if err != nil {
			return err
		}
		if err := p.write(args[0], v, run); err != nil {
			return err
		}
		return print(p.stdout, v, run)
	}
	return command
}
