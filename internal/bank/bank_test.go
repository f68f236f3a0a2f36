package bank

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"protocolbench/internal/codec"
	"protocolbench/internal/shape"
	"protocolbench/seed"
)

const (
	baseMs   = 1_790_000_000_123
	testSeed = 77
)

func plain(name string, records, batches, partitions, topics int) shape.Shape {
	return shape.Shape{Name: name, RecordsPerBatch: records, BatchesPerPartition: batches, Partitions: partitions, Topics: topics, KeyBytes: 16, ValueBytes: 80, RequiredAcks: -1}
}

func with(s shape.Shape, change func(*shape.Shape)) shape.Shape {
	change(&s)
	return s
}

// table has every dimension at its ends, and some together.
func table() []shape.Shape {
	one := plain("records=1", 1, 1, 1, 1)
	list := []shape.Shape{
		one, plain("records=10000", 10_000, 1, 1, 1), plain("batches=1000x10", 10, 1000, 1, 1), plain("partitions=512", 2, 1, 512, 1), plain("topics=1000", 1, 1, 1, 1000),
		with(one, func(s *shape.Shape) { s.Name, s.TopicNameBytes = "name=1", 1 }),
		with(plain("name=249", 1, 1, 3, 150), func(s *shape.Shape) { s.TopicNameBytes = 249 }),
		with(plain("name=127", 1, 1, 1, 2), func(s *shape.Shape) { s.TopicNameBytes = 127 }), // compact lengths get longer here
		with(one, func(s *shape.Shape) { s.Name, s.Headers, s.KeyBytes, s.ValueBytes = "headers=16", 16, 300, 1 }),
		with(one, func(s *shape.Shape) { s.Name, s.ValueBytes = "value=1MiB", 1<<20 }),
		with(plain("mixed", 3, 2, 5, 7), func(s *shape.Shape) { s.KeyBytes, s.ValueBytes, s.Headers = 9, 1, 3 }),
		with(plain("aborted=1", 3, 1, 1, 1), func(s *shape.Shape) { s.Aborted = 1 }),
		with(plain("aborted=7", 4, 3, 2, 2), func(s *shape.Shape) { s.Aborted = 7 }),
		with(plain("aborted=200", 1, 200, 1, 1), func(s *shape.Shape) { s.Aborted = 200 }),
		with(plain("empty", 0, 0, 12, 11), func(s *shape.Shape) { s.Answer = shape.AnswerEmpty }),
		with(plain("error", 0, 0, 12, 11), func(s *shape.Shape) { s.Answer = shape.AnswerError }),
	}
	for _, c := range compressions {
		list = append(list, with(plain("compression="+c, 1000, 1, 1, 1), func(s *shape.Shape) { s.Compression = c }))
	}
	aborted := with(plain("aborted-lz4", 50, 1, 1, 1), func(s *shape.Shape) { s.Compression, s.Aborted = shape.CompressionLZ4, 2 })
	return append(list, aborted)
}

var divisors = []int{1, 2, 4, 5, 8, 10, 20, 25, 40} // of a thousand: batches of one length

// drawn makes shapes that nobody thought of.
func drawn(n int) []shape.Shape {
	r := seed.Stream(20261201, "bank/shapes")
	list := make([]shape.Shape, n)
	for i := range list {
		s := plain(fmt.Sprintf("drawn-%d", i), divisors[r.IntN(len(divisors))], 1+r.IntN(5), 1+r.IntN(5), 1+r.IntN(5))
		s.KeyBytes, s.ValueBytes, s.Headers, s.TopicNameBytes = 8+r.IntN(200), 1+r.IntN(400), r.IntN(17), 1+r.IntN(249)
		switch r.IntN(4) {
		case 0:
			s.Aborted = r.IntN(12)
		case 1:
			s.Topics, s.Partitions, s.BatchesPerPartition, s.Compression = 1, 1, 1, compressions[r.IntN(len(compressions))]
		case 2:
			s.Answer = []string{shape.AnswerEmpty, shape.AnswerError}[r.IntN(2)]
		}
		list[i] = s
	}
	return list
}

// What the bank writes is what kmsg reads, at every version and shape: the same records, errors and aborted transactions for kgo, and the same bytes
// when kmsg writes it again. The bank's own reader has judged it before it came out.
func TestEveryVersionByKmsgAndKgo(t *testing.T) {
	for _, s := range slices.Concat(table(), drawn(40)) {
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		b := New(s, testSeed, baseMs)
		for version := MinFetch; version <= MaxFetch; version++ {
			body, err := b.Body(version)
			if version < ZstdFetch && s.Compression == shape.CompressionZstd {
				if err == nil || !strings.Contains(err.Error(), "KIP-110") {
					t.Errorf("%s v%d: zstd is not refused: %v", s.Name, version, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			resp := kmsg.NewPtrFetchResponse()
			resp.SetVersion(int16(version))
			if err := resp.ReadFrom(body); err != nil {
				t.Fatalf("%s v%d: %v", s.Name, version, err)
			}
			sameByKgo(t, s, version, resp)
			if again := resp.AppendTo(nil); !bytes.Equal(again, body) {
				t.Errorf("%s v%d: kmsg writes %d other bytes for our %d", s.Name, version, len(again), len(body))
			}
			if n, err := Length(version, s, len(resp.Topics[0].Partitions[0].RecordBatches)); err != nil || n != len(body) && sameLengths(resp) {
				t.Errorf("%s v%d: Length says %d, it has %d (%v)", s.Name, version, n, len(body), err)
			}
		}
	}
}

// sameLengths: offsets are in varints of records, so partitions of some shapes differ by a byte.
func sameLengths(resp *kmsg.FetchResponse) bool {
	lengths := map[int]bool{}
	for _, topic := range resp.Topics {
		for _, p := range topic.Partitions {
			lengths[len(p.RecordBatches)] = true
		}
	}
	return len(lengths) == 1
}

func sameByKgo(t *testing.T, s shape.Shape, version int, resp *kmsg.FetchResponse) {
	t.Helper()
	isolation := kgo.ReadUncommitted()
	if s.Aborted > 0 {
		isolation = kgo.ReadCommitted()
	}
	hasher := shape.NewHasher()
	n, errors := 0, 0
	for i := range resp.Topics {
		topic := &resp.Topics[i]
		if version >= 13 && topic.TopicID != TopicID(i) || version < 13 && topic.Topic != TopicName(s, i) {
			t.Fatalf("%s v%d: topic %d is %q %x", s.Name, version, i, topic.Topic, topic.TopicID)
		}
		for j := range topic.Partitions {
			told := &topic.Partitions[j]
			p, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{Partition: int32(j), IsolationLevel: isolation}, told, kgo.DefaultDecompressor(), nil)
			if p.Err == kerr.NotLeaderForPartition {
				errors++
				if version >= 12 && told.CurrentLeader.LeaderID != newLeader || version >= 16 && (len(resp.Brokers) != 1 || resp.Brokers[0].Host != newLeaderHost) {
					t.Fatalf("%s v%d: the new leader is not told: %+v %+v", s.Name, version, told.CurrentLeader, resp.Brokers)
				}
				continue
			}
			if p.Err != nil || len(told.AbortedTransactions) != s.Aborted || !s.Polls() && (p.HighWatermark != next || p.LastStableOffset != next) {
				t.Fatalf("%s v%d: partition %d: %v, %d aborted, next offset %d, high watermark %d", s.Name, version, j, p.Err, len(told.AbortedTransactions), next, p.HighWatermark)
			}
			for _, r := range p.Records {
				record := shape.Record{Key: r.Key, Value: r.Value, TimestampDelta: r.Timestamp.UnixMilli() - baseMs}
				for _, h := range r.Headers {
					record.Headers = append(record.Headers, shape.Header{Key: h.Key, Value: h.Value})
				}
				hasher.Add(n, &record)
				n++
			}
		}
	}
	want := shape.NewContent(s, testSeed).Expect(s.RecordsPerRequest())
	if len(resp.Topics) != s.Topics || n != want.Records || hasher.Sum64() != want.Hash || errors != s.ErrorsPerRequest() {
		t.Fatalf("%s v%d: %d topics, %d records of %d, hash %x of %x, %d errors of %d", s.Name, version, len(resp.Topics), n, want.Records, hasher.Sum64(), want.Hash, errors, s.ErrorsPerRequest())
	}
}

// The other way round: what kmsg writes, with every field set to something else, is what our reader reads.
func TestReaderByKmsg(t *testing.T) {
	r := seed.Stream(20261201, "bank/reader")
	for version := MinFetch; version <= MaxFetch; version++ {
		for range 50 {
			resp := kmsg.NewPtrFetchResponse()
			resp.SetVersion(int16(version))
			resp.ThrottleMillis, resp.ErrorCode, resp.SessionID = int32(r.Uint32()>>1), int16(r.IntN(90)), int32(r.Uint32()>>1)
			if version >= 16 && r.IntN(2) == 0 {
				rack := "rack"
				resp.Brokers = []kmsg.FetchResponseBroker{{NodeID: 3, Host: "host", Port: 9, Rack: &rack}, {NodeID: 4}}
			}
			for i := range r.IntN(4) {
				topic := kmsg.NewFetchResponseTopic()
				topic.Topic, topic.TopicID = strings.Repeat("x", r.IntN(300)), TopicID(i)
				for j := range r.IntN(4) {
					p := kmsg.NewFetchResponseTopicPartition()
					p.Partition, p.ErrorCode, p.HighWatermark, p.LastStableOffset, p.LogStartOffset = int32(j), int16(r.IntN(90)), int64(r.Uint64()>>1), -1, int64(r.IntN(99))
					p.PreferredReadReplica, p.RecordBatches = int32(r.IntN(4)), make([]byte, r.IntN(400))
					for range r.IntN(4) {
						p.AbortedTransactions = append(p.AbortedTransactions, kmsg.FetchResponseTopicPartitionAbortedTransaction{ProducerID: int64(r.Uint64() >> 1), FirstOffset: 5})
					}
					if r.IntN(3) == 0 {
						p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch = int32(r.IntN(9)), 3
						p.DivergingEpoch.Epoch, p.SnapshotID.EndOffset = 4, 5 // tags that are skipped
					}
					topic.Partitions = append(topic.Partitions, p)
				}
				resp.Topics = append(resp.Topics, topic)
			}
			raw := resp.AppendTo(nil)
			m, err := Read(version, raw)
			if err != nil {
				t.Fatalf("v%d: %v", version, err)
			}
			sameMessage(t, version, &m, resp)
			for cut := range raw {
				if _, err := Read(version, raw[:cut]); err == nil {
					t.Fatalf("v%d: cut after %d of %d bytes, nothing noticed", version, cut, len(raw))
				}
			}
		}
	}
}

func sameMessage(t *testing.T, version int, m *Message, resp *kmsg.FetchResponse) {
	t.Helper()
	if len(m.Topics) != len(resp.Topics) || version >= 7 && (m.Error != int(resp.ErrorCode) || m.Session != resp.SessionID) || version >= 16 && m.Endpoints != len(resp.Brokers) {
		t.Fatalf("v%d: %+v where %+v was written", version, m, resp)
	}
	for i, topic := range m.Topics {
		told := &resp.Topics[i]
		if version < 13 && topic.Name != told.Topic || version >= 13 && topic.ID != told.TopicID || len(topic.Partitions) != len(told.Partitions) {
			t.Fatalf("v%d: topic %+v where %+v was written", version, topic, told)
		}
		for j, p := range topic.Partitions {
			w := &told.Partitions[j]
			if p.Index != int(w.Partition) || p.Error != int(w.ErrorCode) || p.HighWatermark != w.HighWatermark || p.LastStable != w.LastStableOffset || version >= 5 && p.LogStart != w.LogStartOffset ||
				!bytes.Equal(p.Records, w.RecordBatches) || len(p.Aborted) != len(w.AbortedTransactions) || version >= 12 && p.Leader != int(w.CurrentLeader.LeaderID) {
				t.Fatalf("v%d: partition %+v where %+v was written", version, p, w)
			}
			for k, a := range p.Aborted {
				if a.ProducerID != w.AbortedTransactions[k].ProducerID || a.FirstOffset != w.AbortedTransactions[k].FirstOffset {
					t.Fatalf("v%d: aborted %+v", version, a)
				}
			}
		}
	}
}

// A bank that can't fail would prove nothing: whatever bit of a response is damaged, its check says so, but for fields that say nothing about a record.
func TestCheckNoticesDamage(t *testing.T) {
	s := with(plain("small", 2, 1, 2, 2), func(s *shape.Shape) { s.Aborted = 1 })
	b := New(s, testSeed, baseMs)
	for _, version := range []int{4, 11, 12, 18} {
		body, err := b.Body(version)
		if err != nil {
			t.Fatal(err)
		}
		missed := 0
		for at := range body {
			broken := bytes.Clone(body)
			broken[at] ^= 0x40
			if b.check(version, broken) == nil {
				missed++
			}
		}
		// Of a partition: watermark, last stable offset, log start, preferred replica, the first offset of its aborted transaction, and of each of its two batches and two markers leader
		// epoch, base offset and, of markers, nothing else; of the whole: throttle time and session.
		if most := 4*(8+8+8+4+8+4*(4+8)) + 8; missed > most {
			t.Errorf("v%d: %d of %d damaged bytes are not noticed, at most %d say nothing", version, missed, len(body), most)
		}
	}
}

func TestAbortedRecordsAreThere(t *testing.T) {
	s := with(plain("aborted", 5, 4, 1, 1), func(s *shape.Shape) { s.Aborted = 2 })
	body, err := New(s, testSeed, baseMs).Body(18)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Read(18, body)
	if err != nil {
		t.Fatal(err)
	}
	p := m.Topics[0].Partitions[0]
	if p.Aborted = nil; p.Committed(baseMs, func(*codec.Read) {}) != nil {
		t.Fatal("can't be read")
	}
	n := 0
	if err := p.Committed(baseMs, func(*codec.Read) { n++ }); err != nil || n != 5*4+5*2 {
		t.Errorf("a reader that heeds no list of aborted transactions sees %d records (%v): with nothing to leave out, leaving out proves nothing", n, err)
	}
	resp := kmsg.NewPtrFetchResponse()
	resp.SetVersion(18)
	if err := resp.ReadFrom(body); err != nil {
		t.Fatal(err)
	}
	all, _ := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{KeepControlRecords: true}, &resp.Topics[0].Partitions[0], kgo.DefaultDecompressor(), nil)
	controls, aborts := 0, 0
	for _, r := range all.Records {
		if r.Attrs.IsControl() {
			var key kmsg.ControlRecordKey
			if err := key.ReadFrom(r.Key); err != nil || key.Type != kmsg.ControlRecordKeyTypeAbort && key.Type != kmsg.ControlRecordKeyTypeCommit {
				t.Errorf("a marker that ends nothing: %+v, %v", key, err)
			}
			if key.Type == kmsg.ControlRecordKeyTypeAbort {
				aborts++
			}
			controls++
		}
	}
	if aborts != 2 || controls != 6 || len(all.Records) != 36 {
		t.Errorf("%d control records of 6, %d aborts of 2, among %d records of 36", controls, aborts, len(all.Records))
	}
}

func TestCompressionsCompressAndComeBack(t *testing.T) {
	none, err := New(with(plain("c", 1000, 1, 1, 1), func(s *shape.Shape) { s.Compression = shape.CompressionNone }), testSeed, baseMs).Body(18)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range compressions[1:] {
		body, err := New(with(plain("c", 1000, 1, 1, 1), func(s *shape.Shape) { s.Compression = c }), testSeed, baseMs).Body(18)
		if err != nil {
			t.Fatal(err)
		}
		if share := float64(len(body)) / float64(len(none)); share < 0.1 || share > 0.7 {
			t.Errorf("%s makes %.2f of it: values that can't be compressed, or nothing else, measure no codec", c, share)
		}
		for _, src := range [][]byte{{}, []byte("x"), bytes.Repeat([]byte("abcdefgh"), 20_000)} {
			back, err := Decompress(i+1, Compressor(c)(src))
			if err != nil || !bytes.Equal(back, src) {
				t.Errorf("%s: %d bytes come back as %d: %v", c, len(src), len(back), err)
			}
		}
	}
}

// The frame is what a client reads from a socket: length, correlation id, tagged fields of flexible versions, body.
func TestFrame(t *testing.T) {
	b := New(plain("records=1", 1, 1, 1, 1), testSeed, baseMs)
	for version, head := range map[int]int{11: 8, 12: 9} {
		body, _ := b.Body(version)
		frame, err := b.Frame(version, 0x01020304)
		if err != nil || len(frame) != head+len(body) || int(frame[2])<<8|int(frame[3]) != len(frame)-4 || !bytes.Equal(frame[4:8], []byte{1, 2, 3, 4}) || !bytes.Equal(frame[head:], body) {
			t.Errorf("v%d: %x (%v)", version, frame[:12], err)
		}
	}
	for _, version := range []int{-1, 3, 19} {
		if _, err := b.Body(version); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("v%d", version)) {
			t.Errorf("v%d: %v", version, err)
		}
	}
}

func TestTopicNamesDiffer(t *testing.T) {
	if got := TopicName(shape.Shape{}, 12); got != "protocolbench-000012" {
		t.Errorf("%q", got)
	}
	for length := 1; length <= 249; length++ {
		s := shape.Shape{TopicNameBytes: length}
		seen := map[string]bool{}
		for topic := range 10 {
			name := TopicName(s, topic)
			if len(name) != length || seen[name] {
				t.Fatalf("topic %d with a name of %d bytes: %q", topic, length, name)
			}
			seen[name] = true
		}
	}
}

// FuzzRead: outside input never makes the reader panic, or take more than there is.
func FuzzRead(f *testing.F) {
	for _, version := range []int{4, 12, 18} {
		body, err := New(with(plain("a", 1, 1, 1, 1), func(s *shape.Shape) { s.Aborted = 1 }), testSeed, baseMs).Body(version)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(version, body)
	}
	f.Fuzz(func(t *testing.T, version int, body []byte) {
		m, err := Read(version, body)
		if err != nil {
			return
		}
		for _, topic := range m.Topics {
			for i := range topic.Partitions {
				topic.Partitions[i].Committed(baseMs, func(*codec.Read) {})
			}
		}
	})
}
