package codec

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"protocolbench/internal/shape"
)

// Read is one record as it was found. Key, Value and Headers alias the bytes that were read.
type Read struct {
	shape.Record // TimestampDelta is counted from the base timestamp that the reader was given
	Offset       int64
}

// Stored is one record batch whose head has been read and whose checksum is right.
type Stored struct {
	BaseOffset int64
	Attributes uint16
	ProducerID int64
	Count      int
	Records    []byte // as the batch has them: perhaps compressed
	Bytes      int    // of the whole batch
	firstMs    int64
}

// Compressed is the number of the batch's compression, 0 for none.
func (b *Stored) Compressed() int { return int(b.Attributes & CompressionMask) }

// ReadBatches reads uncompressed record batches to the end of src and hands every record to visit, in order. It checks
// lengths, checksum, magic, counts and offset deltas; a truncated last batch is an error, since nothing of ours truncates.
func ReadBatches(src []byte, baseTimestampMs int64, visit func(*Read)) error {
	return Scan(src, func(b *Stored) error {
		if b.Attributes != 0 {
			return fmt.Errorf("attributes %#x: compressed, transactional or control batches are not ours", b.Attributes)
		}
		return b.Visit(b.Records, baseTimestampMs, visit)
	})
}

// Scan reads record batches of any kind to the end of src and hands each to see.
func Scan(src []byte, see func(*Stored) error) error {
	for at := 0; at < len(src); {
		rest := src[at:]
		if len(rest) < recordsAt {
			return fmt.Errorf("record batch at byte %d: %d bytes left, a batch has at least %d", at, len(rest), recordsAt)
		}
		length := int64(binary.BigEndian.Uint32(rest[lengthAt:])) + lengthCounted
		if length < recordsAt || length > int64(len(rest)) {
			return fmt.Errorf("record batch at byte %d: its length is %d, %d bytes are left", at, length, len(rest))
		}
		if err := scanned(rest[:length], see); err != nil {
			return fmt.Errorf("record batch at byte %d: %w", at, err)
		}
		at += int(length)
	}
	return nil
}

func scanned(batch []byte, see func(*Stored) error) error {
	if magic := batch[magicAt]; magic != 2 {
		return fmt.Errorf("format v%d, want v2", magic)
	}
	if said, is := binary.BigEndian.Uint32(batch[crcAt:]), crc32.Checksum(batch[checkedAt:], castagnoli); said != is {
		return fmt.Errorf("checksum %08x, computed %08x", said, is)
	}
	count := int(binary.BigEndian.Uint32(batch[countAt:]))
	if last := int(binary.BigEndian.Uint32(batch[lastDeltaAt:])); last != count-1 {
		return fmt.Errorf("%d records with a last offset delta of %d", count, last)
	}
	return see(&Stored{
		BaseOffset: int64(binary.BigEndian.Uint64(batch)), Attributes: binary.BigEndian.Uint16(batch[attributesAt:]),
		ProducerID: int64(binary.BigEndian.Uint64(batch[producerAt:])), Count: count, Records: batch[recordsAt:], Bytes: len(batch),
		firstMs: int64(binary.BigEndian.Uint64(batch[firstTimeAt:])),
	})
}

// Visit reads a batch's records, which the caller has decompressed where they were compressed.
func (b *Stored) Visit(records []byte, baseTimestampMs int64, visit func(*Read)) error {
	firstDelta := b.firstMs - baseTimestampMs
	in := cursor{src: records}
	var r Read
	for i := range b.Count {
		delta := in.record(&r)
		if in.bad || delta != int64(i) {
			return fmt.Errorf("record %d of %d is malformed", i, b.Count)
		}
		r.TimestampDelta += firstDelta
		r.Offset = b.BaseOffset + delta
		visit(&r)
	}
	if len(in.src) > 0 {
		return fmt.Errorf("%d bytes after the last of %d records", len(in.src), b.Count)
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
