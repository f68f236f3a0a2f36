// Package codec writes and reads Kafka's record batches (format v2) and writes Fetch responses, from the message schemas and
// without any client library's help: what a client is measured with must not come from that client. The tests hold it
// against franz-go's own codec, and the seeded topics are read by real brokers.
package codec

import (
	"encoding/binary"
	"fmt"
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

// AppendBatch appends one uncompressed record batch with records first to first+count-1 of the content. The first
// timestamp is that of its first record, as producers have it: then equal records make batches of equal length wherever
// they lie in the content. Without a leader (epoch -1) and a producer id (-1), as a plain producer sends it.
func AppendBatch(dst []byte, content *shape.Content, first, count int, baseOffset, baseTimestampMs int64) []byte {
	start := len(dst)
	var r shape.Record
	content.Record(first, &r)
	firstDelta, maxDelta := r.TimestampDelta, r.TimestampDelta

	dst = binary.BigEndian.AppendUint64(dst, uint64(baseOffset))
	dst = append(dst, 0, 0, 0, 0)             // length: known at the end
	dst = append(dst, 0xff, 0xff, 0xff, 0xff) // partition leader epoch
	dst = append(dst, 2)                      // magic
	dst = append(dst, 0, 0, 0, 0)             // checksum: known at the end
	dst = append(dst, 0, 0)                   // attributes: not compressed, create time
	dst = binary.BigEndian.AppendUint32(dst, uint32(count-1))
	dst = binary.BigEndian.AppendUint64(dst, uint64(baseTimestampMs+firstDelta))
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0)                                                             // max timestamp: known at the end
	dst = append(dst, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff) // producer id, epoch, sequence
	dst = binary.BigEndian.AppendUint32(dst, uint32(count))

	var body []byte
	for i := range count {
		content.Record(first+i, &r)
		maxDelta = max(maxDelta, r.TimestampDelta)
		body = appendRecord(body[:0], &r, r.TimestampDelta-firstDelta, i)
		dst = binary.AppendVarint(dst, int64(len(body)))
		dst = append(dst, body...)
	}
	batch := dst[start:]
	binary.BigEndian.PutUint64(batch[maxTimeAt:], uint64(baseTimestampMs+maxDelta))
	binary.BigEndian.PutUint32(batch[lengthAt:], uint32(len(batch)-lengthCounted))
	binary.BigEndian.PutUint32(batch[crcAt:], crc32.Checksum(batch[checkedAt:], castagnoli))
	return dst
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

// Read is one record as ReadBatches found it. Key, Value and Headers alias the bytes that were read.
type Read struct {
	shape.Record // TimestampDelta is counted from the base timestamp that ReadBatches was given
	Offset       int64
}

// ReadBatches reads uncompressed record batches to the end of src and hands every record to visit, in order. It checks
// lengths, checksum, magic, counts and offset deltas; a truncated last batch is an error, since nothing of ours truncates.
func ReadBatches(src []byte, baseTimestampMs int64, visit func(*Read)) error {
	for at := 0; at < len(src); {
		rest := src[at:]
		if len(rest) < recordsAt {
			return fmt.Errorf("record batch at byte %d: %d bytes left, a batch has at least %d", at, len(rest), recordsAt)
		}
		length := int64(binary.BigEndian.Uint32(rest[lengthAt:])) + lengthCounted
		if length < recordsAt || length > int64(len(rest)) {
			return fmt.Errorf("record batch at byte %d: its length is %d, %d bytes are left", at, length, len(rest))
		}
		if err := readBatch(rest[:length], baseTimestampMs, visit); err != nil {
			return fmt.Errorf("record batch at byte %d: %w", at, err)
		}
		at += int(length)
	}
	return nil
}

func readBatch(batch []byte, baseTimestampMs int64, visit func(*Read)) error {
	if magic := batch[magicAt]; magic != 2 {
		return fmt.Errorf("format v%d, want v2", magic)
	}
	if said, is := binary.BigEndian.Uint32(batch[crcAt:]), crc32.Checksum(batch[checkedAt:], castagnoli); said != is {
		return fmt.Errorf("checksum %08x, computed %08x", said, is)
	}
	if attributes := binary.BigEndian.Uint16(batch[attributesAt:]); attributes != 0 {
		return fmt.Errorf("attributes %#x: compressed, transactional or control batches are not ours", attributes)
	}
	count := int(binary.BigEndian.Uint32(batch[countAt:]))
	if last := int(binary.BigEndian.Uint32(batch[lastDeltaAt:])); last != count-1 {
		return fmt.Errorf("%d records with a last offset delta of %d", count, last)
	}
	firstDelta := int64(binary.BigEndian.Uint64(batch[firstTimeAt:])) - baseTimestampMs
	in := cursor{src: batch[recordsAt:]}
	var r Read
	for i := range count {
		delta := in.record(&r)
		if in.bad || delta != int64(i) {
			return fmt.Errorf("record %d of %d is malformed", i, count)
		}
		r.TimestampDelta += firstDelta
		r.Offset = int64(binary.BigEndian.Uint64(batch)) + delta
		visit(&r)
	}
	if len(in.src) > 0 {
		return fmt.Errorf("%d bytes after the last of %d records", len(in.src), count)
	}
	return nil
}

// cursor reads forwards; after the first fault it stays bad and gives zeros.
type cursor struct {
	src []byte
	bad bool
}

func (c *cursor) record(into *Read) (offsetDelta int64) {
	length := c.varint()
	if length < 0 || length > int64(len(c.src)) {
		c.bad = true
	}
	if c.bad {
		return 0
	}
	in := cursor{src: c.src[:length]}
	c.src = c.src[length:]
	in.take(1) // attributes
	into.TimestampDelta = in.varint()
	offsetDelta = in.varint()
	into.Key = in.take(in.varint())
	into.Value = in.take(in.varint())
	headers := in.varint()
	into.Headers = into.Headers[:0]
	for ; headers > 0 && !in.bad; headers-- {
		key := in.take(in.varint())
		into.Headers = append(into.Headers, shape.Header{Key: string(key), Value: in.take(in.varint())})
	}
	c.bad = in.bad || headers != 0 || len(in.src) > 0
	return offsetDelta
}

func (c *cursor) varint() int64 {
	v, n := binary.Varint(c.src)
	if n <= 0 || c.bad {
		c.bad = true
		return 0
	}
	c.src = c.src[n:]
	return v
}

// take gives the next n bytes; a negative length is Kafka's null.
func (c *cursor) take(n int64) []byte {
	if c.bad || n < 0 {
		return nil
	}
	if n > int64(len(c.src)) {
		c.bad = true
		return nil
	}
	taken := c.src[:n:n]
	c.src = c.src[n:]
	return taken
}
