package guards

import (
	"fmt"

	"protocolbench/internal/record"
)

// A client may fetch twice what the records take with a generous framing, and something beside them per response. A client that decodes
// one batch of a response and asks again for the rest fetches them tens of times.
const (
	fetchedShare  = 2
	framingBytes  = 32 // per record, its part of the batch header included
	responseBytes = 1024
)

// checkKnownTruth compares counters with what must be, whatever the version: a fault that all versions share is invisible between them.
func checkKnownTruth(_ *record.Run, f record.FamilyRun) []Finding {
	t := newTally(KnownTruth, f.Family, "every batch took the fewest requests that can carry it, with all records in each")
	for _, b := range f.BlockRuns {
		for _, batch := range b.Batches {
			version := versionOf(f.Family, batch.Cell)
			numbers := map[string]any{"cell": batch.Cell, "round": batch.Round}
			switch fault, blind := truthFault(f.Family, batch); {
			case blind != "":
				t.see(version, b.Where, Blind, blind, numbers)
			case fault != "":
				t.see(version, b.Where, Fail, fault, numbers)
			default:
				t.pass(version, b.Where, map[string]any{"requests": int64(requestsOf(f.Family, batch)), "records": int64(batch.Records)})
			}
		}
	}
	return t.findings()
}

// requestsOf prefers what left on the wire to the client's own word.
func requestsOf(f record.Family, b record.Batch) int {
	if hasWire(f) {
		return b.WireRequests
	}
	return b.Requests
}

func truthFault(f record.Family, b record.Batch) (fault, blind string) {
	requests := requestsOf(f, b)
	stored := int64(b.Records) * int64(f.Shape.KeyBytes+f.Shape.ValueBytes+framingBytes)
	carried := requests * f.RecordsPerRequest
	switch {
	case f.FewestRequests <= 0 || f.RecordsPerRequest <= 0:
		return "", "the record doesn't say how many requests and records a batch needs"
	case requests != f.FewestRequests:
		return fmt.Sprintf("a batch took %d requests where %d can carry it: the client doesn't use what a response or request can hold; look at how many batches it takes out of one", requests, f.FewestRequests), ""
	case b.Records != carried:
		return fmt.Sprintf("%d requests carried %d records where %d belong: some were lost, or counted twice", requests, b.Records, carried), ""
	case f.Tier > 0 && f.API == fetchAPI && f.Shape.Headers == 0 && b.WireBytesIn > fetchedShare*stored+int64(requests)*responseBytes:
		return fmt.Sprintf("%d bytes came over the wire for at most %d bytes of records: the client fetches records more than once; look at how many batches it takes out of one response", b.WireBytesIn, stored), ""
	}
	return "", ""
}
