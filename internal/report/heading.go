package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

// heading is what was measured, on what. Brokers come first: whose figures these are is the first thing to know about them. Only that they are made up to
// some part, since slowdowns were planted, is more important.
func heading(v verdict.Verdict, run *record.Run) []fact {
	m := run.Header.Machine
	machine := fmt.Sprintf("%d x %s, %s/%s", m.CPUs, orUnknown(m.CPUModel), m.OS, m.Arch)
	if len(m.WorkerCPUs) > 0 {
		machine += fmt.Sprintf("; worker on CPU %s, broker on CPU %s", numbers(m.WorkerCPUs), numbers(m.BrokerCPUs))
	}
	var facts []fact
	if planted := plantedText(v); planted != "" {
		facts = append(facts, fact{"PLANTED", planted})
	}
	if text := overriddenText(v); text != "" {
		facts = append(facts, fact{"OVERRIDDEN", text})
	}
	facts = append(facts, fact{"brokers", brokers(v)}, fact{"machine", machine})
	facts = append(facts, clientFacts(v, run)...)
	facts = append(facts, fact{"run", fmt.Sprintf("%s profile, seed %d, started %s", v.Profile, v.Seed, run.Header.Started.UTC().Format(time.DateTime+" UTC"))})
	if len(m.Missing) > 0 {
		facts = append(facts, fact{"missing", strings.Join(m.Missing, "; ")})
	}
	return facts
}

func brokers(v verdict.Verdict) string {
	var parts []string
	for _, b := range v.Brokers {
		jolokia := "no Jolokia"
		if b.Jolokia {
			jolokia = "Jolokia"
		}
		parts = append(parts, fmt.Sprintf("tier %d Kafka %s (%s, %s)", b.Tier, orUnknown(b.Release), b.Provider, jolokia))
	}
	if parts == nil {
		return "none (codecs only)"
	}
	return strings.Join(parts, ", ")
}

// headline says what the figures leave out. A report of bare figures that keeps quiet about the collector is misleading.
func headline(v verdict.Verdict, traffic bool) []string {
	modes := map[string]bool{}
	for _, f := range v.Families {
		modes[f.Mode] = true
	}
	var lines []string
	if len(v.Plants) > 0 {
		lines = append(lines, fmt.Sprintf("Slowdowns were planted in this run, to see whether they are found. Its verdict proves something about protocolbench, and nothing about %s %s.",
			v.Client.Name, v.Client.Version))
	}
	if modes[driver.ModeBare] {
		lines = append(lines, "Bare mode: the garbage collector is off inside batches and everything that varies by itself is switched off. "+
			"These figures compare versions; an application with the collector on pays more.")
	}
	if modes[driver.ModeBare] && modes[driver.ModeGC] {
		lines = append(lines, "Families that end in /gc have the collector on.")
	}
	if modes[driver.ModeShipped] {
		lines = append(lines, "Families that end in /shipped have the client's defaults, with only the version pinned.")
	}
	switch {
	case !slices.ContainsFunc(v.Families, func(f verdict.Family) bool { return !f.Embedded }):
	case v.Baseline != nil:
		lines = append(lines, buildsHeadline)
	default:
		lines = append(lines, "Columns: CPU time per request and per record; the difference in CPU against the reference version (ref; its own is against the versions before it) with its 95 % interval; "+
			"wall time per request; records per second; allocations per record.")
		if traffic {
			lines = append(lines, "Fetch from a broker has TCP data segments and reads per response (segs, reads) in place of records per second: responses in more pieces can cost more for that alone.")
		}
	}
	return lines
}

// plantedText says what was planted, "" where nothing was.
func plantedText(v verdict.Verdict) string {
	if len(v.Plants) == 0 {
		return ""
	}
	return fmt.Sprintf("%s (--plant); a run with planted slowdowns proves something about protocolbench, and nothing about the client", strings.Join(v.Plants, ", "))
}

// overriddenText says which brokers are not what their tiers are for and were measured all the same, "" where none is.
func overriddenText(v verdict.Verdict) string {
	var parts []string
	for _, b := range v.Brokers {
		if b.Overridden != "" {
			parts = append(parts, b.Overridden)
		}
	}
	if parts == nil {
		return ""
	}
	return strings.Join(parts, "; ") + " (--any-broker); this run is at best inconclusive"
}

func negotiated(v verdict.Verdict) string {
	text, last := "", -1
	for _, n := range v.Negotiated {
		switch {
		case n.Tier == last:
			text += ","
		case text != "":
			text += fmt.Sprintf("; in tier %d", n.Tier)
		default:
			text = fmt.Sprintf("in tier %d", n.Tier)
		}
		last = n.Tier
		text += fmt.Sprintf(" %s v%d", n.API, n.Version)
	}
	if text == "" {
		return "not asked (no broker)"
	}
	return text
}

func closing(v verdict.Verdict, run *record.Run) []fact {
	facts := []fact{{"left alone, the client negotiates", negotiated(v)}}
	facts = append(facts, leftOutFacts(v)...)
	facts = append(facts, fact{"accounted for", accounted(v.Accounting)}, fact{"orchestrator", orchestrator(run)})
	if run.Trailer != nil {
		facts = append(facts, fact{"time", time.Duration(run.Trailer.WallNs).Round(100 * time.Millisecond).String()})
	}
	return append(facts, fact{"to repeat this run", v.Replay})
}

// orchestrator is the parent's own CPU while batches ran: what it could have taken from the worker.
func orchestrator(run *record.Run) string {
	var parentNs, wallNs int64
	for _, f := range run.Families {
		for _, b := range f.BlockRuns {
			for _, batch := range b.Batches {
				parentNs += batch.ParentCPUNs
				wallNs += batch.WallNs
			}
		}
	}
	if wallNs <= 0 {
		return "no batch was measured"
	}
	return fmt.Sprintf("%s of a core while batches ran", sharePercent(float64(parentNs)/float64(wallNs)))
}

func sharePercent(ratio float64) string { return fmt.Sprintf("%.2f %%", 100*ratio) }

func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}

func numbers(list []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
}
