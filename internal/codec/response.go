package codec

import (
	"encoding/binary"
	"fmt"

	"protocolbench/internal/shape"
)

// MinFetch and MaxFetch are the versions that Response can write: those that carry record batches of format v2.
const (
	MinFetch = 4
	MaxFetch = 18
)

// traits are what tells one version of a Fetch response from the next (FetchResponse.json of Apache Kafka). Versions 8-10 and
// 14-18 changed the request, or the meaning of a field, or a tagged field that a healthy response leaves out.
type traits struct {
	logStartOffset   bool // v5
	sessionHeader    bool // v7: error code and session id
	preferredReplica bool // v11
	flexible         bool // v12: compact lengths, tagged fields
	topicIDs         bool // v13: in place of names
}

func traitsOf(version int) traits {
	return traits{
		logStartOffset:   version >= 5,
		sessionHeader:    version >= 7,
		preferredReplica: version >= 11,
		flexible:         version >= 12,
		topicIDs:         version >= 13,
	}
}

// TopicName is the name of the t-th topic of a tier 0 shape; all have the same length.
func TopicName(t int) string { return fmt.Sprintf("protocolbench-%06d", t) }

// TopicID is the id of the t-th topic of a tier 0 shape: a well-formed random UUID (version 4), so that no client takes it for
// the reserved ones.
func TopicID(t int) [16]byte {
	id := [16]byte{0: 'p', 1: 'r', 2: 'o', 3: 't', 4: 'o', 6: 0x40, 8: 0x80}
	binary.BigEndian.PutUint32(id[12:], uint32(t))
	return id
}

// Response writes the body of a Fetch response (what follows the response header): the shape's records, distributed topic by
// topic, partition by partition, batch by batch, every partition from offset 0 on.
func Response(version int, s shape.Shape, content *shape.Content, baseTimestampMs int64) ([]byte, error) {
	if version < MinFetch || version > MaxFetch {
		return nil, fmt.Errorf("a Fetch v%d response can't be written: only v%d to v%d carry record batches of format v2", version, MinFetch, MaxFetch)
	}
	w := &writer{traits: traitsOf(version)}
	w.int32(0) // throttle time
	if w.sessionHeader {
		w.int16(0) // error code
		w.int32(0) // session id: none
	}
	w.length(s.Topics)
	next := 0
	var records []byte
	for t := range s.Topics {
		if w.topicIDs {
			id := TopicID(t)
			w.dst = append(w.dst, id[:]...)
		} else {
			w.string(TopicName(t))
		}
		w.length(s.Partitions)
		for p := range s.Partitions {
			records = records[:0]
			for b := range s.BatchesPerPartition {
				at := len(records)
				records = AppendBatch(records, content, next, s.RecordsPerBatch, int64(b*s.RecordsPerBatch), baseTimestampMs)
				binary.BigEndian.PutUint32(records[at+epochAt:], 0) // a stored batch has its leader's epoch
				next += s.RecordsPerBatch
			}
			w.partition(p, int64(s.BatchesPerPartition*s.RecordsPerBatch), records)
		}
		w.tags()
	}
	w.tags()
	return w.dst, nil
}

// writer appends fields in the encoding of its version.
type writer struct {
	traits
	dst []byte
}

func (w *writer) partition(index int, end int64, records []byte) {
	w.int32(int32(index))
	w.int16(0)   // error code
	w.int64(end) // high watermark
	w.int64(end) // last stable offset
	if w.logStartOffset {
		w.int64(0)
	}
	w.length(-1) // aborted transactions: null for a reader of uncommitted records
	if w.preferredReplica {
		w.int32(-1)
	}
	w.length(len(records))
	w.dst = append(w.dst, records...)
	w.tags()
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
