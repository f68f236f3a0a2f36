package guards

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"protocolbench/internal/bank"
	"protocolbench/internal/record"
	"protocolbench/internal/shape"
)

func TestCountersOfRealClientsPass(t *testing.T) {
	for _, m := range measuredFamilies {
		run, f := m.run()
		for _, finding := range checkCounters(run, *f) {
			if finding.Outcome != Pass {
				t.Errorf("%s: %s", label(finding), finding.Why)
			}
		}
		for _, finding := range checkKnownTruth(run, *f) {
			if finding.Outcome != Pass {
				t.Errorf("%s: %s", label(finding), finding.Why)
			}
		}
	}
}

// The lengths of the table against the writer of responses, which was made from the schemas by itself and is held against a client's own codec.
func TestTableAgreesWithTheCodec(t *testing.T) {
	shapes := []shape.Shape{plain(1, 1, 1, 1, 0, -1), plain(100, 1, 1, 1, 0, -1), plain(10, 3, 7, 2, 0, -1), plain(1, 1, 130, 1, 0, -1), plain(1, 1, 1, 200, 0, -1)}
	for _, change := range []func(*shape.Shape){
		func(s *shape.Shape) { s.TopicNameBytes = 1 }, func(s *shape.Shape) { s.TopicNameBytes = 249 }, func(s *shape.Shape) { s.Aborted = 1 }, func(s *shape.Shape) { s.Aborted = 150 },
		func(s *shape.Shape) { s.Answer = shape.AnswerEmpty }, func(s *shape.Shape) { s.Answer = shape.AnswerError },
	} {
		s := plain(3, 2, 4, 5, 0, -1)
		change(&s)
		shapes = append(shapes, s)
	}
	for _, s := range shapes {
		run := &record.Run{}
		e := exchangeOf(run, record.FamilyRun{Family: record.Family{API: fetchAPI, Shape: s}})
		lengths := map[int]int{}
		for v := bank.MinFetch; v <= bank.MaxFetch; v++ {
			body, err := bank.New(s, 3, 0).Body(v)
			if err != nil {
				t.Fatal(err)
			}
			lengths[v] = len(body)
		}
		for from := bank.MinFetch; from < bank.MaxFetch; from++ {
			for to := from + 1; to <= bank.MaxFetch; to++ {
				if got, want := expectedBetween(fetchAPI, from, to, e).responseBytes, lengths[to]-lengths[from]; got != want {
					t.Errorf("v%d to v%d of %+v: the table has %d bytes, the codec %d", from, to, s, got, want)
				}
			}
		}
	}
}

func TestTableHasSourcesAndOrder(t *testing.T) {
	for i, d := range expectedDifferences {
		if d.fields == "" || !strings.HasPrefix(d.kip, "KIP-") || d.request == nil && d.response == nil {
			t.Errorf("%s v%d explains nothing, or doesn't say by what: %+v", d.api, d.at, d)
		}
		if i > 0 && expectedDifferences[i-1].api == d.api && expectedDifferences[i-1].at >= d.at {
			t.Errorf("%s v%d is out of order", d.api, d.at)
		}
	}
}

// plant changes what was counted of some versions of a measured family.
type plant struct {
	name     string
	family   string
	from, to int // versions
	batch    func(*record.Batch)
	steady   func(*record.Steady)
	reads    int64 // as many times
	want     map[int]Outcome
	why      string
}

func (p plant) into(f *record.FamilyRun) {
	for b := range f.BlockRuns {
		block := &f.BlockRuns[b]
		in := func(cell int) bool { v := versionOf(f.Family, cell); return v >= p.from && v <= p.to }
		for i := range block.Batches {
			if p.batch != nil && in(block.Batches[i].Cell) {
				p.batch(&block.Batches[i])
			}
		}
		for i := range block.Steadies {
			if p.steady != nil && in(block.Steadies[i].Cell) {
				p.steady(&block.Steadies[i])
			}
		}
		for _, e := range []*record.Evidence{block.Open, block.Close} {
			for i := range e.Worker.Cells {
				if p.reads > 0 && in(e.Worker.Cells[i].Cell) {
					e.Worker.Cells[i].Reads *= p.reads
				}
			}
		}
	}
}

func outcomes(outcome Outcome, from, to int) map[int]Outcome {
	m := map[int]Outcome{}
	for v := from; v <= to; v++ {
		m[v] = outcome
	}
	return m
}

// more allocates n times more per request, 16 bytes each.
func more(n int) func(*record.Steady) {
	return func(s *record.Steady) {
		s.Allocs += uint64(n * s.Requests)
		s.AllocBytes += uint64(16 * n * s.Requests)
	}
}

func TestPlantsInCounters(t *testing.T) {
	const (
		produce100, produce1000 = "tier0/produce/records=100/bare", "tier1/produce/records=1000,acks=all/bare"
		manyPartitions          = "tier0/produce/batches=1000x10/bare"
		topics100, fetch4       = "tier0/fetch/topics=100/bare", "tier1/fetch/size=4KiB/bare"
		fetch64, fetch1M        = "tier1/fetch/size=64KiB/bare", "tier1/fetch/size=1MiB/bare"
	)
	for _, p := range []plant{
		{name: "one more allocation per record in v3 to v8", family: produce100, from: 3, to: 8, steady: more(100), want: outcomes(Fail, 3, 8), why: "per record are not"},
		{name: "the same, live", family: produce1000, from: 3, to: 8, steady: more(1000), want: outcomes(Fail, 3, 8), why: "per record are not"},
		{name: "one more allocation per record of a fetch in v5 alone", family: fetch1M, from: 5, to: 5, steady: more(9430), want: outcomes(Fail, 5, 5), why: "per record are not"},
		{name: "one more allocation per partition from v9 on", family: manyPartitions, from: 9, to: 13, steady: more(1000), want: outcomes(Fail, 9, 9), why: "v9 has 1001 more allocations for a request than v8"},
		{name: "the same in a request of one partition", family: produce100, from: 9, to: 13, steady: more(1), want: outcomes(Fail, 9, 9), why: "1 per request are not"},
		{name: "the same of a fetch", family: fetch4, from: 9, to: 18, steady: more(1), want: outcomes(Fail, 9, 9), why: "0 of them are explained (v9: current leader epoch in the request (KIP-320))"},
		{name: "one more allocation per topic up to v12", family: topics100, from: 4, to: 12, steady: more(100), want: outcomes(Fail, 4, 12), why: "1.00 per topic are not"},
		{name: "the newest allocates more", family: produce100, from: 13, to: 13, steady: more(2), want: outcomes(Fail, 13, 13), why: "v13 has 1 more allocations"},
		{name: "larger allocations, as many", family: produce100, from: 4, to: 4, steady: func(s *record.Steady) { s.AllocBytes += uint64(100 * 24 * s.Requests) }, want: outcomes(Fail, 4, 4), why: "bytes allocated for a request than v3"},
		{name: "one request too many", family: fetch64, from: 6, to: 6, batch: func(b *record.Batch) { b.WireRequests++; b.WireBytesIn += b.WireBytesIn / 23 }, want: outcomes(Fail, 6, 6), why: "requests for 1,000 records than v5"},
		{name: "records fetched twice", family: fetch64, from: 11, to: 11, batch: func(b *record.Batch) { b.WireBytesIn *= 2 }, want: outcomes(Fail, 11, 12), why: "more bytes in a response than v10"},
		{name: "a field of the next version", family: fetch4, from: 8, to: 8, batch: func(b *record.Batch) { b.MinFrame += 4; b.MaxFrame += 4 }, want: outcomes(Fail, 8, 9), why: "v8 has 4 more bytes in a request than v7; 0 of them are explained (nothing changed in the schema)"},
		{name: "requests of several lengths", family: fetch4, from: 8, to: 8, batch: func(b *record.Batch) { b.MinFrame -= b.Round }, want: outcomes(Fail, 8, 8), why: "111 to 112 bytes"},
		{name: "reads in small pieces", family: fetch64, from: 12, to: 18, reads: 20, want: outcomes(Fail, 12, 12), why: "reads for a response"},
		{name: "reads as a busy machine has them", family: fetch64, from: 7, to: 7, reads: 3},
		{name: "no steady pass", family: produce100, from: 6, to: 6, steady: func(s *record.Steady) { s.Requests = 0 }, want: outcomes(Blind, 6, 6), why: "not counted"},
		{name: "no frames", family: fetch4, from: 6, to: 6, batch: func(b *record.Batch) { b.MinFrame, b.MaxFrame = 0, 0 }, want: outcomes(Blind, 6, 6), why: "how long its requests are"},
		{name: "no bytes in", family: "tier0/fetch/records=100/bare", from: 6, to: 6, batch: func(b *record.Batch) { b.WireBytesIn = 0 }, want: outcomes(Blind, 6, 6), why: "how many bytes its responses have"},
		{name: "no batches", family: fetch4, from: 9, to: 9, batch: func(b *record.Batch) { b.WireRequests = 0 }, want: outcomes(Blind, 9, 9), why: "no batch"},
	} {
		t.Run(p.name, func(t *testing.T) {
			run, f := measuredFamily(p.family).run()
			p.into(f)
			first := true
			for _, finding := range checkCounters(run, *f) {
				want, planted := p.want[finding.Version]
				if !planted {
					want = Pass
				}
				if finding.Outcome != want {
					t.Errorf("v%d: %s, want %s: %s", finding.Version, finding.Outcome, want, finding.Why)
				}
				if planted && first && !strings.Contains(finding.Why, p.why) {
					t.Errorf("v%d is explained by %q, want %q in it", finding.Version, finding.Why, p.why)
				}
				first = first && !planted
			}
		})
	}
}

// strayed puts n allocations into a pass of v7 in some of four blocks.
func strayed(n uint64, passes int) []Finding {
	m := measuredFamily("tier1/fetch/size=1MiB/bare")
	run, f := m.run()
	for fork := 2; fork < 4; fork++ {
		f.BlockRuns = append(f.BlockRuns, m.block(f.Family, fork))
	}
	for i := range passes {
		for j := range f.BlockRuns[i].Steadies {
			if s := &f.BlockRuns[i].Steadies[j]; versionOf(f.Family, s.Cell) == 7 {
				s.Allocs += n * uint64(i+1) // no two alike
				s.AllocBytes += n * 48
			}
		}
	}
	return checkCounters(run, *f)
}

func TestStrayAllocations(t *testing.T) {
	for _, test := range []struct {
		n      uint64
		passes int
		want   Outcome
	}{
		{100, 1, Pass}, // three of four agree
		{2, 4, Pass},   // none agree: 2, 4, 6 and 8, of which 6 is taken, and 8 may stray
		{4, 4, Fail},   // 12
	} {
		for _, finding := range strayed(test.n, test.passes) {
			if finding.Version == 7 && finding.Outcome != test.want {
				t.Errorf("%d allocations in %d of 4 passes: %s, want %s: %s", test.n, test.passes, finding.Outcome, test.want, finding.Why)
			}
		}
	}
}

func TestUsualValue(t *testing.T) {
	for _, test := range []struct {
		xs          []float64
		value       float64
		agreed, all bool
	}{
		{nil, 0, false, true},
		{[]float64{5}, 5, false, true},
		{[]float64{5, 5}, 5, true, true},
		{[]float64{5, 4}, 5, false, false}, // no two alike: a median, of two the upper
		{[]float64{9, 4, 4, 8}, 4, false, false},
		{[]float64{9, 4, 4, 4}, 4, true, false},
		{[]float64{7, 7, 4, 4}, 4, false, false},
	} {
		if u := usualOf(slices.Clone(test.xs)); u.value != test.value || u.agreed != test.agreed || u.all != test.all || u.times != len(test.xs) {
			t.Errorf("%v: %+v", test.xs, u)
		}
	}
}

func TestCountersWithNothingToCompare(t *testing.T) {
	for name, change := range map[string]func(*record.Family){
		"left alone":  func(f *record.Family) { f.Reference = -1 },
		"one version": func(f *record.Family) { f.Cells = f.Cells[len(f.Cells)-2:] },
		"as shipped":  func(f *record.Family) { f.Mode = "shipped" },
	} {
		run, f := measuredFamilies[0].run()
		change(&f.Family)
		if findings := checkCounters(run, *f); len(findings) != 1 || findings[0].Outcome != NotApplicable || findings[0].Why == "" {
			t.Errorf("%s: %+v", name, findings)
		}
	}
}

// Of two builds each is compared with itself: what the baseline allocates more is no fault of the candidate.
func TestCountersOfTwoBuilds(t *testing.T) {
	run, f := measuredFamily("tier0/produce/records=100/bare").run()
	n := len(f.Cells)
	for _, c := range f.Cells[:n] {
		c.Cell, c.Build = c.Cell+n, record.BuildBaseline
		f.Cells = append(f.Cells, c)
	}
	for i := range f.BlockRuns {
		b := &f.BlockRuns[i]
		for _, batch := range b.Batches {
			batch.Cell += n
			b.Batches = append(b.Batches, batch)
		}
		for _, s := range b.Steadies {
			s.Cell += n
			if versionOf(f.Family, s.Cell) == 5 {
				s.Allocs += uint64(100 * s.Requests)
			}
			b.Steadies = append(b.Steadies, s)
		}
		for _, e := range []*record.Evidence{b.Open, b.Close} {
			e.Baseline = &record.WorkerEvidence{}
			for _, c := range e.Worker.Cells {
				c.Cell += n
				e.Baseline.Worker.Cells = append(e.Baseline.Worker.Cells, c)
			}
		}
	}
	var failed []string
	for _, finding := range perBuild(checkCounters)(run, *f) {
		if finding.Outcome != Pass {
			failed = append(failed, fmt.Sprintf("%s v%d %s", finding.Build, finding.Version, finding.Why[:len(aboutBaseline)]))
		}
	}
	if want := []string{"baseline v5 " + aboutBaseline}; !slices.Equal(failed, want) {
		t.Errorf("%q, want %q", failed, want)
	}
}

// Of compressed requests on a broker one length is the mean of a batch, which other records don't change and another codec does.
func TestRequestLengthsOfCompressedRequests(t *testing.T) {
	batch := record.Batch{}
	batch.MinFrame, batch.MaxFrame, batch.WireBytesOut = 5958, 6043, 4*6000
	lz4 := shape.Shape{Compression: shape.CompressionLZ4}
	for _, c := range []struct {
		name              string
		f                 record.Family
		shortest, longest int
	}{
		{"compressed", record.Family{Tier: 1, API: produceAPI, Shape: lz4}, 6000, 6000},
		{"not compressed", record.Family{Tier: 1, API: produceAPI}, 5958, 6043},
		{"in memory, where all are the same", record.Family{Tier: 0, API: produceAPI, Shape: lz4}, 5958, 6043},
		{"Fetch", record.Family{Tier: 1, API: fetchAPI, Shape: lz4}, 5958, 6043},
	} {
		if shortest, longest := requestLengths(c.f, batch, 4); shortest != c.shortest || longest != c.longest {
			t.Errorf("%s: %d to %d, want %d to %d", c.name, shortest, longest, c.shortest, c.longest)
		}
	}
	batch.MaxFrame = 0
	if _, longest := requestLengths(record.Family{Tier: 1, API: produceAPI, Shape: lz4}, batch, 4); longest != 0 {
		t.Errorf("a worker that says no lengths has a request of %d bytes", longest)
	}
}
