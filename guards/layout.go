package guards

import (
	"errors"
	"fmt"
	"strings"

	"protocolbench/internal/bank"
	"protocolbench/internal/record"
)

// responseLengths knows how long a tier 0 response of each version is. A worker's own word can be its order echoed; how many bytes a
// response of a version has is worked out here, without the worker. Neither seed nor place in the content changes it, but for compressed records: how long
// those are only the response itself says. Then they are taken to be as long as the newest version's response has them, and every
// other version has to fit.
type responseLengths struct {
	family  record.Family
	batches int   // bytes of record batches in each partition
	fault   error // why nobody knows them
	known   map[int]responseLength
}

type responseLength struct {
	bytes int64
	err   error
}

func lengthsOf(run *record.Run, f record.FamilyRun) *responseLengths {
	l := &responseLengths{family: f.Family, known: map[int]responseLength{}}
	if f.Shape.Compressed() {
		l.batches, l.fault = compressedBytes(f)
	} else {
		l.batches = partitionBytes(run, f)
	}
	return l
}

func (l *responseLengths) of(version int) responseLength {
	length, known := l.known[version]
	if !known {
		n, err := bank.Length(version, l.family.Shape, l.batches)
		length = responseLength{int64(n), errors.Join(l.fault, err)}
		l.known[version] = length
	}
	return length
}

// compressedBytes is how many bytes of record batches the newest version's responses have.
func compressedBytes(f record.FamilyRun) (int, error) {
	said := countersOf(f, f.Reference).responseBytes
	rest, err := bank.Length(f.Reference, f.Shape, 0)
	if err != nil {
		return 0, err
	}
	for _, varint := range []int{0, 1, 2, 3, 4} { // a compact length of nothing has one byte, one of more up to five
		n := int(said.value) - rest - varint
		if length, err := bank.Length(f.Reference, f.Shape, max(0, n)); err == nil && n > 0 && length == int(said.value) {
			return n, nil
		}
	}
	return 0, fmt.Errorf("a response of v%d, the newest, has %.0f bytes, and with no record batch it would have as many", f.Reference, said.value)
}

// whose names the versions whose responses are so long, or says nothing.
func (l *responseLengths) whose(perResponse int64) string {
	var versions []string
	for v := bank.MinFetch; v <= bank.MaxFetch; v++ {
		if n := l.of(v); n.err == nil && n.bytes == perResponse {
			versions = append(versions, fmt.Sprintf("v%d", v))
		}
	}
	if versions == nil {
		return ""
	}
	return " as those of " + strings.Join(versions, ", ") + " do"
}

// layoutWitness compares the bytes that were decoded with the length that this version's responses have.
func layoutWitness(t *tally, lengths *responseLengths, b record.BlockRun) {
	for _, c := range lengths.family.Cells {
		length := lengths.of(c.Version)
		batches := batchesOf(b, c.Cell)
		switch {
		case length.err != nil:
			t.see(c.Version, b.Where, Blind, "nobody can say how long a response of this version is: "+length.err.Error(), nil)
			continue
		case len(batches) == 0:
			t.see(c.Version, b.Where, Blind, "no batch was taken, so there was nothing that could have had another version", map[string]any{"cell": c.Cell})
		}
		for _, batch := range batches {
			decodedLength(t, lengths, length.bytes, c, batch)
		}
	}
}

func decodedLength(t *tally, lengths *responseLengths, want int64, c record.FamilyCell, batch record.Batch) {
	responses, bytes := int64(batch.Requests), batch.WireBytesIn
	numbers := map[string]any{"cell": c.Cell, "round": batch.Round, "responses": responses, "bytes": bytes, "bytesPerResponse": want}
	switch {
	case bytes <= 0 || responses <= 0:
		t.see(c.Version, batch.Where, Blind, "this worker doesn't say how many bytes it decoded, so nothing but its own word shows the version; report them as wireBytesIn (DRIVER.md)", numbers)
	case bytes%responses != 0:
		t.see(c.Version, batch.Where, Fail, fmt.Sprintf("%d responses decoded have %d bytes together, and a response of this version has %d: other responses are among them; "+
			"correct which bytes the worker decodes", responses, bytes, want), numbers)
	case bytes/responses != want:
		t.see(c.Version, batch.Where, Fail, fmt.Sprintf("a decoded response has %d bytes%s, and one of this version has %d, so the numbers are of another layout; correct how the worker pins",
			bytes/responses, lengths.whose(bytes/responses), want), numbers)
	default:
		t.pass(c.Version, batch.Where, map[string]any{"responsesDecoded": responses, "bytesDecoded": bytes})
	}
}
