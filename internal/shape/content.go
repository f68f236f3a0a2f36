package shape

import (
	"encoding/binary"
	"strconv"
	"sync"

	"protocolbench/seed"
)

// indexFactor is odd, so that indexes keep distinct states; the package comment says where it goes in.
const indexFactor = 0xd1342543de82ef95

// headerValueBytes is the length of every header's value: one output of the generator.
const headerValueBytes = 8

// Content makes the records of one shape and content seed, in any order. It may be used by several goroutines.
type Content struct {
	shape       Shape
	contentSeed uint64
	headerKeys  []string

	mu       sync.Mutex
	expected map[int]Expectation
}

// NewContent does no work yet; the shape should have passed Validate.
func NewContent(s Shape, contentSeed uint64) *Content {
	keys := make([]string, max(s.Headers, 0))
	for i := range keys {
		keys[i] = "h" + strconv.Itoa(i)
	}
	return &Content{shape: s, contentSeed: contentSeed, headerKeys: keys, expected: map[int]Expectation{}}
}

// Record writes record i into into, reusing its slices: pass a fresh Record to keep the bytes.
func (c *Content) Record(i int, into *Record) {
	first := seed.SplitMix64(c.contentSeed ^ uint64(i)*indexFactor)
	stream := seed.SplitMix64(first.Next())
	into.Key = appendHex(into.Key[:0], &stream, c.shape.KeyBytes)
	if c.shape.Compression != "" {
		into.Value = appendWords(into.Value[:0], &stream, c.shape.ValueBytes)
	} else {
		into.Value = appendRaw(into.Value[:0], &stream, c.shape.ValueBytes)
	}
	if cap(into.Headers) < len(c.headerKeys) {
		into.Headers = make([]Header, len(c.headerKeys))
	}
	into.Headers = into.Headers[:len(c.headerKeys)]
	for j := range into.Headers {
		h := &into.Headers[j]
		h.Key = c.headerKeys[j]
		h.Value = appendRaw(h.Value[:0], &stream, headerValueBytes)
	}
	into.TimestampDelta = int64(i % timestamps)
}

func appendHex(to []byte, stream *seed.SplitMix64, n int) []byte {
	const digits = "0123456789abcdef"
	for n > 0 {
		word := stream.Next()
		for nibble := 0; nibble < 16 && n > 0; nibble++ {
			to = append(to, digits[word>>60])
			word <<= 4
			n--
		}
	}
	return to
}

func appendRaw(to []byte, stream *seed.SplitMix64, n int) []byte {
	for ; n >= 8; n -= 8 {
		to = binary.LittleEndian.AppendUint64(to, stream.Next())
	}
	if n > 0 {
		var last [8]byte
		binary.LittleEndian.PutUint64(last[:], stream.Next())
		to = append(to, last[:n]...)
	}
	return to
}

// vocabulary is how many words there are in values that can be compressed: with 8 bytes each, what a codec with a window makes of them is
// a third to a ninth, as of JSON. Values of a shape without a compression stay random.
const vocabulary = 64

func appendWords(to []byte, stream *seed.SplitMix64, n int) []byte {
	for n > 0 {
		word := seed.SplitMix64(stream.Next() % vocabulary)
		var bytes [8]byte
		binary.LittleEndian.PutUint64(bytes[:], word.Next())
		to = append(to, bytes[:min(n, 8)]...)
		n -= 8
	}
	return to
}

// Expectation is what records 0 to Records-1 add up to.
type Expectation struct {
	Records  int
	Bytes    int64  // sum of value lengths
	ByteSum  uint64 // sum of the first byte of each value
	FirstKey string
	LastKey  string
	Hash     uint64 // Hasher over all of them, indexes from 0
}

// Expect adds up the first records records. The parent asks once per batch and nearly always for the same number, so
// answers are kept.
func (c *Content) Expect(records int) Expectation {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.expected[records]; ok {
		return e
	}
	e := Expectation{Records: records}
	hasher := NewHasher()
	var r Record
	for i := range records {
		c.Record(i, &r)
		hasher.Add(i, &r)
		e.Bytes += int64(len(r.Value))
		if len(r.Value) > 0 {
			e.ByteSum += uint64(r.Value[0])
		}
		if i == 0 {
			e.FirstKey = string(r.Key)
		}
		if i == records-1 {
			e.LastKey = string(r.Key)
		}
	}
	e.Hash = hasher.Sum64()
	c.expected[records] = e
	return e
}
