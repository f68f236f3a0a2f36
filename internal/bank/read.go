package bank

import (
	"encoding/binary"
	"errors"
	"fmt"

	"protocolbench/internal/codec"
)

// Topic is one topic of a Fetch response as Read found it: by name up to v12, by id from v13 on.
type Topic struct {
	Name       string
	ID         [16]byte
	Partitions []Partition
}

// Partition is one partition of a Fetch response. Records alias the bytes that were read.
type Partition struct {
	Index, Error  int
	HighWatermark int64
	LastStable    int64
	LogStart      int64 // -1 before v5
	Aborted       []Aborted
	Leader        int // told in a tagged field; -1: not told
	Records       []byte
}

// Aborted is a transaction that a reader of committed records has to leave out.
type Aborted struct{ ProducerID, FirstOffset int64 }

// Message is a Fetch response.
type Message struct {
	Error     int // of the whole, from v7 on
	Session   int32
	Topics    []Topic
	Endpoints int // nodes that a tagged field tells of
}

// Read reads the body of a Fetch response, with none of the code that writes one: by the message's schema, field by field, to the last byte.
func Read(version int, body []byte) (Message, error) {
	r := &reader{src: body, compact: version >= 12}
	var m Message
	if version < MinFetch || version > MaxFetch {
		return m, fmt.Errorf("no Fetch v%d response can be read here, only v%d to v%d", version, MinFetch, MaxFetch)
	}
	r.number(4) // throttle time
	if version > 6 {
		m.Error = int(int16(r.number(2)))
		m.Session = int32(r.number(4))
	}
	for range r.count() {
		if r.fault != nil {
			break
		}
		m.Topics = append(m.Topics, r.topic(version))
	}
	r.tags(func(tag int, field *reader) {
		if tag == 0 && version > 15 {
			m.Endpoints = field.endpoints()
		}
	})
	if r.fault == nil && len(r.src) > 0 {
		r.fault = fmt.Errorf("%d bytes are left after its last field", len(r.src))
	}
	if r.fault != nil {
		return Message{}, fmt.Errorf("a Fetch v%d response of %d bytes, at byte %d: %w", version, len(body), len(body)-len(r.src), r.fault)
	}
	return m, nil
}

// reader reads forwards; after its first fault it gives zeros.
type reader struct {
	src     []byte
	compact bool
	fault   error
}

var errShort = errors.New("it is cut off")

func (r *reader) topic(version int) Topic {
	var t Topic
	if version > 12 {
		copy(t.ID[:], r.take(16))
	} else {
		t.Name = string(r.take(r.textLength()))
	}
	for range r.count() {
		if r.fault != nil {
			break
		}
		t.Partitions = append(t.Partitions, r.partition(version))
	}
	r.tags(nil)
	return t
}

func (r *reader) partition(version int) Partition {
	p := Partition{Index: int(r.number(4)), Error: int(int16(r.number(2))), HighWatermark: r.number(8), LastStable: r.number(8), LogStart: -1, Leader: -1}
	if version > 4 {
		p.LogStart = r.number(8)
	}
	for range r.count() {
		if r.fault != nil {
			break
		}
		p.Aborted = append(p.Aborted, Aborted{ProducerID: r.number(8), FirstOffset: r.number(8)})
		r.tags(nil)
	}
	if version > 10 {
		r.number(4) // preferred read replica
	}
	p.Records = r.take(r.count())
	r.tags(func(tag int, field *reader) {
		if tag == 1 {
			p.Leader = int(field.number(4))
			field.number(4) // its epoch
			field.tags(nil)
		}
	})
	return p
}

func (r *reader) endpoints() int {
	nodes := r.count()
	for range nodes {
		r.number(4) // node
		r.take(r.textLength())
		r.number(4)            // port
		r.take(r.textLength()) // rack
		r.tags(nil)
		if r.fault != nil {
			return 0
		}
	}
	return nodes
}

func (r *reader) take(n int) []byte {
	if r.fault == nil && (n < 0 || n > len(r.src)) {
		r.fault = errShort
	}
	if r.fault != nil {
		return nil
	}
	taken := r.src[:n:n]
	r.src = r.src[n:]
	return taken
}

// number reads a signed big-endian number.
func (r *reader) number(bytes int) int64 {
	var n uint64
	for _, b := range r.take(bytes) {
		n = n<<8 | uint64(b)
	}
	unused := 64 - 8*bytes
	return int64(n<<unused) >> unused
}

func (r *reader) uvarint() uint64 {
	if r.fault != nil {
		return 0
	}
	n, size := binary.Uvarint(r.src)
	if size <= 0 {
		r.fault = errShort
		return 0
	}
	r.src = r.src[size:]
	return n
}

// count is the length of an array or of bytes; null has none.
func (r *reader) count() int {
	var n int64
	if r.compact {
		n = int64(r.uvarint()) - 1
	} else {
		n = r.number(4)
	}
	return r.checked(n)
}

func (r *reader) textLength() int {
	if r.compact {
		return r.count()
	}
	return r.checked(r.number(2))
}

// checked: what is counted has at least a byte each, so more than is left can't be.
func (r *reader) checked(n int64) int {
	if r.fault == nil && n > int64(len(r.src)) || n < -1 {
		r.fault = fmt.Errorf("it says that %d follow, and %d bytes do", n, len(r.src))
	}
	if r.fault != nil || n < 0 {
		return 0
	}
	return int(n)
}

// tags reads a section of tagged fields and hands each to see.
func (r *reader) tags(see func(tag int, field *reader)) {
	if !r.compact || r.fault != nil {
		return
	}
	for n := r.uvarint(); n > 0 && r.fault == nil; n-- {
		tag := int(r.uvarint())
		length := r.uvarint()
		field := &reader{src: r.take(r.checked(int64(length))), compact: true}
		if see != nil && r.fault == nil {
			see(tag, field)
			r.fault = field.fault
		}
	}
}

// Committed hands the records of a partition that a reader of committed ones sees to visit, in order: decompressed, and without those of
// aborted transactions and of control batches. A transaction that was aborted begins at its first offset and ends with its producer's marker.
func (p *Partition) Committed(baseTimestampMs int64, visit func(*codec.Read)) error {
	aborting := map[int64]bool{}
	pending := p.Aborted
	return codec.Scan(p.Records, func(b *codec.Stored) error {
		for len(pending) > 0 && pending[0].FirstOffset <= b.BaseOffset {
			aborting[pending[0].ProducerID] = true
			pending = pending[1:]
		}
		switch {
		case b.Attributes&codec.Control != 0:
			delete(aborting, b.ProducerID)
			return nil
		case b.Attributes&codec.Transactional != 0 && aborting[b.ProducerID]:
			return nil
		}
		records, err := Decompress(b.Compressed(), b.Records)
		if err != nil {
			return err
		}
		return b.Visit(records, baseTimestampMs, visit)
	})
}
