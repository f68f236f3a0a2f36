package guards

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"protocolbench/internal/measure"
	"protocolbench/internal/record"
)

// checkPin asks three witnesses whether only the pinned version was sent: the counted wire (per client), the broker (per version: it
// knows no client), and the client's own word. Decoding in memory has a length of responses in place of the first two.
func checkPin(run *record.Run, f record.FamilyRun) []Finding {
	t := newTally(Pin, f.Family, pinPassWhy(f.Family))
	control, controlNumbers := pinControl(run, f.Family)
	var layouts *responseLengths
	for _, b := range f.BlockRuns {
		ownWord(t, f.Family, b)
		if !hasWire(f.Family) {
			if layouts == nil {
				layouts = lengthsOf(run, f)
			}
			layoutWitness(t, layouts, b)
			continue
		}
		if !bracketed(b) {
			t.seeAll(versionsOf(f.Family), b.Where, Blind, whyOpen)
			continue
		}
		wireWitness(t, run, f.Family, b)
		if f.Tier > 0 {
			brokerWitness(t, run, f.Family, b)
		}
		if control != "" {
			for _, v := range versionsOf(f.Family) {
				t.see(v, b.Where, Blind, control, controlNumbers)
			}
		}
	}
	return t.findings()
}

// hasWire: tier 0 decodes bytes in memory; its encode side, and its responses that come in reads, are the whole client over a counted connection in memory.
func hasWire(f record.Family) bool { return f.Tier > 0 || f.API == produceAPI || f.Shape.ReadBytes > 0 }

func pinPassWhy(f record.Family) string {
	switch {
	case !hasWire(f):
		return "the decoded responses have the length of this version's layout, and the client's answer names it (versions that share a layout have equal lengths and are decoded alike); " +
			"decoding in memory has no wire and no broker to ask"
	case f.Tier == 0:
		return "every request frame on the in-memory connection had this version, as many as were asked for; there is no broker to ask"
	case f.Tier == 2:
		return "the client sent as many requests as were asked for, all of the negotiated version, and the broker counted as many"
	}
	return "wire and broker counted the same requests, all of this version, as many as were asked for"
}

// pinControl says why the pin guard could not have failed in a live tier with pins, or "".
func pinControl(run *record.Run, f record.Family) (blind string, numbers map[string]any) {
	if f.Tier == 0 || f.Reference < 0 {
		return "", nil
	}
	c, ran := controlOf(run, f.Tier, record.ControlUnpinned)
	const what = "the control (a client left unpinned under a pinned label) "
	numbers = map[string]any{"wireObjected": c.WireObjected, "brokerObjected": c.BrokerObjected}
	switch {
	case !ran:
		return what + "did not run, so it is not shown that a wrong version would be seen; run the tier on a real broker with Jolokia", nil
	case !c.Applies:
		return what + "could not be run: " + c.Why, nil
	case !c.WireObjected:
		return what + "was not seen on the wire: the worker's frame counter is broken, so the pin proves nothing", numbers
	case !c.BrokerObjected:
		return what + "was not seen by the broker: its counters by version are unreadable or wrong, so the pin is not proved", numbers
	}
	return "", nil
}

func ownWord(t *tally, f record.Family, b record.BlockRun) {
	if f.Reference < 0 {
		return // nothing is pinned: negotiation judges the answer's version
	}
	for _, c := range b.CellRows {
		version := versionOf(f, c.Cell)
		numbers := map[string]any{"cell": c.Cell, "answered": c.AnswerVersion}
		switch {
		case c.AnswerVersion == version:
			t.pass(version, b.Where, map[string]any{"answersOfThisVersion": int64(1)})
		case c.AnswerVersion >= 0:
			t.see(version, b.Where, Fail, fmt.Sprintf("the client itself says that its answer had v%d: its pin doesn't hold, so the numbers are of another version; "+
				"correct how the worker pins", c.AnswerVersion), numbers)
		case hasWire(f):
			t.see(version, b.Where, NotApplicable, "this client doesn't say which version an answer had", numbers)
		default:
			t.see(version, b.Where, Blind, "decoding has no wire, and this client doesn't say which version it decoded", numbers)
		}
	}
	if len(b.CellRows) == 0 && !hasWire(f) {
		t.seeAll(versionsOf(f), b.Where, Blind, "decoding has no wire, and the block ended before its cells could say which version they decoded")
	}
}

// wireWitness compares, client by client, the frames that left with the requests that were asked for.
func wireWitness(t *tally, run *record.Run, f record.Family, b record.BlockRun) {
	for _, c := range f.Cells {
		sent, counted := framesOf(b, c.Cell, f.Key)
		version := c.Version
		if version < 0 {
			version = negotiatedOnWire(sent)
		}
		batches := batchesOf(b, c.Cell)
		asked := int64(len(batches)) * int64(f.RequestsPerBatch)
		var perBatch int64
		for _, batch := range batches {
			perBatch += int64(batch.WireRequests)
		}
		others := sum(sent) - sent[version]
		numbers := map[string]any{"asked": asked, "wire": sent[version], "otherVersions": others}
		named := func() map[string]any {
			numbers["cell"], numbers["role"], numbers["sentByVersion"], numbers["inBatches"] = c.Cell, c.Role, sent, perBatch
			return numbers
		}
		switch {
		case !counted || !hasAbility(run, "frames"):
			t.see(c.Version, b.Where, Blind, "this worker counts no frames, so nobody saw what it sent; count them in its dialer (DRIVER.md)", nil)
		case asked == 0:
			t.see(c.Version, b.Where, Blind, "no batch was taken, so there was nothing that could have had another version", nil)
		case others != 0:
			t.see(c.Version, b.Where, Fail, fmt.Sprintf("%d of %d requests left at another version: the client under this label is not pinned; correct how the worker pins", others, sum(sent)), named())
		case sent[version] != asked || perBatch != asked:
			t.see(c.Version, b.Where, Fail, fmt.Sprintf("%d requests were asked for and %d left: requests are missing, repeated or left in flight, so cost per request is wrong; "+
				"look at how the worker ends a batch", asked, sent[version]), named())
		default:
			t.pass(c.Version, b.Where, numbers)
		}
	}
}

// negotiatedOnWire is the version that a client left alone sent most of.
func negotiatedOnWire(sent map[int]int64) int {
	most := -1
	for _, v := range slices.Sorted(maps.Keys(sent)) {
		if most < 0 || sent[v] > sent[most] {
			most = v
		}
	}
	return most
}

// brokerWitness compares, version by version, what all connections of the worker sent with what the broker counted.
func brokerWitness(t *tally, run *record.Run, f record.Family, b record.BlockRun) {
	broker, known := brokerOf(run, f.Tier)
	if !known || !brokerBracketed(b) || broker.JolokiaURL == "" {
		t.seeAll(versionsOf(f), b.Where, Blind, "the broker's counters could not be read (no Jolokia), so it cannot confirm what arrived; give --jolokia, or let protocolbench start the broker")
		return
	}
	attached := broker.Provider == attachedBroker
	sent := allFrames(b, f.Key)
	if !broker.VersionTags {
		arrived := moved(b.Open.Broker.Requests, b.Close.Broker.Requests, false)
		agree(t, AllVersions, b, sum(sent), arrived, attached)
		return
	}
	listed := b.Open.Broker.RequestsListed && b.Close.Broker.RequestsListed
	for _, v := range brokerVersions(f, b, sent) {
		arrived := movedVersion(b, v, listed)
		label := v
		if !slices.Contains(versionsOf(f), v) {
			if arrived.blind == "" && arrived.by == 0 && sent[v] == 0 {
				continue // a version that is not of this family, and that nobody used
			}
			label = AllVersions
		}
		agree(t, label, b, sent[v], arrived, attached)
	}
}

// movedVersion: a version's counter is made on its first request, so one that a complete listing doesn't have stands for zero.
func movedVersion(b record.BlockRun, version int, listed bool) movement {
	open, hadOpen := b.Open.Broker.RequestsByVersion[version]
	closing, hasClose := b.Close.Broker.RequestsByVersion[version]
	if (!hadOpen || !hasClose) && !listed {
		return movement{blind: "the list of the broker's request counters could not be read"}
	}
	if !hadOpen {
		open.State = measure.Absent
	}
	if !hasClose {
		closing.State = measure.Absent
	}
	return moved(open, closing, listed)
}

func brokerVersions(f record.Family, b record.BlockRun, sent map[int]int64) []int {
	versions := slices.DeleteFunc(versionsOf(f), func(v int) bool { return v < 0 })
	versions = slices.AppendSeq(versions, maps.Keys(b.Open.Broker.RequestsByVersion))
	versions = slices.AppendSeq(versions, maps.Keys(b.Close.Broker.RequestsByVersion))
	versions = slices.AppendSeq(versions, maps.Keys(sent))
	slices.Sort(versions)
	return slices.Compact(versions)
}

// agree compares what was sent with what arrived. On a cluster that others use, too, a surplus is theirs: then nothing is proved, and
// nothing is refuted. A deficit is nobody's traffic. On a broker of this run's own there is nobody else, so that a surplus fails, too, be it of connections that nobody counts or of
// a poll that was answered after the longest wait for it: in neither case is it known what the block's figures are of.
func agree(t *tally, version int, b record.BlockRun, sent int64, arrived movement, attached bool) {
	numbers := map[string]any{"sent": sent, "broker": arrived.by}
	where := b.Where
	switch {
	case arrived.blind != "":
		t.see(version, where, Blind, "the broker cannot confirm what arrived: "+arrived.blind+"; check its Jolokia agent", map[string]any{"sent": sent})
	case arrived.by == sent:
		t.pass(version, where, numbers)
	case arrived.by > sent && attached:
		t.see(version, where, Blind, fmt.Sprintf("the broker counted %d requests more than this run sent: somebody else uses the cluster; run on one that nobody else uses", arrived.by-sent)+late(b), numbers)
	default:
		t.see(version, where, Fail, fmt.Sprintf("%d requests left and the broker counted %d: wire and broker contradict each other, so it is unknown what was measured; "+
			"look for connections that bypass the counted dialer", sent, arrived.by)+late(b), numbers)
	}
}

// late says that a bracket's edge wasn't clean: a poll that is answered after the wait is counted in the time of another block, or beyond the end of its own.
func late(b record.BlockRun) string {
	var ends []string
	for _, e := range []*record.Evidence{b.Open, b.Close} {
		if e.Unsettled {
			ends = append(ends, fmt.Sprintf("%s (after %.1f s)", map[string]string{record.WhenOpen: "began", record.WhenClose: "ended"}[e.When], float64(e.WaitedNs)/1e9))
		}
	}
	if ends == nil {
		return ""
	}
	return "; they had not come to agree when the block " + strings.Join(ends, " nor when it ") + ": a poll that a broker keeps for longer is counted too late"
}
