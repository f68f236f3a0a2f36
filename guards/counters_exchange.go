package guards

import (
	"encoding/binary"

	"protocolbench/internal/codec"
	"protocolbench/internal/record"
	"protocolbench/internal/shape"
)

// exchange is what the lengths of one request and of its response depend on beside their version.
type exchange struct {
	topics       int
	partitions   int  // of each topic
	nameBytes    int  // of a topic's name
	recordsBytes int  // of a partition, in the request (Produce) or in the response (Fetch)
	aborted      int  // transactions of a partition; -1: their list is null
	moved        bool // partitions answer that their leader has moved, and say to where
	wire         bool // there are headers and buffers; decoding in memory has bodies only
	answered     bool // acks 0 has no response
}

// exchangeOf says what one request of a family and its response carry, by the shape.
func exchangeOf(run *record.Run, f record.FamilyRun) exchange {
	s := f.Shape
	e := exchange{topics: s.Topics, partitions: s.Partitions, nameBytes: s.NameBytes(), wire: hasWire(f.Family),
		answered: f.API == fetchAPI || s.RequiredAcks != 0, recordsBytes: partitionBytes(run, f), aborted: s.Aborted, moved: s.Answer == shape.AnswerError}
	if e.aborted == 0 {
		e.aborted = -1
	}
	if s.Compressed() {
		e.recordsBytes = nearlyCompressed(f)
	}
	if f.Tier > 0 {
		for _, b := range f.BlockRuns {
			e.nameBytes = len(b.Topic) // names of a run have one length
		}
		if f.API == fetchAPI && !s.Compressed() {
			e.recordsBytes = max(s.FetchBytes, batchBytes(run, f))
		}
	}
	return e
}

// batchBytes is the length of one record batch of a family that isn't compressed, 0 where the shape has none. Neither seed nor place in the content changes it.
func batchBytes(run *record.Run, f record.FamilyRun) int {
	if f.Shape.RecordsPerBatch <= 0 {
		return 0
	}
	return len(codec.AppendBatch(nil, shape.NewContent(f.Shape, 1), 0, f.Shape.RecordsPerBatch, 0, run.Header.BaseTimestampMs))
}

// partitionBytes is the length of all record batches of a partition: those of aborted transactions and their markers among them.
func partitionBytes(run *record.Run, f record.FamilyRun) int {
	s := f.Shape
	if s.Polls() {
		return 0
	}
	bytes := (s.BatchesPerPartition + s.Aborted) * batchBytes(run, f)
	if s.Aborted > 0 { // then all batches are transactions of their own, and each has a marker
		bytes += (s.BatchesPerPartition + s.Aborted) * len(codec.AppendMarker(nil, codec.Batch{}, false))
	}
	return bytes
}

// nearlyCompressed is what a partition's compressed records take, to within the hundred bytes that stand around them: it only has to say how many bytes their
// compact length has, and sizes at which that is in doubt (16 KiB, 2 MiB) are none that a family has.
func nearlyCompressed(f record.FamilyRun) int {
	c := countersOf(f, f.Reference)
	if f.API == produceAPI {
		return int(c.requestBytes.value)
	}
	return int(c.responseBytes.value)
}

// The encodings that version after version is written in (KIP-482). A null has the length -1.

// compactArray is by how much an array's length, or that of bytes, grows where it becomes compact: 4 bytes before, a varint of length + 1 after.
func compactArray(n int) int { return uvarintBytes(n+1) - 4 }

// compactText is the same of a text's length, which has 2 bytes before.
func compactText(n int) int { return uvarintBytes(n+1) - 2 }

// noTags is an empty section of tagged fields.
const noTags = 1

func uvarintBytes(n int) int { return len(binary.AppendUvarint(nil, uint64(n))) }
