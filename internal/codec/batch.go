// Package codec writes and reads Kafka's record batches (format v2), without any client library's help: what a client is measured with must
// not come from that client. The tests hold it against franz-go's own codec, and the seeded topics are read by real brokers. Whole responses
// are package bank's.
package codec

import (
	"encoding/binary"
	"hash/crc32"

	"protocolbench/internal/shape"
)

// Layout of a record batch. Offset, length and leader epoch stand outside the checksum, since the broker rewrites them.
const (
	lengthAt      = 8
	epochAt       = 12
	magicAt       = 16
	crcAt         = 17
	checkedAt     = 21 // from here on the checksum counts
	attributesAt  = 21
	lastDeltaAt   = 23
	firstTimeAt   = 27
	maxTimeAt     = 35
	producerAt    = 43
	countAt       = 57
	recordsAt     = 61
	lengthCounted = epochAt // the length field counts what follows it
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Attributes of a record batch, as far as anything here writes or reads them.
const (
	CompressionMask = 0x07 // 1 gzip, 2 snappy, 3 lz4, 4 zstd
	Transactional   = 0x10
	Control         = 0x20
)

// Batch is what one record batch has beside its records.
type Batch struct {
	First, Count    int // the records, by their place in the content
	BaseOffset      int64
	BaseTimestampMs int64
	LeaderEpoch     int32 // -1: as a producer sends it; a stored batch has its leader's
	ProducerID      int64 // -1: a plain producer's
	Attributes      uint16
	// Compress turns the records into what the compression of Attributes makes of them; nil: they stay as they are.
	Compress func(records []byte) []byte
}

// AppendBatch appends one uncompressed record batch with records first to first+count-1 of the content. The first
// timestamp is that of its first record, as producers have it: then equal records make batches of equal length wherever
// they lie in the content. Without a leader (epoch -1) and a producer id (-1), as a plain producer sends it.
func AppendBatch(dst []byte, content *shape.Content, first, count int, baseOffset, baseTimestampMs int64) []byte {
	return Append(dst, content, Batch{First: first, Count: count, BaseOffset: baseOffset, BaseTimestampMs: baseTimestampMs, LeaderEpoch: -1, ProducerID: -1})
}

// Append is AppendBatch with all that a batch may have.
func Append(dst []byte, content *shape.Content, b Batch) []byte {
	var r shape.Record
	content.Record(b.First, &r)
	firstDelta, maxDelta := r.TimestampDelta, r.TimestampDelta
	start := len(dst)
	dst = appendHead(dst, b, b.BaseTimestampMs+firstDelta)
	var body []byte
	for i := range b.Count {
		content.Record(b.First+i, &r)
		maxDelta = max(maxDelta, r.TimestampDelta)
		body = appendRecord(body[:0], &r, r.TimestampDelta-firstDelta, i)
		dst = binary.AppendVarint(dst, int64(len(body)))
		dst = append(dst, body...)
	}
	if b.Compress != nil {
		at := start + recordsAt
		dst = append(dst[:at], b.Compress(dst[at:])...)
	}
	finish(dst[start:], b.BaseTimestampMs+maxDelta)
	return dst
}

// AppendMarker appends the control batch that ends a transaction of a producer: one record, whose key says what it is (version 0, type 0 for an
// abort, 1 for a commit) and whose value is version 0 and the coordinator's epoch.
func AppendMarker(dst []byte, b Batch, commits bool) []byte {
	b.Count, b.Attributes = 1, Transactional|Control
	start := len(dst)
	dst = appendHead(dst, b, b.BaseTimestampMs)
	marker := shape.Record{Key: []byte{0, 0, 0, 0}, Value: []byte{0, 0, 0, 0, 0, 0}}
	if commits {
		marker.Key[3] = 1
	}
	body := appendRecord(nil, &marker, 0, 0)
	dst = binary.AppendVarint(dst, int64(len(body)))
	dst = append(dst, body...)
	finish(dst[start:], b.BaseTimestampMs)
	return dst
}

// appendHead appends everything before the records. Length, checksum and the latest timestamp are known at the end.
func appendHead(dst []byte, b Batch, firstTimestampMs int64) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(b.BaseOffset))
	dst = append(dst, 0, 0, 0, 0) // length
	dst = binary.BigEndian.AppendUint32(dst, uint32(b.LeaderEpoch))
	dst = append(dst, 2, 0, 0, 0, 0) // magic, checksum
	dst = binary.BigEndian.AppendUint16(dst, b.Attributes)
	dst = binary.BigEndian.AppendUint32(dst, uint32(b.Count-1))
	dst = binary.BigEndian.AppendUint64(dst, uint64(firstTimestampMs))
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0) // latest timestamp
	dst = binary.BigEndian.AppendUint64(dst, uint64(b.ProducerID))
	epoch, sequence := uint16(0), uint32(0)
	if b.ProducerID < 0 {
		epoch, sequence = 0xffff, 0xffffffff
	}
	if b.Attributes&Control != 0 {
		sequence = 0xffffffff // markers come from the coordinator, which counts none
	}
	dst = binary.BigEndian.AppendUint16(dst, epoch)
	dst = binary.BigEndian.AppendUint32(dst, sequence)
	return binary.BigEndian.AppendUint32(dst, uint32(b.Count))
}

func finish(batch []byte, latestMs int64) {
	binary.BigEndian.PutUint64(batch[maxTimeAt:], uint64(latestMs))
	binary.BigEndian.PutUint32(batch[lengthAt:], uint32(len(batch)-lengthCounted))
	binary.BigEndian.PutUint32(batch[crcAt:], crc32.Checksum(batch[checkedAt:], castagnoli))
}

// appendRecord writes a record without its length. Kafka's varints are zigzag, as binary.AppendVarint's are.
func appendRecord(dst []byte, r *shape.Record, timestampDelta int64, offsetDelta int) []byte {
	dst = append(dst, 0) // attributes
	dst = binary.AppendVarint(dst, timestampDelta)
	dst = binary.AppendVarint(dst, int64(offsetDelta))
	dst = binary.AppendVarint(dst, int64(len(r.Key)))
	dst = append(dst, r.Key...)
	dst = binary.AppendVarint(dst, int64(len(r.Value)))
	dst = append(dst, r.Value...)
	dst = binary.AppendVarint(dst, int64(len(r.Headers)))
	for i := range r.Headers {
		h := &r.Headers[i]
		dst = binary.AppendVarint(dst, int64(len(h.Key)))
		dst = append(dst, h.Key...)
		dst = binary.AppendVarint(dst, int64(len(h.Value)))
		dst = append(dst, h.Value...)
	}
	return dst
}
