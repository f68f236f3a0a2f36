package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"protocolbench/compose"
	"protocolbench/internal/broker"
	"protocolbench/internal/lock"
	"protocolbench/internal/record"
	"protocolbench/internal/report"
	"protocolbench/internal/verdict"
	"protocolbench/internal/worker"
	"protocolbench/seed"
	"protocolbench/tiers"
)

// brokerSettings choose and narrow what a live tier runs against.
var brokerSettings = []string{"tier", "client", "versions", "broker", "jolokia", "kafka", "legacy"}

func (p *program) runCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "run",
		Short: "Measure, and judge",
		Args:  noArguments,
	}
	chosen := register(command, append(slices.Clone(brokerSettings), "profile", "seed", "only", "margin", "out")...)
	list := command.Flags().Bool("list", false, "list the families that would run, with their expected times, and run nothing")
	command.RunE = func(command *cobra.Command, _ []string) error {
		config, err := p.config(command, chosen)
		if err != nil {
			return err
		}
		if *list {
			return p.list(config)
		}
		return p.run(command.Context(), config)
	}
	return command
}

// config reads all settings and reports every fault at once.
func (p *program) config(command *cobra.Command, chosen choices) (tiers.Config, error) {
	chosen.fill(p.env)
	config := tiers.Config{Profile: "quick", Now: p.now, Command: append([]string{"protocolbench"}, p.args...), Tool: revision()}
	var faults []string
	read := func(flag string, take func(g *given) error) {
		g, ok := chosen[flag]
		if !ok {
			return
		}
		if err := take(g); err != nil {
			faults = append(faults, g.source()+": "+err.Error())
		}
	}
	read("tier", func(g *given) (err error) { config.Tiers, err = parseTiers(g.text); return })
	read("client", parseClient)
	read("versions", func(g *given) (err error) { config.Versions, err = parseVersions(g.list()); return })
	read("margin", func(g *given) (err error) {
		if g.isSet() {
			config.Margin, err = parseMargin(g.text)
		}
		return
	})
	read("seed", func(g *given) (err error) { config.Seed, err = readSeed(g); return })
	read("kafka", func(g *given) (err error) { config.Kafka, err = parseRelease(g.text, compose.KRaft); return })
	read("legacy", func(g *given) (err error) { config.Legacy, err = parseRelease(g.text, compose.ZooKeeper); return })
	read("broker", func(g *given) (err error) { config.Broker, err = parseBroker(g.text); return })
	read("jolokia", func(g *given) (err error) { config.Jolokia, err = parseJolokia(g.text); return })
	for flag, field := range map[string]*string{
		"profile": &config.Profile, "out": &config.Out,
	} {
		if g, ok := chosen[flag]; ok {
			*field = g.text
		}
	}
	if g, ok := chosen["only"]; ok {
		config.Only = g.list()
	}
	if config.Tiers == nil {
		config.Tiers = []int{0, 1, 2} // it couldn't be read, which is one fault, not two
	}
	if err := config.Validate(); err != nil {
		var refused *tiers.UsageError
		if !errors.As(err, &refused) {
			return config, err
		}
		faults = append(faults, refused.Faults...)
	}
	if faults != nil {
		return config, usage(command, faults...)
	}
	var err error
	if config.CacheDir, err = broker.CacheDir(p.environ); err != nil {
		return config, err
	}
	config.Worker, err = ownWorker()
	config.Replay = chosen.replay(config.Seed)
	return config, err
}

func readSeed(g *given) (uint64, error) {
	if g.isSet() {
		return seed.Parse(g.text)
	}
	return seed.Draw(rand.Reader), nil
}

func parseClient(g *given) error {
	if g.text != "franz-go" {
		return fmt.Errorf("unknown client %q; accepted is franz-go, the release that is built in", g.text)
	}
	return nil
}

// ownWorker is this executable again, as a worker.
func ownWorker() (worker.Command, error) {
	self, err := os.Executable()
	if err != nil {
		return worker.Command{}, fmt.Errorf("this program's own path is unknown, so no worker can be started: %w", err)
	}
	return worker.Command{Path: self, Args: []string{workerCommand}}, nil
}

// run measures under the host's lock and prints what came of it.
func (p *program) run(ctx context.Context, config tiers.Config) error {
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
	if err = preflight(ctx, config, shown.Say); err == nil {
		var dir string
		var v verdict.Verdict
		dir, v, err = tiers.Run(ctx, config)
		shown.close()
		if err == nil {
			return p.finish(dir, v)
		}
	}
	if ctx.Err() != nil {
		fmt.Fprintf(p.stdout, "verdict: %s (interrupted before anything was measured)\n", verdict.Inconclusive)
		return verdictOf(verdict.ExitInconclusive)
	}
	return err
}

// finish prints what came of a run that has a record.
func (p *program) finish(dir string, v verdict.Verdict) error {
	saved, err := record.Read(filepath.Join(dir, "run.jsonl"))
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stderr, "results: %s\n", dir)
	if err := p.show(v, saved); v.ExitCode != verdict.ExitHarness {
		return err
	}
	return harnessFault(v, saved)
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

// list prints the families of a run.
func (p *program) list(config tiers.Config) error {
	families, err := tiers.List(config)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "family\tcells\tmargin\tdeciding\texpected")
	total := 0.0
	for _, f := range families {
		deciding, margin := "yes", fmt.Sprintf("%.3g %%", f.Margin*100)
		if !f.Deciding {
			deciding = "no"
		}
		if f.Tier == 2 { // nothing is compared there
			margin = "-"
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\n", f.Name, f.Cells, margin, deciding, minutes(f.Expected))
		total += f.Expected.Seconds()
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%d families, seed %d\n", len(families), config.Seed)
	return err
}

// revision is what the record says of this program.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	found := map[string]string{}
	for _, s := range info.Settings {
		found[s.Key] = s.Value
	}
	switch {
	case found["vcs.revision"] == "":
		return "unknown"
	case found["vcs.modified"] == "true":
		return found["vcs.revision"] + "+modified"
	}
	return found["vcs.revision"]
}
