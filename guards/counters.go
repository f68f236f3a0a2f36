package guards

import (
	"fmt"
	"math"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
)

// What may stray into a steady pass that no code of the client allocates, in allocations and bytes of a whole pass: the runtime's own, a goroutine that
// wakes up. Single passes had up to 7 of 5.6 KB. Where most passes of a version agree on a value, it differed between versions by nothing but what
// the table explains; the margin is for machines that are busier.
const (
	strayAllocsAgreed, strayBytesAgreed = 2, 1 << 10
	strayAllocsAlone, strayBytesAlone   = 8, 8 << 10
)

// A version's responses may take so many times as many reads as another's, and so many more. Blocks of one version at 1 MiB lay between 5.3 and 15.4
// reads, their medians between 6 and 10; a client that reads in small pieces takes hundreds.
const (
	readsFactor = 3
	readsMore   = 3
)

// checkCounters compares what needs no statistics between versions: lengths, requests, allocations, reads. What differs has to be in the table of
// expected differences. Each version answers for what it has more than its left neighbour, and more than the newest.
func checkCounters(run *record.Run, f record.FamilyRun) []Finding {
	versions := versionsOf(f.Family)
	if why := notCompared(f.Family, versions); why != "" {
		return []Finding{{Guard: Counters, Tier: f.Tier, Family: f.Name, Version: AllVersions, Outcome: NotApplicable, Why: why}}
	}
	c := comparison{family: f.Family, exchange: exchangeOf(run, f)}
	for _, v := range versions {
		c.counters = append(c.counters, countersOf(f, v))
	}
	var findings []Finding
	for i := range c.counters {
		findings = append(findings, c.finding(i))
	}
	return findings
}

func notCompared(f record.Family, versions []int) string {
	switch {
	case f.Reference < 0:
		return "the client is left alone: there is one version, and nothing to compare it with"
	case len(versions) < 2:
		return "one version is pinned: there is nothing to compare it with"
	case f.Mode == driver.ModeShipped:
		return "as shipped a client compresses and keeps fetch sessions, so neither lengths nor allocations are fixed by the schema"
	}
	return ""
}

// comparison is a family's counters side by side.
type comparison struct {
	family   record.Family
	exchange exchange
	counters []versionCounters // versions ascending
}

// doubt is one thing that keeps a version's counters from passing.
type doubt struct {
	outcome Outcome
	why     string
}

func (c comparison) finding(i int) Finding {
	one, newest := c.counters[i], c.counters[len(c.counters)-1]
	doubts := c.alone(one)
	evidence := map[string]any{"counters": one.shown()}
	if i > 0 {
		left := c.counters[i-1]
		steps, explained := c.steps(left, one)
		doubts = append(doubts, c.answersForMore(steps, left, one, explained)...)
		evidence["leftNeighbour"] = against(left, steps, explained)
	}
	if one.version != newest.version {
		steps, explained := c.steps(one, newest)
		doubts = append(doubts, c.answersForLess(steps, one, newest, explained)...)
		evidence["newest"] = against(newest, inexact(steps), explained)
	}
	f := Finding{Guard: Counters, Tier: c.family.Tier, Family: c.family.Name, Version: one.version, Outcome: Pass, Evidence: evidence,
		Why: "lengths, requests, allocations and reads differ from those of the left neighbour, and of the newest version, by no more than fields of the schema explain"}
	var said []string
	for _, d := range doubts {
		if rank(d.outcome) > rank(f.Outcome) {
			f.Outcome, f.Why = d.outcome, d.why
		}
		said = append(said, d.why)
	}
	if len(said) > 1 {
		evidence["all"] = said
	}
	return f
}

// alone says what of a version's counters can't be read, or differs from batch to batch.
func (c comparison) alone(one versionCounters) []doubt {
	var doubts []doubt
	blind := func(why string) { doubts = append(doubts, doubt{Blind, why}) }
	switch {
	case one.requests.times == 0:
		blind("no batch with requests was taken at this version, so there is nothing to count")
		return doubts
	case c.exchange.wire && one.longest <= 0:
		blind("this worker doesn't say how long its requests are, so a wrong layout of them would not be seen; report minFrame and maxFrame (DRIVER.md)")
	case c.exchange.wire && one.shortest != one.longest:
		doubts = append(doubts, doubt{Fail, fmt.Sprintf("requests of this version have %d to %d bytes where all are equal: they don't carry the same, or not in the same layout", one.shortest, one.longest)})
	}
	if c.exchange.answered && one.responseBytes.value <= 0 {
		blind("this worker doesn't say how many bytes its responses have; report wireBytesIn (DRIVER.md)")
	}
	if one.allocs.times == 0 {
		blind("allocations of this version were not counted: it has no steady pass (the block ended early, or the worker lacks the ability), so a codec that only allocates more would not be seen")
	}
	return doubts
}

// step is by how much one counter differs from one version to a later one, and by how much it may.
type step struct {
	counter         string // as in the evidence
	what            string // in words: "v9 %s than v8"
	by, least, most float64
	tolerance       float64
	exact           bool // fixed by the schema, in both directions
	perRecord       bool // an excess can be one per record, partition, topic or request: says which
}

func (s step) over() float64  { return s.by - s.most - s.tolerance }
func (s step) under() float64 { return s.least - s.tolerance - s.by }

// rounding is far below anything that is counted.
const rounding = 1e-6

// steps lists the counters that both versions have.
func (c comparison) steps(older, newer versionCounters) (steps []step, explained expected) {
	e := c.exchange
	x := expectedBetween(c.family.API, older.version, newer.version, e)
	if older.requests.times == 0 || newer.requests.times == 0 {
		return nil, x
	}
	add := func(s step) { steps = append(steps, s) }
	if e.wire && older.longest > 0 && newer.longest > 0 {
		add(step{counter: "requestBytes", what: "bytes in a request", by: newer.requestBytes.value - older.requestBytes.value,
			least: float64(x.requestBytes), most: float64(x.requestBytes), tolerance: rounding, exact: true})
	}
	if older.responseBytes.value > 0 && newer.responseBytes.value > 0 {
		add(step{counter: "responseBytes", what: "bytes in a response", by: newer.responseBytes.value - older.responseBytes.value,
			least: float64(x.responseBytes), most: float64(x.responseBytes), tolerance: rounding, exact: true})
	}
	if older.records.value > 0 && newer.records.value > 0 {
		add(step{counter: "requestsPer1000Records", what: "requests for 1,000 records", tolerance: rounding,
			by: 1000 * (newer.requests.value/newer.records.value - older.requests.value/older.records.value)})
	}
	if older.allocs.times > 0 && newer.allocs.times > 0 {
		steps = append(steps, c.allocated(older, newer, x)...)
	}
	if (c.family.Tier > 0 || c.family.Shape.ReadBytes > 0) && older.reads > 0 && newer.reads > 0 {
		add(step{counter: "readsPerResponse", what: "reads for a response", by: newer.reads - older.reads,
			tolerance: (readsFactor-1)*min(older.reads, newer.reads) + readsMore})
	}
	return steps, x
}

func (c comparison) allocated(older, newer versionCounters, x expected) []step {
	passRequests := float64(max(1, min(older.steadyRequests, newer.steadyRequests)))
	strayAllocs, strayBytes := strayAllocsAlone, strayBytesAlone
	if older.allocs.agreed && newer.allocs.agreed {
		strayAllocs, strayBytes = strayAllocsAgreed, strayBytesAgreed
	}
	least, most := float64(x.leastAllocBytes), float64(x.mostAllocBytes)
	if c.exchange.wire { // each message goes through a buffer, whose size follows its length in steps
		for _, lengths := range [][2]float64{{older.requestBytes.value, newer.requestBytes.value}, {older.responseBytes.value, newer.responseBytes.value}} {
			smaller, larger := bufferSizes(int(lengths[0]), int(lengths[1]))
			least, most = least+float64(smaller), most+float64(larger)
		}
	}
	return []step{
		{counter: "allocsPerRequest", what: "allocations for a request", by: newer.allocs.value - older.allocs.value,
			least: float64(x.leastAllocs), most: float64(x.mostAllocs), tolerance: float64(strayAllocs) / passRequests, perRecord: true},
		{counter: "allocBytesPerRequest", what: "bytes allocated for a request", by: newer.allocBytes.value - older.allocBytes.value,
			least: least, most: most, tolerance: float64(strayBytes) / passRequests, perRecord: true},
	}
}

// answersForMore is what the newer version of two has more than the table explains. Of what is exact it may have no less either.
func (c comparison) answersForMore(steps []step, older, newer versionCounters, x expected) []doubt {
	var doubts []doubt
	for _, s := range steps {
		switch {
		case s.over() > 0:
			doubts = append(doubts, doubt{Fail, fmt.Sprintf("v%d has %s more %s than v%d; %s%s%s", newer.version, amount(s.by), s.what, older.version,
				x.explains(s.least, s.most), c.perWhat(s, s.by-s.most), whatToDo(s))})
		case s.exact && s.under() > 0:
			doubts = append(doubts, doubt{Fail, fmt.Sprintf("v%d has %s %s beside v%d; %s, so one of the two is not in the layout of its version%s", newer.version, amount(s.by), s.what,
				older.version, x.explains(s.least, s.most), whatToDo(s))})
		}
	}
	return doubts
}

// answersForLess is what the older version of two has more than the newest, beyond the table. Lengths have been compared between neighbours.
func (c comparison) answersForLess(steps []step, older, newest versionCounters, x expected) []doubt {
	var doubts []doubt
	for _, s := range steps {
		if !s.exact && s.under() > 0 {
			doubts = append(doubts, doubt{Fail, fmt.Sprintf("v%d has %s more %s than v%d, the newest; %s%s%s", older.version, amount(-s.by), s.what, newest.version,
				x.explains(-s.most, -s.least), c.perWhat(s, s.least-s.by), whatToDo(s))})
		}
	}
	return doubts
}

// explains says what the table allows, the way round that a version has more.
func (x expected) explains(least, most float64) string {
	by := amount(least)
	if least != most {
		by += " to " + amount(most)
	}
	return fmt.Sprintf("%s of them are explained (%s)", by, x.inWords())
}

// perWhat says what an excess per request comes to.
func (c comparison) perWhat(s step, excess float64) string {
	records := float64(c.family.RecordsPerRequest)
	topics, partitions := float64(c.exchange.topics), float64(c.exchange.topics*c.exchange.partitions)
	const nearlyOne = 0.9
	switch {
	case !s.perRecord:
		return ""
	case records > 1 && excess >= nearlyOne*records:
		return fmt.Sprintf(", %.2f per record are not", excess/records)
	case partitions > topics && excess >= nearlyOne*partitions:
		return fmt.Sprintf(", %.2f per partition are not", excess/partitions)
	case topics > 1 && excess >= nearlyOne*topics:
		return fmt.Sprintf(", %.2f per topic are not", excess/topics)
	}
	return fmt.Sprintf(", %s per request are not", amount(excess))
}

func whatToDo(s step) string {
	if s.perRecord {
		return "; profile the allocations of the two versions side by side"
	}
	return "; compare what the two versions put on the wire"
}

// amount is a count, which mostly is a whole number.
func amount(x float64) string {
	if whole := math.Round(x); math.Abs(x-whole) < rounding {
		return fmt.Sprintf("%.0f", whole)
	}
	return fmt.Sprintf("%.2f", x)
}
