package guards

import (
	"fmt"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
)

// What may come with the records of one request or response. It is generous: at 4 KiB a response may still not be half as long again.
const (
	framingBytes          = 512 // headers, and what stands before and after the topics
	framingPartitionBytes = 128 // its topic's share included
	longestTopicName      = 249 // Kafka's limit
)

// truth is what must be, whatever the version and the client: a fault that all versions share is invisible between them. It is worked out from the shape
// alone. What the record says was found "once on the reference" is judged, too: a client that takes one record batch out of a response at every version,
// and sized its batches by that, would agree with itself.
type truth struct {
	family     record.Family
	blind      string // why nothing is known
	perRequest int    // records that one request, or one response, carries
	least      int64  // bytes of these records
	most       int64  // bytes that a request or response may have altogether
}

func truthOf(run *record.Run, f record.FamilyRun) truth {
	must := truth{family: f.Family}
	s := f.Shape
	batch := batchBytes(run, f)
	batches := s.BatchesPerPartition * s.Partitions * s.Topics
	if f.Tier > 0 && f.API == fetchAPI {
		if s.FetchBytes <= 0 || batch == 0 {
			must.blind = "the shape doesn't say how many bytes a fetch asks for, or how many records a batch has"
			return must
		}
		batches = max(1, s.FetchBytes/batch) // a broker sends the first batch whole, however long it is
	}
	if s.Polls() {
		must.most = framingBytes + int64(s.Topics*(longestTopicName+s.Partitions*framingPartitionBytes))
		return must
	}
	must.perRequest = batches * s.RecordsPerBatch
	if must.perRequest <= 0 {
		must.blind = "the shape doesn't say how many records a request or response carries"
		return must
	}
	must.least = int64(s.Topics * s.Partitions * partitionBytes(run, f))
	if f.Tier > 0 {
		must.least = int64(batches * batch)
	}
	must.most = max(must.least, int64(s.FetchBytes)) + framingBytes + int64(s.Topics*(longestTopicName+s.Partitions*framingPartitionBytes))
	return must
}

// checkKnownTruth compares counters with what must be.
func checkKnownTruth(run *record.Run, f record.FamilyRun) []Finding {
	t := newTally(KnownTruth, f.Family, "every batch took the fewest requests that can carry it, with all records in each and no bytes beside them, and nothing else was sent meanwhile")
	must := truthOf(run, f)
	must.declared(t)
	for _, b := range f.BlockRuns {
		for _, batch := range b.Batches {
			version := versionOf(f.Family, batch.Cell)
			numbers := map[string]any{"cell": batch.Cell, "round": batch.Round, "fewestRequests": must.fewest(batch.Records), "recordsPerRequest": must.perRequest}
			switch fault := must.fault(batch); {
			case must.blind != "":
				t.see(version, b.Where, Blind, must.blind, nil)
			case fault != "":
				t.see(version, b.Where, Fail, fault, numbers)
			default:
				t.pass(version, b.Where, map[string]any{"requests": int64(requestsOf(f.Family, batch)), "records": int64(batch.Records)})
			}
		}
		must.preflights(t, b)
		otherRequests(t, f.Family, b)
	}
	return t.findings()
}

// declared judges what the family's row says was found on the reference. With no batch taken there is nothing that it was used for.
func (must truth) declared(t *tally) {
	f := must.family
	where := record.Where{Family: f.Name}
	switch {
	case must.blind != "" || f.RequestsPerBatch <= 0:
	case f.RecordsPerRequest != must.perRequest:
		t.see(AllVersions, where, Fail, fmt.Sprintf("the record says that a request or response carries %d records, and by its shape it carries %d: batches were sized by something else, perhaps by what a client took out of one",
			f.RecordsPerRequest, must.perRequest), nil)
	case f.FewestRequests != must.fewest(f.RequestsPerBatch*f.RecordsPerRequest):
		t.see(AllVersions, where, Fail, fmt.Sprintf("the record says that a batch takes at least %d requests, and by its shape it takes %d", f.FewestRequests, must.fewest(f.RequestsPerBatch*f.RecordsPerRequest)), nil)
	}
}

// requestsOf prefers what left on the wire to the client's own word.
func requestsOf(f record.Family, b record.Batch) int {
	if hasWire(f) {
		return b.WireRequests
	}
	return b.Requests
}

// fewest is the least number of requests that can carry so many records.
func (must truth) fewest(records int) int {
	if must.family.Shape.Polls() {
		return must.family.RequestsPerBatch // each is wanted for itself
	}
	if must.perRequest <= 0 {
		return 0
	}
	return (records + must.perRequest - 1) / must.perRequest
}

// fault names the first thing about a batch that can't be.
func (must truth) fault(b record.Batch) string {
	requests := requestsOf(must.family, b)
	fewest := must.fewest(b.Records)
	carried := int64(requests)
	switch {
	case must.blind != "":
		return ""
	case must.family.Shape.Polls():
		return must.pollFault(b)
	case requests > fewest:
		return fmt.Sprintf("a batch took %d requests for %d records where %d can carry them: each holds %d by its shape. The client doesn't use what a response or request can hold; look at how many record batches it takes out of one",
			requests, b.Records, fewest, must.perRequest)
	case requests < fewest:
		return fmt.Sprintf("a batch had %d requests for %d records where at least %d are needed: records were counted twice, or requests not counted", requests, b.Records, fewest)
	case b.Records != requests*must.perRequest:
		return fmt.Sprintf("%d requests carried %d records where %d belong: some were lost, or counted twice", requests, b.Records, requests*must.perRequest)
	case must.moved(b) > carried*must.most:
		return fmt.Sprintf("%d bytes went over the wire for %d requests with %d bytes of records, and no request or response has more than %d: the client moves records more than once; look at how many record batches it takes out of one response",
			must.moved(b), requests, carried*must.least, must.most)
	case must.moved(b) >= 0 && must.moved(b) < carried*must.least && !must.compresses():
		return fmt.Sprintf("%d bytes went over the wire for %d bytes of records: records did not come from the broker, or go to it, or bytes are not counted", must.moved(b), carried*must.least)
	}
	return ""
}

// pollFault is fault where responses bring no records.
func (must truth) pollFault(b record.Batch) string {
	s := must.family.Shape
	partitions := b.Requests * s.Topics * s.Partitions
	switch {
	case b.Records != 0:
		return fmt.Sprintf("%d records came of responses that have none", b.Records)
	case b.Partitions != partitions:
		return fmt.Sprintf("%d responses had %d partitions where %d belong: the client doesn't look at all of them, or at some twice", b.Requests, b.Partitions, partitions)
	case b.Errors != b.Requests*s.ErrorsPerRequest():
		return fmt.Sprintf("%d responses had %d error codes where %d belong: the client doesn't tell of all of them, or of some that are none", b.Requests, b.Errors, b.Requests*s.ErrorsPerRequest())
	}
	return ""
}

// moved is how many bytes a batch moved in the records' direction; -1 where there is no wire (the pin guard compares those lengths).
func (must truth) moved(b record.Batch) int64 {
	switch {
	case !hasWire(must.family):
		return -1
	case must.family.API == fetchAPI:
		return b.WireBytesIn
	}
	return b.WireBytesOut
}

// compresses tells whether records may take fewer bytes than they have: a producer as shipped decides that by itself.
func (must truth) compresses() bool {
	return must.family.Shape.Compressed() || must.family.API == produceAPI && must.family.Mode == driver.ModeShipped
}

// preflights asks what each client took out of its first response.
func (must truth) preflights(t *tally, b record.BlockRun) {
	for _, c := range b.CellRows {
		if must.blind != "" || c.RecordsPerRequest == must.perRequest {
			continue
		}
		t.see(versionOf(must.family, c.Cell), b.Where, Fail, fmt.Sprintf("the client found %d records in its first request or response, which holds %d by its shape: it doesn't take out all, or batches are sized by something else",
			c.RecordsPerRequest, must.perRequest), map[string]any{"cell": c.Cell})
	}
}
