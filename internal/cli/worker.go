package cli

import (
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"protocolbench/internal/client/franz"
	"protocolbench/internal/worker"
)

// workerCommand is the hidden subcommand with which this program starts itself as a worker: the client under test never runs in the
// process that measures it.
const workerCommand = "worker"

func (p *program) workerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    workerCommand,
		Short:  "Speak the driver protocol on standard input and output",
		Hidden: true,
		Args:   noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			// A terminal's Ctrl-C goes to the whole group; the parent decides when a worker ends.
			signal.Ignore(os.Interrupt)
			return worker.Serve(command.Context(), p.stdin, p.stdout, franz.New())
		},
	}
}
