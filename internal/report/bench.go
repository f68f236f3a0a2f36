package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"protocolbench/guards"
	"protocolbench/internal/record"
	"protocolbench/internal/stats"
	"protocolbench/internal/verdict"
)

// Bench writes bench.txt in the Go benchmark format: one line per family, version and fork, so that benchstat takes forks for
// repetitions. ns/op is wall time per request; CPU has units of its own. Tier 2 is left out: its figures are no measurement to compare. So is what
// was measured on an embedded broker.
func Bench(w io.Writer, v verdict.Verdict, run *record.Run) error {
	out := bufio.NewWriter(w)
	m := run.Header.Machine
	fmt.Fprintf(out, "goos: %s\ngoarch: %s\npkg: protocolbench\ncpu: %s\n", m.OS, m.Arch, oneLine(m.CPUModel))
	fmt.Fprintf(out, "client: %s %s\nprofile: %s\nseed: %d\n", oneLine(v.Client.Name), oneLine(v.Client.Version), v.Profile, v.Seed)
	if len(v.Plants) > 0 {
		fmt.Fprintf(out, "planted: %s\n", oneLine(strings.Join(v.Plants, ", ")))
	}
	for _, b := range v.Brokers {
		if b.Tier < 2 && !onEmbedded(v, b.Tier) {
			fmt.Fprintf(out, "broker: Kafka %s (%s)\n", oneLine(b.Release), b.Provider)
		}
	}
	for _, unit := range []string{"cpu-ns/request", "cpu-ns/record", "ns/op"} {
		fmt.Fprintf(out, "Unit %s better=lower\n", unit)
	}
	if v.Baseline == nil {
		benchBuild(out, v, run, "")
		return out.Flush()
	}
	fmt.Fprintln(out, "build: candidate") // benchstat -col /build lays the two beside each other
	benchBuild(out, v, run, "")
	fmt.Fprintf(out, "client: %s %s\nbuild: baseline\n", oneLine(v.Baseline.Name), oneLine(v.Baseline.Version))
	benchBuild(out, v, run, record.BuildBaseline)
	return out.Flush()
}

// benchBuild writes the lines of one build.
func benchBuild(out io.Writer, v verdict.Verdict, run *record.Run, build string) {
	for _, f := range run.Families {
		f, _ := guards.Valid(run, f)
		if f.Tier >= 2 || onEmbedded(v, f.Tier) {
			continue
		}
		for _, c := range f.Cells {
			if c.Role != record.RoleVersion || c.Build != build {
				continue // twins are the reference again, the canary is slow on purpose
			}
			for _, b := range f.BlockRuns {
				benchLine(out, f.Family, c, b)
			}
		}
	}
}

func onEmbedded(v verdict.Verdict, tier int) bool {
	return slices.ContainsFunc(v.Brokers, func(b verdict.Broker) bool { return b.Tier == tier && b.Provider == "embedded" })
}

func benchLine(out io.Writer, f record.Family, c record.FamilyCell, b record.BlockRun) {
	var requests int
	var wall, cpu, cpuPerRecord []float64
	for batch := range b.Counted() {
		if batch.Cell != c.Cell || batch.Requests <= 0 || f.Units(&batch) <= 0 {
			continue
		}
		requests += batch.Requests
		wall = append(wall, float64(batch.WallNs)/float64(batch.Requests))
		cpu = append(cpu, float64(batch.CPUNs)/float64(batch.Requests))
		cpuPerRecord = append(cpuPerRecord, float64(batch.CPUNs)/float64(f.Units(&batch)))
	}
	if requests == 0 {
		return
	}
	fmt.Fprintf(out, "Benchmark%s/v=%d\t%d\t%s ns/op\t%s cpu-ns/request", benchName(f.Name), c.Version, requests, benchNumber(wall), benchNumber(cpu))
	if !f.Shape.Polls() {
		fmt.Fprintf(out, "\t%s cpu-ns/record", benchNumber(cpuPerRecord))
	}
	steady := slices.IndexFunc(b.Steadies, func(s record.Steady) bool { return s.Cell == c.Cell && s.Requests > 0 })
	if steady >= 0 {
		s := b.Steadies[steady].Steadied
		fmt.Fprintf(out, "\t%.2f B/op\t%.2f allocs/op", float64(s.AllocBytes)/float64(s.Requests), float64(s.Allocs)/float64(s.Requests))
	}
	fmt.Fprintln(out)
}

// benchName: a benchmark's name begins with a capital.
func benchName(family string) string { return strings.ToUpper(family[:1]) + family[1:] }

func benchNumber(values []float64) string {
	mean, _ := stats.TrimmedMean(values, stats.Trim)
	return fmt.Sprintf("%.2f", mean)
}
