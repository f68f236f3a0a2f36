package tiers

import (
	"fmt"

	"protocolbench/internal/bank"
	"protocolbench/internal/driver"
	"protocolbench/internal/schedule"
	"protocolbench/internal/shape"
	"protocolbench/pin"
)

// codecs is tier 0: its core, then one axis after the other. The core is measured at all versions, as often as the profile says; the axes at the versions that
// changed the schema. Names are those of the axis, so that --only takes one.
func codecs() []family {
	families := append(core(), records()...)
	for _, s := range bothWays() {
		families = append(families, inMemory(schedule.Release, pin.Fetch, s), inMemory(schedule.Release, pin.Produce, s))
	}
	for _, list := range [][]family{batches(), compressions(), aborted(), deliveries(), answers(), framed(), transactions()} {
		families = append(families, list...)
	}
	return families
}

// inMemory is a family of tier 0.
func inMemory(profile string, api pin.API, s shape.Shape) family {
	return family{tier: 0, api: api, shape: s, mode: driver.ModeBare, margin: 0.05, deciding: true, profile: profile, batchTarget: schedule.BatchTarget, maxRequests: enough(s)}
}

// enough is how many requests of a shape take four times as long as a batch, by what a fast client needs for them.
func enough(s shape.Shape) int {
	const requestNs, partitionNs, recordNs, byteNs = 500, 100, 100, 0.02
	partitions := float64(s.Topics * s.Partitions)
	records := partitions * float64(s.BatchesPerPartition*s.RecordsPerBatch)
	cost := requestNs + partitions*partitionNs + records*(recordNs+byteNs*float64(s.KeyBytes+s.ValueBytes))
	return max(4, min(20_000, int(4*float64(schedule.BatchTarget.Nanoseconds())/cost)))
}

// core is what every other family can be read against, with the collector off and on. The 1,000 batches of 10 are on one partition for Fetch, where clients once collapsed on them;
// a Produce request carries one batch per partition, so there they are on 1,000 partitions.
func core() []family {
	families := []family{
		inMemory(schedule.Standard, pin.Fetch, flat("records=1000", 1000, 1, 1, 1)),
		inMemory(schedule.Quick, pin.Fetch, flat("batches=1000x10", 10, 1000, 1, 1)),
		inMemory(schedule.Standard, pin.Fetch, flat("topics=100", 10, 1, 1, 100)),
		inMemory(schedule.Standard, pin.Produce, flat("records=1000", 1000, 1, 1, 1)),
		brief(inMemory(schedule.Standard, pin.Produce, flat("batches=1000x10", 10, 1, 1000, 1))), // of a request of 3 ms four make a batch, at least
		inMemory(schedule.Quick, pin.Produce, flat("topics=100", 10, 1, 1, 100)),
	}
	for i := range families {
		families[i].core = true
	}
	return append(families, collected(families)...)
}

// brief families take half a square: whole ones of this took an eighth of the eight minutes.
func brief(f family) family {
	f.brief = true
	return f
}

// collected are the collector-on variants of the core families: the collector costs as much again as the codec, so a client that only
// allocates more shows there. They explain and decide nothing.
func collected(families []family) []family {
	var more []family
	for _, f := range families {
		f.mode, f.profile, f.deciding, f.core = driver.ModeGC, schedule.Standard, false, false
		more = append(more, f)
	}
	return more
}

// records is the axis of records per batch. One record is the fixed cost of a request.
func records() []family {
	var families []family
	for _, api := range []pin.API{pin.Fetch, pin.Produce} {
		for _, n := range []int{1, 100, 10_000, 100_000} {
			f := inMemory(schedule.Standard, api, flat(fmt.Sprintf("records=%d", n), n, 1, 1, 1))
			switch {
			case n == 1 && api == pin.Produce:
				f.profile = schedule.Release // what it costs is the client's, which tier 1 has too
			case n == 100:
				f.profile = schedule.Quick
			case n == 100_000:
				f.profile, f.long, f.batchTarget = schedule.Release, true, schedule.LongBatchTarget
			}
			families = append(families, f)
		}
	}
	return families
}

// bothWays are the axes that a request and a response have alike: partitions, topics and their names, headers, values, keys.
func bothWays() []shape.Shape {
	var list []shape.Shape
	add := func(s shape.Shape, change func(*shape.Shape)) {
		change(&s)
		list = append(list, s)
	}
	for _, n := range []int{8, 64, 512} { // 512 partitions of 20 records are 1.1 MB
		list = append(list, flat(fmt.Sprintf("partitions=%d", n), 20, 1, n, 1))
	}
	for _, n := range []int{10, 1000} { // and 100, in the core
		list = append(list, flat(fmt.Sprintf("topics=%d", n), 10, 1, 1, n))
	}
	for _, n := range []int{1, 32, 249} {
		add(flat(fmt.Sprintf("topicname=%d", n), 1, 1, 1, 10), func(s *shape.Shape) { s.TopicNameBytes = n })
	}
	for _, n := range []int{1, 4, 16} { // none: records=100
		add(flat(fmt.Sprintf("headers=%d", n), 100, 1, 1, 1), func(s *shape.Shape) { s.Headers = n })
	}
	for _, n := range []int{8, 1 << 10, 64 << 10, 1 << 20} {
		add(flat("value="+size(n), 10, 1, 1, 1), func(s *shape.Shape) { s.ValueBytes = n })
	}
	for _, n := range []int{8, 256, 4 << 10} {
		add(flat("key="+size(n), 100, 1, 1, 1), func(s *shape.Shape) { s.KeyBytes = n })
	}
	return list
}

func size(bytes int) string {
	switch {
	case bytes >= 1<<20:
		return fmt.Sprintf("%dMiB", bytes>>20)
	case bytes >= 1<<10:
		return fmt.Sprintf("%dKiB", bytes>>10)
	}
	return fmt.Sprintf("%dB", bytes)
}

// batches is the axis of record batches of a partition in one response; 1,000 of them are in the core.
func batches() []family {
	var families []family
	for _, n := range []int{10, 100} {
		families = append(families, inMemory(schedule.Release, pin.Fetch, flat(fmt.Sprintf("batches=%dx10", n), 10, n, 1, 1)))
	}
	return families
}

// compressions have values that can be compressed, the uncompressed ones too. What may not carry zstd is left out, and why is said.
func compressions() []family {
	var families []family
	for _, api := range []pin.API{pin.Fetch, pin.Produce} {
		for _, name := range []string{shape.CompressionNone, shape.CompressionGzip, shape.CompressionSnappy, shape.CompressionLZ4, shape.CompressionZstd} {
			s := flat("compression="+name, 1000, 1, 1, 1)
			s.Compression = name
			f := inMemory(schedule.Release, api, s)
			if name == shape.CompressionZstd {
				f.least, f.whyLeast = bank.ZstdFetch, "below v10 no response may carry zstd (KIP-110): a broker answers that the compression is unsupported"
				if api == pin.Produce {
					f.least, f.whyLeast = bank.ZstdProduce, "below v7 no request may carry zstd (KIP-110): franz-go sends such records uncompressed then, without a word"
				}
			}
			families = append(families, f)
		}
	}
	return families
}

// aborted is the axis of aborted transactions beside 100 batches of 10 committed records, for a reader of committed ones.
func aborted() []family {
	var families []family
	for _, n := range []int{1, 10, 100} {
		s := flat(fmt.Sprintf("aborted=%d", n), 10, 100, 1, 1)
		s.Aborted = n
		families = append(families, inMemory(schedule.Release, pin.Fetch, s))
	}
	return families
}

// transactions are Produce requests of one transaction: with its id, and batches that say so.
func transactions() []family {
	s := flat("transactional", 1000, 1, 1, 1)
	s.Transactional = true
	return []family{inMemory(schedule.Release, pin.Produce, s)}
}

// wholeBytes is more than any response has.
const wholeBytes = 1 << 30

// deliveries is the axis of how a response of 1.1 MB comes: at once, or in reads of a given length through the client's own connection. Its records are few and
// long, so that going over what is there already would be most of the cost.
func deliveries() []family {
	var families []family
	for _, n := range []int{wholeBytes, 64 << 10, 16 << 10, 4 << 10} {
		s := flat("delivery="+size(n), 1000, 1, 1, 1)
		if n == wholeBytes {
			s.Name = "delivery=whole"
		}
		s.ValueBytes, s.ReadBytes = 1<<10, n
		f := inMemory(schedule.Release, pin.Fetch, s)
		if n == 4<<10 {
			f.profile = schedule.Standard
		}
		families = append(families, f)
	}
	return families
}

// answers bring no records: what a poll costs where there is nothing new, or where the leaders have moved. They explain and decide nothing: what
// is measured is a hundredth of what the client does for a poll.
func answers() []family {
	var families []family
	for _, answer := range []string{shape.AnswerEmpty, shape.AnswerError} {
		for _, n := range []int{1, 100} {
			s := flat(fmt.Sprintf("%s=%d", answer, n), 0, 0, n, 1)
			s.Answer = answer
			f := inMemory(schedule.Release, pin.Fetch, s)
			f.deciding = false
			families = append(families, f)
		}
	}
	return families
}

// framed is what reading the frame of a response costs by itself, beside the whole decode of the same: what the versions' schemas differ in is a
// hundredth of a decode, and can only be seen alone. It explains and decides nothing.
func framed() []family {
	var families []family
	for _, s := range []shape.Shape{flat("batches=1000x10", 10, 1000, 1, 1), flat("topics=100", 10, 1, 1, 100), flat("partitions=512", 20, 1, 512, 1)} {
		f := inMemory(schedule.Release, pin.Fetch, s)
		f.mode, f.deciding, f.maxRequests = driver.ModeFraming, false, 2000
		families = append(families, f)
	}
	return families
}

// changed are the versions at which the layout of a message changed: where a codec's cost can have a step.
var changed = map[string][]int{pin.Fetch.Name: {4, 5, 7, 11, 12, 13, 18}, pin.Produce.Name: {3, 8, 9, 13}}

// some are the versions of a family, of those that can be pinned: always the newest, which the others are measured against.
func (f family) some(pinned []int) []int {
	var versions []int
	for i, v := range pinned {
		if i == len(pinned)-1 || f.takes(v) {
			versions = append(versions, v)
		}
	}
	return versions
}

// takes tells whether a version that isn't the newest is one of the family's.
func (f family) takes(version int) bool {
	if version < f.least {
		return false
	}
	if !f.changesOnly {
		return true
	}
	for _, v := range changed[f.api.Name] {
		if v == version || f.least == version {
			return true
		}
	}
	return false
}

// whyUnchanged is why a family leaves versions out that are compared elsewhere.
const whyUnchanged = "outside the core tier 0 is measured where the schema changed; --versions asks for others"

// whySome says why a family doesn't have all versions.
func (f family) whySome() string {
	why := ""
	if f.changesOnly {
		why = whyUnchanged
	}
	if f.whyLeast != "" && why != "" {
		why += "; "
	}
	return why + f.whyLeast
}

// half tells whether a family takes half a square a block in the profiles that take whole ones: an axis has its say over its sizes together. Of an
// odd number of cells half a square isn't balanced.
func (f family) half(cells int) bool {
	return f.long || f.brief && cells%2 == 0 || f.changesOnly && !f.wholeSquares && cells%2 == 0
}
