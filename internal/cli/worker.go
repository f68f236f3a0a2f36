package cli

import (
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"protocolbench/internal/client/franz"
	"protocolbench/internal/faulty"
	"protocolbench/internal/worker"
)

// workerCommand is the hidden subcommand with which this program starts itself as a worker: the client under test never runs in the
// process that measures it.
const workerCommand = "worker"

// faultFlag of the worker names what a selftest plants in it.
const faultFlag = "fault"

func (p *program) workerCommand() *cobra.Command {
	var fault string
	command := &cobra.Command{
		Use:    workerCommand,
		Short:  "Speak the driver protocol on standard input and output",
		Hidden: true,
		Args:   noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			// A terminal's Ctrl-C goes to the whole group; the parent decides when a worker ends.
			signal.Ignore(os.Interrupt)
			if fault != "" {
				return faulty.Serve(command.Context(), p.stdin, p.stdout, franz.New(), fault)
			}
			return worker.Serve(command.Context(), p.stdin, p.stdout, franz.New())
		},
	}
	command.Flags().StringVar(&fault, faultFlag, "", "fault of a selftest, to be planted in the client; the hello has it")
	return command
}
