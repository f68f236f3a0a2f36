// Package cli is the command line: flags, environment, streams and exit codes. Everything else takes these as arguments.
package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// program is what one command line has of its process.
type program struct {
	environ        []string
	env            environment
	stdin          io.Reader
	stdout, stderr io.Writer
	now            func() time.Time
	args           []string
}

// Main runs a command line and gives its exit code.
func Main(args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{environ: environ, env: readEnvironment(environ), stdin: stdin, stdout: stdout, stderr: stderr, now: time.Now, args: args}
	root := p.root()
	root.SetArgs(slices.Concat(args)) // nil would mean os.Args to cobra
	code, text := exitCode(root.Execute())
	if text != "" {
		fmt.Fprintln(stderr, "protocolbench: "+strings.TrimRight(text, "\n"))
	}
	return code
}

// Tier is Main for a command that runs one tier. Its own executable is its worker, too.
func Tier(tier string, args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 1 && args[0] == workerCommand {
		return Main(args, environ, stdin, stdout, stderr)
	}
	return Main(append([]string{"run", "--tier", tier}, args...), environ, stdin, stdout, stderr)
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "protocolbench",
		Short: "Is any protocol version that a Kafka client implements slower than another, and can the answer be trusted?",
		Long: `protocolbench pins every version of Produce and Fetch, one after the other, on one modern broker, so that the version is the only thing that
varies; it measures client CPU per message, and proves for every number that the pin held and that the broker converted nothing.

Exit codes: 0 pass, 1 harness fault, 2 usage, 3 fail (a version is slower, or a guard failed), 4 inconclusive.`,
		SilenceUsage: true, SilenceErrors: true, DisableSuggestions: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRunE: func(command *cobra.Command, _ []string) error {
			if faults := p.env.unknown(); faults != nil && command.Name() != workerCommand {
				return usage(command, faults...)
			}
			return nil
		},
	}
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.SetFlagErrorFunc(flagFault)
	root.AddCommand(p.runCommand(), p.probeCommand(), p.judgeCommand(), p.reportCommand(), p.compareCommand(), p.brokerCommand(), p.selftestCommand(), p.workerCommand())
	return root
}
