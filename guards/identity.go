package guards

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"protocolbench/internal/record"
)

// checkIdentity asks, per live tier, whether one broker of the right kind answered from the first block to the last.
func checkIdentity(run *record.Run) []Finding {
	var findings []Finding
	for _, tier := range liveTiers(run) {
		findings = append(findings, tierIdentity(run, tier))
	}
	return findings
}

func liveTiers(run *record.Run) []int {
	var tiers []int
	for _, f := range run.Families {
		if f.Tier > 0 && !slices.Contains(tiers, f.Tier) {
			tiers = append(tiers, f.Tier)
		}
	}
	return tiers
}

// traits are what a broker is told apart by.
type traits struct{ release, commit, cluster, started string }

func traitsOf(release, commit, cluster string, startTimeMs int64) traits {
	t := traits{release, commit, cluster, ""}
	if startTimeMs > 0 {
		t.started = strconv.FormatInt(startTimeMs, 10)
	}
	return t
}

func (t traits) unknown() bool {
	return t.release == "" || t.commit == "" || t.cluster == "" || t.started == ""
}

// contradiction names the first trait that both sides know and that differs.
func (t traits) contradiction(other traits) string {
	for _, pair := range [][3]string{{"cluster id", t.cluster, other.cluster}, {"release", t.release, other.release},
		{"commit", t.commit, other.commit}, {"start time (ms)", t.started, other.started}} {
		if pair[1] != "" && pair[2] != "" && pair[1] != pair[2] {
			return fmt.Sprintf("%s %s became %s", pair[0], pair[1], pair[2])
		}
	}
	return ""
}

func tierIdentity(run *record.Run, tier int) Finding {
	f := Finding{Guard: Identity, Tier: tier, Version: AllVersions, Evidence: map[string]any{}}
	say := func(outcome Outcome, why string) Finding {
		f.Outcome, f.Why = outcome, why
		return f
	}
	broker, known := brokerOf(run, tier)
	if !known {
		return say(Blind, "the record doesn't say which broker this tier ran on")
	}
	want := traitsOf(broker.Release, broker.Commit, broker.ClusterID, broker.StartTimeMs)
	f.Evidence = map[string]any{"provider": broker.Provider, "release": broker.Release, "commit": broker.Commit, "clusterId": broker.ClusterID, "startTimeMs": broker.StartTimeMs}
	readings, blindWhy := 0, ""
	for _, e := range tierEvidence(run, tier) {
		got := traitsOf(e.Broker.Release, e.Broker.Commit, e.Broker.ClusterID, e.Broker.StartTimeMs)
		if change := want.contradiction(got); change != "" {
			f.Evidence["block"] = e.Where
			return say(Fail, fmt.Sprintf("another broker answered in %s (draw %d, fork %d): %s; a restart or a wrong address spoils the tier, so run it again", e.Family, e.Draw, e.Fork, change))
		}
		if got.unknown() {
			blindWhy = "at least once the broker could not be asked who it is: " + e.Broker.IdentityWhy
		}
		readings++
	}
	f.Evidence["readings"] = readings
	wrong := wrongKind(tier, broker.Release)
	switch {
	case broker.Provider == embeddedBroker:
		return say(Blind, "the embedded broker is no Kafka broker: it shows the flow, and proves nothing about one; install Java 17 and Maven for a real one")
	case wrong != "":
		return say(Fail, wrong)
	case want.unknown():
		return say(Blind, "the broker did not say who it is (no Jolokia), so a restart or a change of brokers would not be seen; give --jolokia")
	case readings == 0:
		return say(Blind, "no block asked the broker who it is, so a restart would not have been seen")
	case blindWhy != "":
		return say(Blind, blindWhy)
	}
	return say(Pass, "the same broker, of the release that this tier is for, answered at both ends of every block")
}

func tierEvidence(run *record.Run, tier int) []record.Evidence {
	var all []record.Evidence
	for _, f := range run.Families {
		for _, b := range f.BlockRuns {
			for _, e := range []*record.Evidence{b.Open, b.Close} {
				if f.Tier == tier && e != nil && e.Broker != nil {
					all = append(all, *e)
				}
			}
		}
	}
	return all
}

// wrongKind says why a release is not for a tier: tier 1 pins every version on a modern broker, tier 2 is for the oldest that clients still meet.
func wrongKind(tier int, release string) string {
	major, ok := majorOf(release)
	switch {
	case release == "":
		return ""
	case !ok:
		return fmt.Sprintf("the broker's release %q is no release number, so it is not shown to be the kind that tier %d is for", release, tier)
	case tier == 1 && major < 4:
		return fmt.Sprintf("tier 1 is for Kafka 4.0 and later, and this broker is %s: it may convert on fetch and knows fewer versions; point tier 1 at a 4.x broker", release)
	case tier == 2 && major >= 2:
		return fmt.Sprintf("tier 2 is for brokers before Kafka 2.0, and this one is %s: nothing old was tried; point tier 2 at an old broker", release)
	}
	return ""
}

func majorOf(release string) (int, bool) {
	first, _, _ := strings.Cut(release, ".")
	major, err := strconv.Atoi(first)
	return major, err == nil
}
