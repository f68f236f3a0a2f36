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
		used, how, contradiction := usedVersion(f.Family, b)
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
		case contradiction != "":
			t.see(AllVersions, b.Where, Fail, contradiction, numbers)
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

// usedVersion is what the client says that it negotiated, and where it doesn't say, what it sent. Where both are known they have to agree: an old broker counts no
// versions, so nobody else would see a client that says one and sends another.
func usedVersion(f record.Family, b record.BlockRun) (version int, how, contradiction string) {
	version = -1
	for _, c := range b.CellRows {
		switch {
		case c.AnswerVersion < 0:
		case version < 0:
			version, how = c.AnswerVersion, "client"
		case c.AnswerVersion != version:
			return version, how, fmt.Sprintf("the client says that it negotiated %s v%d, and later v%d, with the same broker; look at how it picks versions", f.API, version, c.AnswerVersion)
		}
	}
	if !bracketed(b) {
		return version, how, ""
	}
	sent := negotiatedOnWire(allFrames(b, f.Key))
	switch {
	case version < 0:
		return sent, "wire", ""
	case sent >= 0 && sent != version:
		contradiction = fmt.Sprintf("the client says that it negotiated %s v%d, and most of its requests left at v%d; look at how the worker reads the answer's version", f.API, version, sent)
	}
	return version, how, contradiction
}
