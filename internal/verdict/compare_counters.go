package verdict

import (
	"math"
	"slices"

	"protocolbench/internal/record"
)

// comparedCounters need no statistics, and no machine that is the same: they are counts.
var comparedCounters = []struct {
	name string
	of   func(Cell) float64 // -1: unknown
}{
	{"allocations per record", func(c Cell) float64 { return c.AllocsPerRecord }},
	{"bytes allocated per record", func(c Cell) float64 { return c.AllocBytesPerRecord }},
	{"wire bytes per record", func(c Cell) float64 { return c.WireBytesPerRecord }},
	{"requests per 1000 records", func(c Cell) float64 { return c.RequestsPer1000 }},
	{"segments received per request", func(c Cell) float64 { return c.SegmentsInPerRequest }},
}

// What may come and go between two runs of one build, as a part of the value: the runtime allocates by itself now and then, and topics have names of
// other lengths. One block alone can't show how far its counters lie apart; of single blocks of one build it was up to 2 %.
const (
	leastCounterChange       = 0.001
	leastCounterChangeSingle = 0.03 // with one block
)

// counted is one counter of one version in one run: its value, and how far the blocks of the run lie apart. Most have no width at all; how many
// segments carry a response of 1 MiB is the kernel's business, and another number in each block.
type counted struct {
	value, low, high float64
	blocks           int
}

// compareCounters lists what changed of the versions that both have. With another shape or architecture no count has to be the same.
func compareCounters(p pair, versions []int) []ComparedCounter {
	list := []ComparedCounter{}
	if !countable(p) {
		return list
	}
	a, b := curve{judgement: judgement{layout: layoutOf(p.inA.Family)}}, curve{judgement: judgement{layout: layoutOf(p.inB.Family)}}
	for _, v := range versions {
		list = append(list, changedCounters(v, countersOf(p.inA, a.clientsOf(v)), countersOf(p.inB, b.clientsOf(v)))...)
	}
	return inOneLine(list)
}

func countable(p pair) bool {
	return p.inA.Shape == p.inB.Shape && p.inA.API == p.inB.API && p.inA.Mode == p.inB.Mode && p.inA.Tier == p.inB.Tier &&
		p.a.run.Header.Machine.Arch == p.b.run.Header.Machine.Arch
}

// countersOf gives the counters in the order of comparedCounters.
func countersOf(family record.FamilyRun, members []int) []counted {
	var whole Cell
	fillMetrics(&whole, family, members)
	list := make([]counted, len(comparedCounters))
	for i, counter := range comparedCounters {
		list[i] = counted{value: counter.of(whole), low: math.Inf(1), high: math.Inf(-1), blocks: len(family.BlockRuns)}
	}
	for _, block := range family.BlockRuns {
		var one Cell
		fillMetrics(&one, record.FamilyRun{Family: family.Family, BlockRuns: []record.BlockRun{block}}, members)
		for i, counter := range comparedCounters {
			list[i].low, list[i].high = min(list[i].low, counter.of(one)), max(list[i].high, counter.of(one))
		}
	}
	return list
}

// changedCounters has the counters whose blocks in the two runs lie further apart than those of either run among themselves.
func changedCounters(version int, a, b []counted) []ComparedCounter {
	var list []ComparedCounter
	for i, counter := range comparedCounters {
		from, to := a[i], b[i]
		least := leastCounterChange
		if min(from.blocks, to.blocks) < 2 {
			least = leastCounterChangeSingle
		}
		apart := max(to.low-from.high, from.low-to.high)
		widest := max(from.high-from.low, to.high-to.low, least*max(from.value, to.value))
		if from.value >= 0 && to.value >= 0 && apart > widest {
			list = append(list, ComparedCounter{Counter: counter.name, Versions: []int{version}, From: from.value, To: to.value})
		}
	}
	return list
}

// inOneLine joins versions that changed alike, counter by counter. Alike is what a reader would call so: to half a per cent.
func inOneLine(list []ComparedCounter) []ComparedCounter {
	joined := []ComparedCounter{}
	for _, counter := range comparedCounters {
		for _, c := range list {
			if c.Counter != counter.name {
				continue
			}
			if i := slices.IndexFunc(joined, func(j ComparedCounter) bool {
				return j.Counter == c.Counter && alike(j.From, c.From) && alike(j.To, c.To)
			}); i >= 0 {
				joined[i].Versions = append(joined[i].Versions, c.Versions...)
				continue
			}
			joined = append(joined, c)
		}
	}
	return joined
}

func alike(x, y float64) bool { return math.Abs(x-y) <= 0.005*max(x, y) }

// compareSanity lays tier 2 side by side: what was negotiated, and counts. Its times are of a type that is compared with nothing.
func compareSanity(a, b compared, inA, inB record.FamilyRun) ComparedSanity {
	s := ComparedSanity{Name: inA.Name, API: inA.API, VersionA: negotiatedBy(a.run, inA), VersionB: negotiatedBy(b.run, inB), Counters: []ComparedCounter{}}
	if countable(pair{a, b, inA, inB}) {
		s.Counters = inOneLine(append(s.Counters, changedCounters(s.VersionB, countersOf(inA, aloneIn(inA)), countersOf(inB, aloneIn(inB)))...))
	}
	return s
}

func aloneIn(f record.FamilyRun) []int {
	var cells []int
	for _, c := range f.Cells {
		if c.Role == record.RoleAlone {
			cells = append(cells, c.Cell)
		}
	}
	return cells
}
