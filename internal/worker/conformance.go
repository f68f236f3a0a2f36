package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"protocolbench/internal/driver"
	"protocolbench/internal/shape"
)

// Rules of the conformance suite, by the names that failures carry.
const (
	RuleHello    = "hello"     // says truly who and what it is
	RuleJunk     = "junk"      // nothing but answers on standard output
	RuleOpen     = "open"      // opens what hello says it implements
	RuleRecords  = "records"   // carries the records of the content seed, all of them, once
	RulePin      = "pin"       // only the pinned version leaves
	RuleInFlight = "in flight" // exactly the requests that were asked for, none left over
	RuleClock    = "clock"     // its CPU clock is the process's, and a plant burns
	RuleErrors   = "errors"    // answers a bad request with an error and lives on
	RuleClose    = "close"     // ends by itself when asked and when its standard input ends
)

// Bench is what a worker is tested on.
type Bench struct {
	Command   Command
	Deadlines Deadlines
	// Tier is the live tier that the brokers belong to, 1 where it is 0. Tier 0 is tested wherever the worker has a codec.
	Tier    int
	Brokers []string // none: tier 0 only
	// Versions is what the brokers take, by API: first and last. Without an entry it is all that the worker implements, from
	// the first version that carries record batches of format v2 on.
	Versions map[string][2]int
	// FillTopic stores the first batches record batches of a shape's content from offset 0 on.
	FillTopic func(ctx context.Context, topic string, s shape.Shape, contentSeed uint64, baseTimestampMs int64, batches int) error
	// NewTopic makes an empty topic of one partition.
	NewTopic  func(ctx context.Context) (string, error)
	EndOffset func(ctx context.Context, topic string) (int64, error)
	// BrokerCounts gives the broker's own count of requests by version; nil where it has none.
	BrokerCounts func(ctx context.Context, api string) (map[int]int64, error)
}

// Failure is one broken rule.
type Failure struct {
	Rule string
	Text string
}

func (f Failure) String() string { return f.Rule + ": " + f.Text }

// conformContentSeed makes the suite's records. It is fixed: a worker is right or wrong for every seed alike, and a failure is seen
// again the next time.
const conformContentSeed = 0x70726f746f636f6c

// firstWithBatches is the first version of an API that carries record batches of format v2, which the shapes need.
var firstWithBatches = map[string]int{"Produce": 3, "Fetch": 4}

// apiKeys are the keys that wire counts have to go by.
var apiKeys = map[string]int16{"Produce": 0, "Fetch": 1}

// Conform runs a worker through the protocol and says which rules it broke: none for a right worker. It starts the worker's command
// twice. Errors of the bench itself (a topic that cannot be made) are returned as failures of the rule "open", since nothing
// could be opened.
func Conform(ctx context.Context, bench Bench) []Failure {
	c := &conformance{bench: bench, baseTimestampMs: time.Now().UnixMilli()}
	p, err := Start(ctx, bench.Command, bench.Deadlines)
	if err != nil {
		c.broke(RuleHello, err)
		return c.failures
	}
	defer p.Close(ctx)
	c.p = p
	c.checkHello()
	opened := 0
	for _, cell := range c.cells(ctx) {
		cell.open.Cell = opened
		if c.stopped {
			return c.failures
		}
		if c.checkCell(ctx, cell) {
			if opened == 0 {
				c.first = cell.open
			}
			opened++
		}
	}
	if opened == 0 {
		c.fail(RuleOpen, "no cell of any kind could be opened: there is nothing to test")
		return c.failures
	}
	for _, check := range []func(context.Context){c.checkMessages, c.checkClock, c.checkErrors, c.checkClose, c.checkEndOfInput} {
		if c.stopped {
			break
		}
		check(ctx)
	}
	return c.failures
}

type conformance struct {
	bench           Bench
	p               *Process
	baseTimestampMs int64
	failures        []Failure
	first           driver.Open // cell 0
	profiled        bool
	stopped         bool // the worker is gone: what follows would fail for that reason alone
}

func (c *conformance) fail(rule, format string, args ...any) {
	f := Failure{rule, fmt.Sprintf(format, args...)}
	if !slices.Contains(c.failures, f) {
		c.failures = append(c.failures, f)
	}
}

// broke files an error under the rule that was being checked, or under "junk" if that is what it was. It tells whether there was an error.
func (c *conformance) broke(rule string, err error) bool {
	if err == nil {
		return false
	}
	var refused *Refused
	var junk *Junk
	switch {
	case errors.As(err, &junk):
		rule, c.stopped = RuleJunk, true
	case !errors.As(err, &refused):
		c.stopped = true
	}
	c.fail(rule, "%v", err)
	return true
}

// cellTest is one cell to open and check.
type cellTest struct {
	open driver.Open
	live bool
}

func (t cellTest) name() string {
	return fmt.Sprintf("tier %d %s v%d (%s, acks %d)", t.open.Tier, t.open.API, t.open.Version, t.open.Shape.Name, t.open.Shape.RequiredAcks)
}

const (
	// conformRequests is the larger batch; the other is of one request.
	conformRequests = 6
	conformMax      = 16
)

// Shapes of the suite: small, every axis different, headers so that a hash sees them.
var (
	conformRecords = shape.Shape{
		Name: "conform", RecordsPerBatch: 10, BatchesPerPartition: 1, Partitions: 1, Topics: 1,
		KeyBytes: 12, ValueBytes: 100, Headers: 2, RequiredAcks: -1,
	}
	conformDecode = shape.Shape{
		Name: "conform-decode", RecordsPerBatch: 7, BatchesPerPartition: 3, Partitions: 2, Topics: 2,
		KeyBytes: 16, ValueBytes: 50, Headers: 1, RequiredAcks: -1,
	}
	conformFetch = shape.Shape{
		Name: "conform-fetch", RecordsPerBatch: 10, BatchesPerPartition: 1, Partitions: 1, Topics: 1,
		KeyBytes: 12, ValueBytes: 100, Headers: 1, FetchBytes: 4096, RequiredAcks: -1,
	}
)

// cells lists what is tested: each API at its lowest, a middle and its highest version, with the codec alone and live.
func (c *conformance) cells(ctx context.Context) []cellTest {
	var tests []cellTest
	abilities := c.p.Hello().Abilities
	for _, implemented := range c.p.Hello().Implemented {
		low := max(int(implemented.Min), firstWithBatches[implemented.API])
		codecVersions := spread(low, int(implemented.Max))
		if slices.Contains(abilities, "codec") {
			s := conformRecords
			if implemented.API == "Fetch" {
				s = conformDecode
			}
			for _, version := range codecVersions {
				tests = append(tests, c.test(0, implemented.API, version, s, ""))
			}
		}
		if len(c.bench.Brokers) > 0 {
			if limits, ok := c.bench.Versions[implemented.API]; ok {
				codecVersions = spread(max(low, limits[0]), min(int(implemented.Max), limits[1]))
			}
			tests = append(tests, c.liveCells(ctx, implemented.API, codecVersions)...)
		}
	}
	return tests
}

// spread gives the lowest, a middle and the highest version, each once.
func spread(low, high int) []int {
	versions := []int{low, (low + high + 1) / 2, high}
	return slices.Compact(versions)
}

func (c *conformance) test(tier int, api string, version int, s shape.Shape, topic string) cellTest {
	return cellTest{live: tier > 0, open: driver.Open{
		Tier: tier, API: api, Version: version, Shape: s, Mode: driver.ModeBare, Brokers: c.bench.Brokers, Topic: topic,
		ContentSeed: conformContentSeed, BaseTimestampMs: c.baseTimestampMs, MaxRequests: conformMax,
	}}
}

func (c *conformance) liveCells(ctx context.Context, api string, versions []int) []cellTest {
	tier := max(c.bench.Tier, 1)
	topic, err := c.bench.NewTopic(ctx)
	if err == nil && api == "Fetch" {
		// Enough for the largest batch and a few responses more, so that a fetch too many finds records, too.
		perResponse := conformFetch.FetchBytes/(conformFetch.RecordsPerBatch*conformFetch.ValueBytes) + 1
		err = c.bench.FillTopic(ctx, topic, conformFetch, conformContentSeed, c.baseTimestampMs, perResponse*(conformMax+4))
	}
	if err != nil {
		c.fail(RuleOpen, "the bench has no topic for %s: %v", api, err)
		return nil
	}
	s := conformRecords
	if api == "Fetch" {
		s = conformFetch
	}
	var tests []cellTest
	for _, version := range versions {
		tests = append(tests, c.test(tier, api, version, s, topic))
	}
	if api == "Produce" { // acks 0 at the highest version: no answers, so counts have nothing else to stand on
		s.Name, s.RequiredAcks = "conform-unacknowledged", 0
		tests = append(tests, c.test(tier, api, versions[len(versions)-1], s, topic))
	}
	return tests
}
