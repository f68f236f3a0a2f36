package guards

import (
	"fmt"
	"strings"
)

// difference is one entry of the table of what may differ between two neighbouring versions, and why: a field of the schema. What no entry
// explains is a fault of the client, at one of the two versions.
type difference struct {
	api    string
	at     int    // the version from which on
	fields string // of the schema (FetchRequest.json, ... of Apache Kafka)
	kip    string
	// request and response are by how many bytes these grow; nil: not at all. Lengths are exact.
	request, response func(exchange) int
	// allocs are what a client may allocate more or less for it.
	allocs []allocation
	// segmentsIn is how many more TCP segments a response comes in. That is the broker's doing and nobody's fault: it is shown.
	segmentsIn int
	// onErrors: nothing of it is in a healthy response.
	onErrors bool
}

// allocation is how often a client may allocate more (or, below 0, less) for a field: from least to most times, each of up to so many bytes.
type allocation struct {
	times       func(exchange) int // how often the field is in one request and its response
	least, most int
	bytesEach   func(exchange) int
}

// expectedDifferences is the one table. Versions that are not in it changed no field of a plain consumer's or producer's healthy messages:
//
//   - Fetch v6, v8, v10 (zstd, KIP-110), v14 (KIP-405) changed meanings; v16 (node endpoints, KIP-951), v17 (replica directory, KIP-853) and v18 (high
//     watermark, KIP-1166) added tagged fields that followers send, or brokers on errors only.
//   - Produce v4, v6, v7 (zstd, KIP-110), v11, v12 (KIP-890) changed meanings; v10 (current leader, KIP-951) added tagged fields on errors only.
//
// Allocations were counted with franz-go v1.19.0, v1.20.0 and v1.22.3: tier 0 with 1, 512 and 1,000 partitions and with 100 topics, tier 1 on Kafka 4.4.0.
// In 92 records (473 families, 5,664 versions beside their neighbour and the newest) nothing else differed by a whole allocation. So an empty section
// of tagged fields explains none, per topic or per partition, and no more does a field that is read and written in place, as all numbers are.
var expectedDifferences = []difference{
	{api: fetchAPI, at: 5, fields: "log start offset", kip: "KIP-107", request: perPartition(8), response: perPartition(8)},
	{api: fetchAPI, at: 7, fields: "session id, session epoch and forgotten topics in the request; error code and session id in the response", kip: "KIP-227",
		request: perMessage(4 + 4 + 4), response: perMessage(2 + 4)},
	{api: fetchAPI, at: 9, fields: "current leader epoch in the request", kip: "KIP-320", request: perPartition(4)},
	{api: fetchAPI, at: 11, fields: "rack id in the request, preferred read replica in the response", kip: "KIP-392", request: perMessage(2), response: perPartition(4)},
	{api: fetchAPI, at: 12, fields: "compact lengths and tagged fields; last fetched epoch in the request", kip: "KIP-482, KIP-595",
		request: func(e exchange) int { // header; topics, forgotten topics, rack
			partition := 4 + noTags
			topic := compactText(e.nameBytes) + compactArray(e.partitions) + noTags
			return noTags + compactArray(e.topics) + compactArray(0) + compactText(0) + noTags + e.topics*(topic+e.partitions*partition)
		},
		response: func(e exchange) int { // aborted transactions are null, or each has tags; a leader that moved is told in a tagged field
			partition := compactArray(e.aborted) + max(0, e.aborted)*noTags + compactArray(e.recordsBytes) + noTags
			if e.moved {
				partition += movedLeader
			}
			topic := compactText(e.nameBytes) + compactArray(e.partitions) + noTags
			return headerTags(e) + compactArray(e.topics) + noTags + e.topics*(topic+e.partitions*partition)
		},
		// kmsg up to v1.14.0 makes two values of the tagged replica state (KIP-903, v15) in each flexible request, to see that there is none.
		allocs:     []allocation{readsHeaderTags, {times: headers, least: 0, most: 2, bytesEach: fixed(24)}},
		segmentsIn: 1}, // Kafka 4.x writes what follows the records by itself: 3 segments in place of 2 at 4 KiB
	{api: fetchAPI, at: 13, fields: "topic id in place of the topic's name", kip: "KIP-516", request: idForName, response: idForName, allocs: []allocation{savesNames}},
	{api: fetchAPI, at: 15, fields: "replica id becomes a tagged field that only followers send", kip: "KIP-903", request: perMessage(-4)},
	{api: fetchAPI, at: 16, fields: "node endpoints, a tagged field that comes where a leader has moved", kip: "KIP-951", onErrors: true, response: newEndpoint,
		allocs: []allocation{{times: toldOfMoves, least: 0, most: 2, bytesEach: fixed(128)}}}, // the list, and the host in it

	{api: produceAPI, at: 5, fields: "log start offset in the response", kip: "KIP-192", response: perPartition(8)},
	{api: produceAPI, at: 8, fields: "record errors and error message in the response", kip: "KIP-467", response: perPartition(4 + 2)},
	{api: produceAPI, at: 9, fields: "compact lengths and tagged fields", kip: "KIP-482",
		request: func(e exchange) int { // header; transactional id is null
			partition := compactArray(e.recordsBytes) + noTags
			topic := compactText(e.nameBytes) + compactArray(e.partitions) + noTags
			return noTags + compactText(-1) + compactArray(e.topics) + noTags + e.topics*(topic+e.partitions*partition)
		},
		response: func(e exchange) int { // no record errors, error message is null
			partition := compactArray(0) + compactText(-1) + noTags
			topic := compactText(e.nameBytes) + compactArray(e.partitions) + noTags
			return headerTags(e) + compactArray(e.topics) + noTags + e.topics*(topic+e.partitions*partition)
		},
		allocs: []allocation{readsHeaderTags}},
	{api: produceAPI, at: 13, fields: "topic id in place of the topic's name", kip: "KIP-516", request: idForName, response: idForName, allocs: []allocation{savesNames}},
}

// readsHeaderTags: a client reads the tagged fields in the header of a response (franz-go: the 32 bytes of a reader).
var readsHeaderTags = allocation{times: headers, least: 0, most: 1, bytesEach: fixed(64)}

// savesNames: with an id there is no name to be made of a response.
var savesNames = allocation{times: func(e exchange) int { return e.topics }, least: -1, most: 0, bytesEach: func(e exchange) int { return e.nameBytes + sizeStep(e.nameBytes) }}

func fixed(n int) func(exchange) int      { return func(exchange) int { return n } }
func perMessage(n int) func(exchange) int { return fixed(n) }
func perPartition(n int) func(exchange) int {
	return func(e exchange) int { return n * e.topics * e.partitions }
}

// idForName is a topic's id, which has 16 bytes, in place of its name, which is compact by then.
func idForName(e exchange) int { return e.topics * (16 - uvarintBytes(e.nameBytes+1) - e.nameBytes) }

// movedLeader is the tagged field that says who leads a partition now: number, length, node, epoch, no tags.
const movedLeader = 1 + 1 + 4 + 4 + noTags

// newEndpoint is the tagged field that says where that node is, once in a response: number, length, one node of 30 bytes of host, and no rack.
func newEndpoint(e exchange) int { return toldOfMoves(e) * (1 + 1 + 1 + 4 + (1 + 30) + 4 + 1 + noTags) }

func toldOfMoves(e exchange) int {
	if e.moved {
		return 1
	}
	return 0
}

// headers is how many messages of an exchange have a header that is read: decoding in memory has none.
func headers(e exchange) int {
	if e.wire {
		return 1
	}
	return 0
}

func headerTags(e exchange) int { return headers(e) * noTags }

// sizeStep is how far apart two sizes are, at most, that Go's allocator gives to objects of n bytes: an eighth, and pages beyond 32 KiB.
func sizeStep(n int) int {
	if n > 32<<10 {
		return 8 << 10
	}
	return max(16, n/8)
}

// expected is what entries of the table explain together.
type expected struct {
	entries                         []difference
	requestBytes, responseBytes     int
	leastAllocs, mostAllocs         int
	leastAllocBytes, mostAllocBytes int
	segmentsIn                      int
}

// expectedBetween adds up what may change from one version to a later one. Entries that say nothing of this exchange are left out.
func expectedBetween(api string, from, to int, e exchange) expected {
	var x expected
	for _, d := range expectedDifferences {
		counts := (d.request != nil && e.wire || d.response != nil && e.answered) && (e.moved || !d.onErrors)
		if d.api == api && d.at > from && d.at <= to && counts {
			x.add(d, e)
		}
	}
	return x
}

func (x *expected) add(d difference, e exchange) {
	x.entries = append(x.entries, d)
	if d.request != nil && e.wire {
		x.requestBytes += d.request(e)
	}
	if !e.answered {
		return
	}
	x.segmentsIn += d.segmentsIn * headers(e)
	if d.response != nil {
		x.responseBytes += d.response(e)
	}
	for _, a := range d.allocs {
		times := a.times(e)
		x.leastAllocs += a.least * times
		x.mostAllocs += a.most * times
		x.leastAllocBytes += a.least * times * a.bytesEach(e)
		x.mostAllocBytes += a.most * times * a.bytesEach(e)
	}
}

// bufferSizes is by how much the allocation of a buffer may differ that holds a message of one length and then of another: sizes come in steps, and a
// client that keeps its buffers allocates none.
func bufferSizes(from, to int) (least, most int) {
	if from == to {
		return 0, 0
	}
	step := sizeStep(max(from, to))
	return min(0, to-from-step), max(0, to-from+step)
}

// inWords names the fields that were taken into account.
func (x expected) inWords() string {
	if x.entries == nil {
		return "nothing changed in the schema"
	}
	var fields []string
	for _, d := range x.entries {
		fields = append(fields, fmt.Sprintf("v%d: %s (%s)", d.at, d.fields, d.kip))
	}
	return strings.Join(fields, "; ")
}
