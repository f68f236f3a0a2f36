// Package bank makes the Fetch responses of a shape: one for every version that carries record batches of format v2, from what tells the versions'
// schemas apart and without any client library, each read back by a reader that shares no code with the writer before it is handed out. A worker in
// Go decodes them from memory; a server on a socket can replay the frames to a client in any language.
package bank

import (
	"encoding/binary"
	"fmt"
	"sync"

	"protocolbench/internal/codec"
	"protocolbench/internal/shape"
)

// Bank is the responses of one shape, content seed and base timestamp. It may be used by several goroutines.
type Bank struct {
	shape           shape.Shape
	content         *shape.Content
	baseTimestampMs int64

	mu     sync.Mutex
	logs   []partitionData // by partition, over all topics; the same in every version
	bodies map[int][]byte
}

// New does no work yet.
func New(s shape.Shape, contentSeed uint64, baseTimestampMs int64) *Bank {
	return &Bank{shape: s, content: shape.NewContent(s, contentSeed), baseTimestampMs: baseTimestampMs, bodies: map[int][]byte{}}
}

// Expect is what the records of one response add up to: those that a reader has to see.
func (b *Bank) Expect() shape.Expectation { return b.content.Expect(b.shape.RecordsPerRequest()) }

// Said is what the partitions of a response without records say, as a worker hashes it: of each its topic, its number, its error code and its high
// watermark.
func Said(s shape.Shape) (partitions int, hash uint64) {
	data := partitionWithout(s.Answer)
	hasher := shape.NewHasher()
	for t := range s.Topics {
		for p := range s.Partitions {
			Say(hasher, t, p, int(data.errorCode), data.end)
		}
	}
	return s.Topics * s.Partitions, hasher.Sum64()
}

// Say hashes one partition of a response without records.
func Say(hasher *shape.Hasher, topic, partition, errorCode int, highWatermark int64) {
	for _, n := range []int64{int64(topic), int64(partition), int64(errorCode), highWatermark} {
		hasher.Number(uint64(n))
	}
}

// partitionWithout is a partition of a response without records.
func partitionWithout(answer string) partitionData {
	if answer == shape.AnswerError {
		return partitionData{errorCode: errorNotLeader, end: -1}
	}
	return partitionData{end: emptyAt}
}

// Body is the body of the response of a version: what follows the response's header. It is made and checked once, and must not be changed.
func (b *Bank) Body(version int) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if body, made := b.bodies[version]; made {
		return body, nil
	}
	if s := b.shape; version < ZstdFetch && s.Compression == shape.CompressionZstd {
		return nil, fmt.Errorf("shape %s in Fetch v%d: no response before v%d may carry zstd (KIP-110); a broker answers that its compression is unsupported", s.Name, version, ZstdFetch)
	}
	b.write()
	body, err := response(version, b.shape, func(partition int) partitionData { return b.logs[partition] })
	if err != nil {
		return nil, err
	}
	if err := b.check(version, body); err != nil {
		return nil, fmt.Errorf("the Fetch v%d response that was made of shape %s is wrong, so nothing can be measured with it: %w", version, b.shape.Name, err)
	}
	b.bodies[version] = body
	return body, nil
}

// Frame is a whole response as it goes over a socket, with the correlation id of its request.
func (b *Bank) Frame(version int, correlation int32) ([]byte, error) {
	body, err := b.Body(version)
	if err != nil {
		return nil, err
	}
	return append(AppendHead(make([]byte, 0, len(body)+9), version, correlation, len(body)), body...), nil
}

// AppendHead appends what comes before the body of a Fetch response on a socket: the length, the correlation id, and in flexible versions a section of
// tagged fields.
func AppendHead(dst []byte, version int, correlation int32, bodyBytes int) []byte {
	flexible := traitsOf(version).flexible
	length := 4 + bodyBytes
	if flexible {
		length++
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(length))
	dst = binary.BigEndian.AppendUint32(dst, uint32(correlation))
	if flexible {
		dst = append(dst, 0)
	}
	return dst
}

// write makes the partitions' logs once for all versions.
func (b *Bank) write() {
	if b.logs != nil {
		return
	}
	compress := Compressor(b.shape.Compression)
	b.logs = make([]partitionData, b.shape.Topics*b.shape.Partitions)
	for i := range b.logs {
		if b.shape.Polls() {
			b.logs[i] = partitionWithout(b.shape.Answer)
			continue
		}
		b.logs[i] = log(b.shape, b.content, i, b.baseTimestampMs, compress)
	}
}

// emptyAt is the end of a log from which an idle consumer has read everything.
const emptyAt = 1_000_000

// check reads a response back and compares it with what it was made of.
func (b *Bank) check(version int, body []byte) error {
	m, err := Read(version, body)
	if err != nil {
		return err
	}
	s := b.shape
	if m.Error != 0 || len(m.Topics) != s.Topics {
		return fmt.Errorf("error code %d, %d topics of %d", m.Error, len(m.Topics), s.Topics)
	}
	hasher, said := shape.NewHasher(), shape.NewHasher()
	n, bytes, errors := 0, int64(0), 0
	for t, topic := range m.Topics {
		if named := topic.Name == TopicName(s, t) && version < 13 || topic.ID == TopicID(t) && version >= 13; !named || len(topic.Partitions) != s.Partitions {
			return fmt.Errorf("topic %d is %q %x with %d partitions of %d", t, topic.Name, topic.ID, len(topic.Partitions), s.Partitions)
		}
		for p := range topic.Partitions {
			partition := &topic.Partitions[p]
			if partition.Index != p || len(partition.Aborted) != s.Aborted {
				return fmt.Errorf("topic %d: partition %d is %d, with %d aborted transactions of %d", t, p, partition.Index, len(partition.Aborted), s.Aborted)
			}
			if partition.Error != 0 {
				errors++
			}
			Say(said, t, p, partition.Error, partition.HighWatermark)
			err := partition.Committed(b.baseTimestampMs, func(r *codec.Read) {
				hasher.Add(n, &r.Record)
				n++
				bytes += int64(len(r.Value))
			})
			if err != nil {
				return fmt.Errorf("topic %d, partition %d: %w", t, p, err)
			}
		}
	}
	if _, hash := Said(s); s.Polls() && hash != said.Sum64() {
		return fmt.Errorf("its partitions say something else (hash %x, %x belongs)", said.Sum64(), hash)
	}
	want := b.Expect()
	if n != want.Records || bytes != want.Bytes || hasher.Sum64() != want.Hash || errors != s.ErrorsPerRequest() {
		return fmt.Errorf("%d records of %d, %d value bytes of %d, hash %x where %x belongs, %d error codes of %d",
			n, want.Records, bytes, want.Bytes, hasher.Sum64(), want.Hash, errors, s.ErrorsPerRequest())
	}
	return nil
}

// Length is how many bytes the body of a version's response has whose partitions carry so many bytes of record batches each. Nobody can say how long what was compressed
// is but who compressed it; the rest is fixed.
func Length(version int, s shape.Shape, recordsBytes int) (int, error) {
	records := make([]byte, recordsBytes)
	aborted := make([]abortedTransaction, s.Aborted)
	data := partitionData{aborted: aborted, isolated: s.Aborted > 0, records: records}
	if s.Answer == shape.AnswerError {
		data.errorCode = errorNotLeader
	}
	body, err := response(version, s, func(int) partitionData { return data })
	return len(body), err
}
