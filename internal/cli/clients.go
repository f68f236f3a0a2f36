package cli

import (
	"context"
	"fmt"
	"os"

	"protocolbench/internal/build"
	"protocolbench/internal/worker"
	"protocolbench/tiers"
)

// request is what a command line asks for: the run, and the clients that have to be built for it first.
type request struct {
	tiers.Config
	client   build.Spec
	baseline *build.Spec
}

// buildClients makes the clients of a run. The built-in one alone is this executable; of two builds each is built in the same way, since
// this program around one of them would be a difference.
func (p *program) buildClients(ctx context.Context, r *request, say func(string)) error {
	if r.baseline == nil && r.client.BuiltIn() {
		var err error
		r.Client, err = ownClient()
		return err
	}
	builder := build.Builder{CacheDir: r.CacheDir, Env: p.environ, Now: p.now, Say: say}
	var err error
	if r.Client, err = builtClient(ctx, builder, r.client); err != nil || r.baseline == nil {
		return labelled("--client", err)
	}
	baseline, err := builtClient(ctx, builder, *r.baseline)
	if err != nil {
		return labelled("--baseline", err)
	}
	r.Baseline = &baseline
	if r.Client.Build.ContentHash == baseline.Build.ContentHash {
		say("candidate and baseline are the same code: this run shows what the tool finds where there is nothing to find")
	}
	return nil
}

func labelled(flag string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", flag, err)
}

func builtClient(ctx context.Context, builder build.Builder, spec build.Spec) (tiers.Client, error) {
	built, err := builder.Prepare(ctx, spec)
	if err != nil {
		return tiers.Client{}, err
	}
	return tiers.Client{
		Build: built.Identity(),
		Worker: func(ctx context.Context, layout int) (worker.Command, error) {
			path, err := built.Binary(ctx, layout)
			return worker.Command{Path: path}, err
		},
		Stamped: true,
		Changed: built.Changed,
	}, nil
}

// ownClient is this executable again, as a worker.
func ownClient() (tiers.Client, error) {
	self, err := os.Executable()
	if err != nil {
		return tiers.Client{}, fmt.Errorf("this program's own path is unknown, so no worker can be started: %w", err)
	}
	identity, err := build.Own(self)
	if err != nil {
		return tiers.Client{}, err
	}
	command := worker.Command{Path: self, Args: []string{workerCommand}}
	return tiers.Client{Build: identity, Worker: func(context.Context, int) (worker.Command, error) { return command, nil }}, nil
}
