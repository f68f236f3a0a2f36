package guards

import (
	"fmt"
	"slices"
	"strings"

	"protocolbench/internal/record"
)

// known are the newest versions of brokers that were tried by hand: what they advertise is checked against this, too.
var known = map[string]map[string]int{"1.1.": {produceAPI: 5, fetchAPI: 7}}

// checkNegotiation asks, in tier 2, whether the client left alone uses the newest version that both sides have.
func checkNegotiation(run *record.Run, f record.FamilyRun) []Finding {
	if f.Tier != 2 {
		return nil
	}
	t := newTally(Negotiation, f.Family, "")
	want, blind, fault := wantedVersion(run, f.Family)
	for _, b := range f.BlockRuns {
		used, how := usedVersion(f.Family, b)
		numbers := map[string]any{"expected": want, "negotiated": used, "by": how}
		switch {
		case fault != "":
			t.see(AllVersions, b.Where, Fail, fault, nil)
		case blind != "":
			t.see(AllVersions, b.Where, Blind, blind, nil)
		case used < 0:
			t.see(AllVersions, b.Where, Blind, "neither the client nor the wire says which version was negotiated", nil)
		case used != want:
			t.see(AllVersions, b.Where, Fail, fmt.Sprintf("the client negotiated %s v%d where v%d is the newest that both sides have; look at how it picks versions for old brokers", f.API, used, want), numbers)
		default:
			t.pass(AllVersions, b.Where, numbers)
		}
	}
	t.passWhy = fmt.Sprintf("the client, left alone, negotiated %s v%d: the newest version that both sides have", f.API, want)
	return t.findings()
}

// wantedVersion is the smaller of both sides' newest versions.
func wantedVersion(run *record.Run, f record.Family) (want int, blind, fault string) {
	index := slices.IndexFunc(run.Plans, func(p record.Plan) bool { return p.Tier == f.Tier && p.API == f.API })
	if index < 0 || run.Plans[index].Advertised[1] < 0 || run.Plans[index].Implemented[1] < 0 {
		return -1, "the record doesn't say which versions both sides have, so there is nothing to compare with", ""
	}
	plan := run.Plans[index]
	broker, _ := brokerOf(run, f.Tier)
	for prefix, newest := range known {
		if strings.HasPrefix(broker.Release, prefix) && plan.Advertised[1] != newest[f.API] {
			return -1, "", fmt.Sprintf("a Kafka %s broker advertises %s up to v%d, and this one is recorded with v%d: it is another broker, or its answer was misread",
				broker.Release, f.API, newest[f.API], plan.Advertised[1])
		}
	}
	return min(plan.Implemented[1], plan.Advertised[1]), "", ""
}

// usedVersion is what the client says that it negotiated, and where it doesn't say, what it sent.
func usedVersion(f record.Family, b record.BlockRun) (version int, how string) {
	for _, c := range b.CellRows {
		if c.AnswerVersion >= 0 {
			return c.AnswerVersion, "client"
		}
	}
	if bracketed(b) {
		return negotiatedOnWire(allFrames(b, f.Key)), "wire"
	}
	return -1, ""
}
