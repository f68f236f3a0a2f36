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

// wanted is who has to answer in a piece of evidence: the tier's broker, or in a cluster of several the one that leads the block's topic.
func wanted(broker record.Broker, e record.BrokerEvidence) traits {
	if e.Leader != nil {
		for _, n := range broker.Nodes {
			if n.ID == *e.Leader {
				return traitsOf(n.Release, n.Commit, broker.ClusterID, n.StartTimeMs)
			}
		}
	}
	return traitsOf(broker.Release, broker.Commit, broker.ClusterID, broker.StartTimeMs)
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
	if voids, blocks := voidsOf(run, tier); len(voids) > 0 {
		f.Evidence["block"], f.Evidence["void"] = voids[0].where, len(voids)
		return say(Fail, fmt.Sprintf("another broker answered in %s (draw %d, fork %d): %s; %d of %d blocks of this tier are void, and their numbers are not used. "+
			"A restart or a wrong address does that: run the tier again", voids[0].where.Family, voids[0].where.Draw, voids[0].where.Fork, voids[0].why, len(voids), blocks))
	}
	readings, blindWhy := 0, ""
	for _, e := range tierEvidence(run, tier) {
		if traitsOf(e.Broker.Release, e.Broker.Commit, e.Broker.ClusterID, e.Broker.StartTimeMs).unknown() {
			blindWhy = "at least once the broker could not be asked who it is: " + e.Broker.IdentityWhy
		}
		readings++
	}
	f.Evidence["readings"] = readings
	wrong := WrongKind(broker)
	switch {
	case broker.Provider == embeddedBroker:
		return say(Blind, "the embedded broker is no Kafka broker: it shows the flow, and proves nothing about one; install Java 17 and Maven for a real one")
	case wrong != "" && run.Header.AnyBroker:
		f.Evidence["overridden"] = true
		return say(Blind, "overridden with --any-broker: "+wrong+". What was found is about this broker, and no answer to this tier's question")
	case wrong != "" && broker.Release != "":
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

// WrongKind says why a broker is not what its tier is for, or "": tier 1 pins every version on a modern broker, tier 2 is for the oldest that clients still meet, of the
// release that was asked for. A run refuses such a broker before it measures, unless it was told not to. Of a broker that doesn't say its release, what it advertises tells
// the two ages apart.
func WrongKind(b record.Broker) string {
	major, isNumber := majorOf(b.Release)
	switch {
	case b.Provider == embeddedBroker || b.Tier == 0:
		return ""
	case b.Release == "" && b.Tier == 1 && b.FetchConverts:
		return "tier 1 is for Kafka 4.0 and later, and this broker is older: it takes Fetch versions that 4.0 dropped, so it may convert on fetch; point tier 1 at a 4.x broker"
	case b.Release == "" && b.Tier == 2 && !b.FetchConverts:
		return "tier 2 is for brokers before Kafka 2.0, and this one is 4.0 or later: it takes no Fetch version that 4.0 dropped; point tier 2 at an old broker"
	case b.Release == "":
		return ""
	case !isNumber:
		return fmt.Sprintf("the broker's release %q is no release number, so it is not shown to be the kind that tier %d is for", b.Release, b.Tier)
	case b.Tier == 1 && major < 4:
		return fmt.Sprintf("tier 1 is for Kafka 4.0 and later, and this broker is %s: it may convert on fetch and knows fewer versions; point tier 1 at a 4.x broker", b.Release)
	case b.Tier == 2 && major >= 2:
		return fmt.Sprintf("tier 2 is for brokers before Kafka 2.0, and this one is %s: nothing old was tried; point tier 2 at an old broker", b.Release)
	case b.Tier == 2 && b.Asked != "" && b.Asked != b.Release:
		return fmt.Sprintf("tier 2 was to run on Kafka %s, and this broker is %s; point tier 2 at that release, or ask for this one with --legacy", b.Asked, b.Release)
	}
	return ""
}

func majorOf(release string) (int, bool) {
	first, _, _ := strings.Cut(release, ".")
	major, err := strconv.Atoi(first)
	return major, err == nil
}
