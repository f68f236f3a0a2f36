package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"protocolbench/internal/broker"
	"protocolbench/internal/lock"
	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
	"protocolbench/tiers"
)

// probed is what `probe --json` prints.
type probed struct {
	Schema  int             `json:"schema"`
	Brokers []record.Broker `json:"brokers"`
	Plans   []record.Plan   `json:"plans"`
}

func (p *program) probeCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "probe",
		Short: "Say which versions the client implements, the broker names and really takes, and what would be negotiated",
		Args:  noArguments,
	}
	chosen := register(command, brokerSettings...)
	asJSON := command.Flags().Bool("json", false, "print JSON instead of tables")
	command.RunE = func(command *cobra.Command, _ []string) error {
		config, err := p.config(command, chosen)
		if err != nil {
			return err
		}
		if len(config.Tiers) == 1 && config.Tiers[0] == 0 {
			return usage(command, "tier 0 has no broker to probe")
		}
		if config.Attached() && len(config.Tiers) > 1 {
			config.Tiers = []int{1} // one cluster is asked once
		}
		return p.probe(command.Context(), config, *asJSON)
	}
	return command
}

// probe takes the host's lock, too: the brokers that it starts would take the CPUs from under a run that measures.
func (p *program) probe(ctx context.Context, config request, asJSON bool) error {
	held, err := lock.Acquire(p.lockPath(), os.Getpid(), p.now())
	if err != nil {
		return err
	}
	defer held.Release()
	ctx, stop := interruptible(ctx, p.stderr)
	defer stop()
	shown := newProgress(p.stderr, p.now)
	defer shown.close()
	config.Progress = shown
	if err := p.buildClients(ctx, &config, shown.Say); err != nil {
		return err
	}
	plans, brokers, err := tiers.Probe(ctx, config.Config)
	if err != nil {
		return err
	}
	if asJSON {
		encoder := json.NewEncoder(p.stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(probed{Schema: record.Schema, Brokers: brokers, Plans: plans})
	}
	return printPlans(p.stdout, plans, brokers)
}

func printPlans(out io.Writer, plans []record.Plan, brokers []record.Broker) error {
	for i, b := range brokers {
		if i > 0 {
			fmt.Fprintln(out)
		}
		release := b.Release
		if release == broker.Unknown {
			release = "of unknown release"
		}
		fmt.Fprintf(out, "tier %d: Kafka %s (%s), cluster %s\n", b.Tier, release, b.Provider, b.ClusterID)
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "API\tclient has\tbroker says\tbroker takes\tpinned\tleft alone")
		var gaps []string
		for _, plan := range plans {
			if plan.Tier != b.Tier {
				continue
			}
			var accepted []int
			for _, answer := range plan.Answers {
				if answer.Accepted {
					accepted = append(accepted, answer.Version)
				}
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", plan.API, between(plan.Implemented), between(plan.Advertised), ranges(accepted), ranges(plan.Pinned), version(plan.Negotiated))
			gaps = append(gaps, reasons(plan)...)
		}
		if err := table.Flush(); err != nil {
			return err
		}
		for _, gap := range gaps {
			fmt.Fprintln(out, gap)
		}
	}
	return nil
}

// reasons says why versions are not pinned, neighbours with one reason in one line.
func reasons(plan record.Plan) []string {
	var lines []string
	var versions []int
	why := ""
	flush := func() {
		if versions != nil {
			lines = append(lines, fmt.Sprintf("not pinned: %s %s: %s", plan.API, ranges(versions), why))
		}
		versions = nil
	}
	for _, answer := range plan.Answers {
		if answer.Pinned {
			flush()
			continue
		}
		// The worker's words name the version; without it, neighbours have the same reason.
		reason := strings.ReplaceAll(answer.Why, fmt.Sprintf("%s v%d", plan.API, answer.Version), plan.API)
		if reason != why {
			flush()
		}
		why, versions = reason, append(versions, answer.Version)
	}
	flush()
	return lines
}

// ranges writes ascending versions as v3-v5, v7.
func ranges(versions []int) string {
	if len(versions) == 0 {
		return "none"
	}
	return verdict.Versions(versions)
}

func between(r [2]int) string {
	switch {
	case r[0] < 0 || r[1] < 0:
		return "none"
	case r[0] == r[1]:
		return version(r[0])
	}
	return version(r[0]) + "-" + version(r[1])
}

func version(v int) string {
	if v < 0 {
		return "unknown"
	}
	return fmt.Sprintf("v%d", v)
}
