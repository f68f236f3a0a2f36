// Package planted shows what tier 0 finds in a client: it plants one fault after the other in a copy of the client's own sources, measures the copy as its maintainer would
// (protocolbench run --client franz-go=DIR), and compares what is called with what has to be. The slowdowns of run --plant are sizes without a cause; these have one each.
package planted

import (
	"slices"

	"protocolbench/guards"
)

// Kinds of calls that are no guard's.
const (
	Slower = "slower" // than the newest version
	Dearer = "dearer" // than the versions before
	Grows  = "grows"
)

// Fault is one change of the client's sources, and what has to be said of it.
type Fault struct {
	Name    string
	Planted string // in words
	// Only are the families that are measured: those in which it shows, and some in which it must not.
	Only  []string
	Finds []Expect
	// May be called, too: the same fault from another side, Why says which.
	May []Expect
	Why string
	// Tier is 0 where nothing else is said. Ends is how the run has to end where that is what counts, in place of Finds.
	Tier int
	Ends *End
	// Hidden says why nothing finds it, of a fault that nothing finds yet.
	Hidden string

	edits        []edit
	declarations string
}

// Expect is one kind of call in the families that a glob names (its * crosses slashes), at exactly these versions of those measured. No versions: all.
type Expect struct {
	Kind     string
	Family   string
	Versions []int
}

const (
	generated    = "pkg/kmsg/generated.go"
	readResponse = "func (v *FetchResponse) readFrom("
	recordBytes  = "readNullableBytes(&b, &s.RecordBatches, isFlexible)"
	oneBatch     = `func plantedFirst(in []byte) []byte {
	if len(in) < 12 {
		return in
	}
	length := int(in[8])<<24 | int(in[9])<<16 | int(in[10])<<8 | int(in[11])
	return in[:min(len(in), 12+length)]
}`
)

// others are families of requests and responses that no fault touches but for those that say so.
var others = []string{"tier0/fetch/records=1000/bare", "tier0/produce/topics=100/bare"}

func with(families ...string) []string { return slices.Concat(families, others) }

// old are the versions before flexible ones.
var old = []int{4, 5, 6, 7, 8, 9, 10, 11}

// Faults are the table, each the public class of a bug (METHODOLOGY.md, "What tier 0 measures").
func Faults() []Fault {
	return []Fault{
		{Name: "copies-the-rest", Planted: "from v12 on each partition of a response copies what is left of the buffer", Only: with("tier0/fetch/partitions=*/bare"),
			Finds: []Expect{{Grows, "tier0/fetch/partitions=512/bare", []int{12, 13, 18}}, {Dearer, "tier0/fetch/partitions=*/bare", []int{12}}},
			edits: []edit{{generated, readResponse, recordBytes, "{}\nif version >= 12 {\nplantedCopy = append(plantedCopy[:0], b.Src...)\n}"}}, declarations: "var plantedCopy []byte"},
		{Name: "slow-topic-ids", Planted: "from v13 on topic ids go through their text and back", Only: with("tier0/fetch/topics=*/bare"),
			Finds: []Expect{{Dearer, "tier0/fetch/topics=*/bare", []int{13}}},
			edits: []edit{{generated, readResponse, "s.TopicID = readUuid(&b)", "{}\nplantedText(&s.TopicID)"}},
			declarations: `// plantedText writes an id in hexadecimal and reads it, four times; nothing is allocated.
func plantedText(id *[16]byte) {
	const digits = "0123456789abcdef"
	for range 4 {
		for i, b := range id {
			text := [2]byte{digits[b>>4], digits[b&15]}
			id[i] = 0
			for _, digit := range text {
				for value := range digits {
					if digits[value] == digit {
						id[i] = id[i]<<4 | byte(value)
					}
				}
			}
		}
	}
}`},
		{Name: "one-batch-up-to-v11", Planted: "up to v11 one record batch of each partition is decoded", Only: with("tier0/fetch/batches=*/bare"),
			Finds: []Expect{{guards.KnownTruth, "tier0/fetch/batches=*/bare", old}},
			May: []Expect{{guards.Data, "tier0/fetch/batches=*/bare", old}, {guards.Counters, "tier0/fetch/batches=*/bare", append([]int{12}, old...)},
				{Slower, "tier0/fetch/batches=*/bare", old}, {Grows, "tier0/fetch/batches=1000x10/bare", old}},
			Why:   "records are missing, and what a request costs by itself is shared by fewer of them",
			edits: []edit{{generated, readResponse, recordBytes, "{}\nif version <= 11 {\ns.RecordBatches = plantedFirst(s.RecordBatches)\n}"}}, declarations: oneBatch},
		{Name: "one-batch", Planted: "one record batch of each partition is decoded, at every version", Only: with("tier0/fetch/batches=*/bare"),
			Finds: []Expect{{guards.KnownTruth, "tier0/fetch/batches=*/bare", nil}},
			May:   []Expect{{guards.Data, "tier0/fetch/batches=*/bare", nil}}, Why: "records are missing",
			edits: []edit{{generated, readResponse, recordBytes, "{}\ns.RecordBatches = plantedFirst(s.RecordBatches)"}}, declarations: oneBatch},
		{Name: "allocates-per-partition", Planted: "from v9 on each partition of a response takes one more allocation", Only: []string{"tier0/fetch/topics=100/bare", "tier0/fetch/partitions=64/bare", "tier0/produce/topics=100/bare"},
			Finds: []Expect{{guards.Counters, "tier0/fetch/topics=100/bare", []int{9}}, {guards.Counters, "tier0/fetch/partitions=64/bare", []int{11}}},
			Why:   "outside the core v9 isn't measured, and v11 is the first version that has it",
			edits: []edit{{generated, readResponse, "s.Partition = readInt32(&b)", "{}\nif version >= 9 {\nplantedKept = new([2]uint64)\n}"}}, declarations: "var plantedKept *[2]uint64"},
		{Name: "sums-each-record", Planted: "up to v8 a request's records are summed one by one", Only: []string{"tier0/produce/records=*/bare", "tier0/fetch/records=1000/bare"},
			Finds: []Expect{{Slower, "tier0/produce/records=1000/bare", []int{3, 4, 5, 6, 7, 8}}, {Slower, "tier0/produce/records=10000/bare", []int{3, 8}}, {Slower, "tier0/produce/records=100/bare", []int{3, 8}},
				{Slower, "tier0/produce/records=100000/bare", []int{3, 8}}},
			edits:        []edit{{"pkg/kgo/sink.go", "func (b seqRecBatch) appendTo(", "dst = pr.appendTo(dst, int32(i))", "from := len(dst)\n{}\nif version < 9 {\nplantedSum += crc32.ChecksumIEEE(dst[from:])\n}"}},
			declarations: "var plantedSum uint32"},
		{Name: "keeps-for-the-collector", Planted: "from v13 on the responses read last are kept, and nothing else: it costs when the collector has to walk them", Only: []string{"tier0/fetch/topics=100", "tier0/produce/topics=100"},
			Finds: []Expect{{Dearer, "tier0/fetch/topics=100/gc", []int{13}}},
			edits: []edit{{generated, readResponse, "b := kbin.Reader{Src: src}", "{}\nplantedKeep(v)"}},
			declarations: `var (
	plantedRing [1 << 16]*FetchResponse
	plantedNext int
)

// plantedKeep lets go of everything where an older version is read, so that those don't pay for it.
func plantedKeep(v *FetchResponse) {
	if v.Version < 13 {
		if plantedNext > 0 {
			clear(plantedRing[:])
			plantedNext = 0
		}
		return
	}
	plantedRing[plantedNext%len(plantedRing)] = v
	plantedNext++
}`},
		{Name: "moves-what-it-has", Planted: "from v12 on every sixteenth read of a response copies what has come of it", Only: with("tier0/fetch/delivery"),
			Finds: []Expect{{Grows, "tier0/fetch/delivery=4KiB/bare", []int{12, 13, 18}}, {Dearer, "tier0/fetch/delivery=4KiB/bare", []int{12}}, {Dearer, "tier0/fetch/delivery=16KiB/bare", []int{12}}},
			May:   []Expect{{Dearer, "tier0/fetch/delivery=64KiB/bare", []int{12}}}, Why: "there it is one copy",
			edits: []edit{
				{"pkg/kgo/broker.go", "func (cxn *brokerCxn) readSizeAndBody(", "nread2, err := io.ReadFull(cxn.br, buf)", "nread2, err := plantedRead(cxn.br, buf)"},
				{"pkg/kgo/broker.go", "func (cxn *brokerCxn) readResponse(", "bytesRead, buf, readWait", "plantedOn = flexibleHeader\n{}"},
			},
			declarations: `import "io"

var (
	plantedOn   bool
	plantedCopy []byte
)

func plantedRead(r io.Reader, buf []byte) (n int, err error) {
	for reads := 1; n < len(buf) && err == nil; reads++ {
		var more int
		more, err = r.Read(buf[n:])
		n += more
		if reads%16 == 0 && plantedOn {
			plantedCopy = append(plantedCopy[:0], buf[:n]...)
		}
	}
	if n == len(buf) {
		err = nil
	}
	return n, err
}`},
	}
}

// Nothing is the client as it is, in all families that faults are looked for in: nothing may be called.
func Nothing() Fault {
	f := Fault{Name: "nothing", Planted: "nothing"}
	for _, fault := range Faults() {
		for _, only := range fault.Only {
			if !slices.Contains(f.Only, only) {
				f.Only = append(f.Only, only)
			}
		}
	}
	return f
}
