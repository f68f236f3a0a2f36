package guards

import (
	"fmt"
	"slices"

	"protocolbench/internal/record"
)

// checkMessage asks the guards about a message alone, which has no records and no wire. There are hundreds of such families: what passes at all versions is one finding.
func checkMessage(run *record.Run, f record.FamilyRun) []Finding {
	var findings []Finding
	for _, guard := range []func(*record.Run, record.FamilyRun) []Finding{checkCompleteness, checkMessagePin, checkMessageData, perBuild(checkMessageCounters), perBuild(checkClocks), checkHost} {
		findings = append(findings, passedAtOnce(guard(run, f))...)
	}
	return findings
}

// passedAtOnce makes one finding of a guard that passes at every version.
func passedAtOnce(findings []Finding) []Finding {
	if len(findings) < 2 || slices.ContainsFunc(findings, func(f Finding) bool { return f.Outcome != Pass || f.Build != findings[0].Build }) {
		return findings
	}
	all := findings[0]
	all.Version = AllVersions
	byVersion := map[string]any{}
	for _, f := range findings {
		byVersion[fmt.Sprintf("v%d", f.Version)] = f.Evidence
	}
	all.Evidence = byVersion
	return []Finding{all}
}

// notAskedOfMessages says once for all of them which guards don't apply, and why.
func notAskedOfMessages(run *record.Run) []Finding {
	if !slices.ContainsFunc(run.Families, func(f record.FamilyRun) bool { return f.Message != "" }) {
		return nil
	}
	const why = "the messages of other APIs alone carry no records and meet no broker: their length, bytes and version are the business of the guards data and pin"
	var findings []Finding
	for _, guard := range []string{Conversions, Log, KnownTruth, OtherAPIs} {
		findings = append(findings, Finding{Guard: guard, Tier: 0, Version: AllVersions, Outcome: NotApplicable, Why: why})
	}
	return findings
}

// checkMessagePin asks for the version in the message's own words, and for the length of its layout.
func checkMessagePin(_ *record.Run, f record.FamilyRun) []Finding {
	t := newTally(Pin, f.Family, "the client's message names this version, and has the length that this program's own has at it; there is no wire to ask")
	for _, b := range f.BlockRuns {
		ownWord(t, f.Family, b)
		for _, batch := range b.Batches {
			version := versionOf(f.Family, batch.Cell)
			want := batch.ExpectedBytes
			switch {
			case batch.ExpectedLastKey == "": // a message may have no bytes at all, but always has a hash
				t.see(version, batch.Where, Blind, "nobody knows how long a message of this version is", map[string]any{"cell": batch.Cell})
			case batch.FirstKey != batch.ExpectedFirstKey:
				t.see(version, batch.Where, Fail, fmt.Sprintf("the client coded %q where %q was asked for: its pin doesn't hold", batch.FirstKey, batch.ExpectedFirstKey),
					map[string]any{"cell": batch.Cell, "round": batch.Round})
			case batch.WireBytesIn != want:
				t.see(version, batch.Where, Fail, fmt.Sprintf("%d messages have %d bytes together where %d belong: they are not in the layout of this version", batch.Requests, batch.WireBytesIn, want),
					map[string]any{"cell": batch.Cell, "round": batch.Round})
			default:
				t.pass(version, batch.Where, map[string]any{"messages": int64(batch.Requests), "bytes": batch.WireBytesIn})
			}
		}
	}
	return t.findings()
}

// checkMessageData asks whether what the client writes of a message is, byte for byte, what it was given of it.
func checkMessageData(run *record.Run, f record.FamilyRun) []Finding {
	t := newTally(Data, f.Family, "what the client writes of the last message of every batch, and of one more per cell and block, has the length, sum and hash of the bytes that this program made from the seed; "+
		"a fault that the client's reading and writing share with this program's own kmsg can't be seen by it")
	for _, b := range f.BlockRuns {
		for _, batch := range b.Batches {
			version := versionOf(f.Family, batch.Cell)
			if blind, fault := messageFault(f.Family, batch); fault != "" || blind {
				sayBatch(t, version, batch, blind, fault)
				continue
			}
			t.pass(version, b.Where, map[string]any{"batches": int64(1), "messages": int64(batch.Requests)})
		}
		hashes(t, run, f.Family, b, messageHashFault)
	}
	return t.findings()
}

func messageFault(f record.Family, b record.Batch) (blind bool, fault string) {
	switch {
	case b.ExpectedLastKey == "":
		return true, ""
	case b.Requests != f.RequestsPerBatch:
		return false, fmt.Sprintf("a batch had %d messages where %d belong", b.Requests, f.RequestsPerBatch)
	case b.Records != b.ExpectedRecords:
		return false, fmt.Sprintf("a batch had %d elements where %d belong", b.Records, b.ExpectedRecords)
	case b.Bytes != b.ExpectedBytes:
		return false, fmt.Sprintf("the client writes %d bytes of a batch's messages where it was given %d", b.Bytes, b.ExpectedBytes)
	case b.LastKey != b.ExpectedLastKey || b.ByteSum != b.ExpectedByteSum:
		return false, fmt.Sprintf("what the client writes of a message hashes to %s, and what it was given to %s: a field is lost or changed", b.LastKey, b.ExpectedLastKey)
	}
	return false, ""
}

// messageHashFault is the rule about the hash of a message. One may have no elements, so how many were hashed says nothing.
func messageHashFault(run *record.Run, c record.Cell) (outcome Outcome, why string) {
	switch {
	case c.HashRecords <= 0 && !hasAbility(run, "hash"):
		return Blind, "this worker hashes no message"
	case c.Hash != c.ExpectedHash:
		return Fail, "the hash of what the client writes of a message is not that of the bytes that it was given: it loses or changes a field at this version"
	}
	return Pass, ""
}

// checkMessageCounters compares the allocations of neighbouring versions whose messages are the very same bytes: there the schema explains nothing, so they have to be equal. No table says what
// else may differ between the versions of ninety APIs, so all other counters are shown and judged by nobody.
func checkMessageCounters(_ *record.Run, f record.FamilyRun) []Finding {
	var findings []Finding
	var left versionCounters
	hashes := messageBytes(f)
	for i, v := range versionsOf(f.Family) {
		one := countersOf(f, v)
		finding := Finding{Guard: Counters, Tier: f.Tier, Family: f.Name, Version: v, Outcome: Pass, Evidence: map[string]any{"counters": one.shown()},
			Why: "allocations are those of the version before where its message is the same bytes; where it has other bytes they are shown, and nobody knows what they should be"}
		switch {
		case one.requests.times == 0 || one.allocs.times == 0:
			finding.Outcome, finding.Why = Blind, "allocations of this version were not counted: it has no steady pass (the block ended early, or the worker lacks the ability)"
		case !one.responseBytes.all:
			finding.Outcome, finding.Why = Fail, "messages of this version have several lengths where all are the same bytes"
		case i > 0 && left.allocs.times > 0 && hashes[v] != "" && hashes[v] == hashes[left.version]:
			stray := strayAllocsAlone
			if one.allocs.agreed && left.allocs.agreed {
				stray = strayAllocsAgreed
			}
			if by := one.allocs.value - left.allocs.value; max(by, -by) > float64(stray)/float64(max(1, min(one.steadyRequests, left.steadyRequests))) {
				finding.Outcome = Fail
				finding.Why = fmt.Sprintf("v%d has %s allocations for a message and v%d %s, of the very same bytes: profile the allocations of the two versions side by side",
					v, amount(one.allocs.value), left.version, amount(left.allocs.value))
			}
		}
		findings = append(findings, finding)
		left = one
	}
	return findings
}

// messageBytes has the hash of each version's bytes, by the parent, of the first block that says so.
func messageBytes(f record.FamilyRun) map[int]string {
	hashes := map[int]string{}
	for _, b := range f.BlockRuns {
		for _, batch := range b.Batches {
			if v := versionOf(f.Family, batch.Cell); hashes[v] == "" {
				hashes[v] = batch.ExpectedLastKey
			}
		}
	}
	return hashes
}
