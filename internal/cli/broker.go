package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"protocolbench/compose"
	"protocolbench/internal/broker"
	"protocolbench/internal/measure"
)

// stopTime bounds how long a broker may take to go down.
const stopTime = 20 * time.Second

// brokerCommand takes no lock: it is there to be attached to by a run, which has it.
func (p *program) brokerCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "broker",
		Short: "Start a real broker to attach to, print where it is, and take it down on Ctrl-C",
		Args:  noArguments,
	}
	release := command.Flags().String("release", compose.DefaultRelease, "Kafka release")
	command.RunE = func(command *cobra.Command, _ []string) error {
		parsed, err := compose.ParseRelease(*release)
		if err != nil {
			return usage(command, "--release: "+err.Error())
		}
		tier := 1
		if parsed.Kind == compose.ZooKeeper {
			tier = 2
		}
		return p.broker(command.Context(), parsed.Number, tier)
	}
	return command
}

func (p *program) broker(ctx context.Context, release string, tier int) (err error) {
	cache, err := broker.CacheDir(p.environ)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(ctx, p.stderr)
	defer stop()
	_, cpus := measure.SplitCPUs(measure.AllowedCPUs())
	say := func(text string) { fmt.Fprintln(p.stderr, text) }
	b, err := broker.StartJVM(ctx, broker.JVMOptions{Release: release, Tier: tier, CacheDir: cache, CPUs: cpus, Progress: say})
	if err != nil {
		return err
	}
	defer func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		err = errors.Join(err, b.Stop(stopping))
	}()
	row := b.Row()
	fmt.Fprintf(p.stdout, "Kafka %s, cluster %s, process %d, until Ctrl-C\naddresses: %s\njolokia: %s\n",
		row.Release, row.ClusterID, row.PID, strings.Join(row.Addresses, ","), row.JolokiaURL)
	select {
	case <-ctx.Done():
		return nil
	case <-b.Exited():
		return fmt.Errorf("the broker has ended by itself; its last words:\n%s", strings.Join(b.LogTail(20), "\n"))
	}
}
