package guards

import (
	"fmt"
	"strings"

	"protocolbench/internal/codec"
	"protocolbench/internal/record"
	"protocolbench/internal/shape"
)

// responseLengths knows how long a tier 0 response of each version is. A worker's own word can be its order echoed; how many bytes a
// response of a version has is worked out here, without the worker.
type responseLengths struct {
	run         *record.Run
	family      record.Family
	contentSeed uint64 // any of the family's: record sizes are fixed, so lengths don't depend on it
	known       map[int]responseLength
}

type responseLength struct {
	bytes int64
	err   error
}

func (l *responseLengths) of(version int) responseLength {
	length, known := l.known[version]
	if !known {
		body, err := codec.Response(version, l.family.Shape, shape.NewContent(l.family.Shape, l.contentSeed), l.run.Header.BaseTimestampMs)
		length = responseLength{int64(len(body)), err}
		l.known[version] = length
	}
	return length
}

// whose names the versions whose responses are so long, or says nothing.
func (l *responseLengths) whose(perResponse int64) string {
	var versions []string
	for v := codec.MinFetch; v <= codec.MaxFetch; v++ {
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
