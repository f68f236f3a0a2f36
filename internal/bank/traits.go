package bank

import "encoding/binary"

// MinFetch and MaxFetch are the versions that Response can write: those that carry record batches of format v2.
const (
	MinFetch = 4
	MaxFetch = 18
)

// traits are what tells one version of a Fetch response from the next (FetchResponse.json of Apache Kafka). Versions 8-10, 14, 15, 17
// and 18 changed the request, or the meaning of a field.
type traits struct {
	logStartOffset   bool // v5
	sessionHeader    bool // v7: error code and session id
	preferredReplica bool // v11
	flexible         bool // v12: compact lengths, tagged fields; a moved leader is told in one
	topicIDs         bool // v13: in place of names
	nodeEndpoints    bool // v16: tagged, and where the new leader is
}

func traitsOf(version int) traits {
	return traits{
		logStartOffset:   version >= 5,
		sessionHeader:    version >= 7,
		preferredReplica: version >= 11,
		flexible:         version >= 12,
		topicIDs:         version >= 13,
		nodeEndpoints:    version >= 16,
	}
}

// writer appends fields in the encoding of its version.
type writer struct {
	traits
	dst []byte
}

func (w *writer) int16(v int16) { w.dst = binary.BigEndian.AppendUint16(w.dst, uint16(v)) }
func (w *writer) int32(v int32) { w.dst = binary.BigEndian.AppendUint32(w.dst, uint32(v)) }
func (w *writer) int64(v int64) { w.dst = binary.BigEndian.AppendUint64(w.dst, uint64(v)) }

// length writes the length of an array or of bytes; -1 is null.
func (w *writer) length(n int) {
	if w.flexible {
		w.dst = binary.AppendUvarint(w.dst, uint64(n+1))
		return
	}
	w.int32(int32(n))
}

func (w *writer) string(s string) {
	if w.flexible {
		w.dst = binary.AppendUvarint(w.dst, uint64(len(s)+1))
	} else {
		w.int16(int16(len(s)))
	}
	w.dst = append(w.dst, s...)
}

// tags ends a structure: no tagged fields.
func (w *writer) tags() {
	if w.flexible {
		w.dst = append(w.dst, 0)
	}
}

// tagged ends a structure that has one tagged field.
func (w *writer) tagged(tag int, field []byte) {
	w.dst = append(w.dst, 1, byte(tag))
	w.dst = binary.AppendUvarint(w.dst, uint64(len(field)))
	w.dst = append(w.dst, field...)
}
