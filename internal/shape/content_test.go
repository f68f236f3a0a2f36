package shape

import (
	"fmt"
	"hash/fnv"
	"strings"
	"testing"

	"protocolbench/seed"
)

func plain() Shape {
	return Shape{Name: "records=100", RecordsPerBatch: 100, BatchesPerPartition: 1, Partitions: 1, Topics: 1,
		KeyBytes: 16, ValueBytes: 84, RequiredAcks: -1}
}

func headed() Shape {
	s := plain()
	s.Name, s.Headers, s.KeyBytes, s.ValueBytes = "headers=3", 3, 21, 13
	return s
}

// The numbers were made by a second implementation, thirty lines of Python written from the package comment.
// A change of any golden number is a change of what past records mean: it needs a new schema number.
func TestGoldenHashes(t *testing.T) {
	for _, g := range []struct {
		seed  uint64
		draw  int
		shape Shape
		first string
		hash  uint64
	}{
		{7, 0, plain(), "8205901d36232800", 0x6cfff186df279163},
		{7, 1, plain(), "dd1d4f96294d9fce", 0xc04360a3ef18e935},
		{8, 0, plain(), "dabf90ed0bd4beaa", 0x5cd0eb51a68c8b33},
		{7, 0, headed(), "d27366a1af05411401bc5", 0x7ab6cfbcf9c4cebe},
	} {
		t.Run(fmt.Sprintf("seed=%d/draw=%d/%s", g.seed, g.draw, g.shape.Name), func(t *testing.T) {
			e := NewContent(g.shape, seed.Derive(g.seed, fmt.Sprintf("content/draw=%d/%s", g.draw, g.shape.Name))).Expect(1000)
			if e.FirstKey != g.first || e.Hash != g.hash {
				t.Errorf("got %q, 0x%016x; golden %q, 0x%016x", e.FirstKey, e.Hash, g.first, g.hash)
			}
		})
	}
}

// Values that can be compressed, by the same second implementation: 1,000 records of content seed 12345678901.
func TestGoldenHashOfCompressibleValues(t *testing.T) {
	s := plain()
	for _, compression := range []string{CompressionNone, CompressionGzip, CompressionSnappy, CompressionLZ4, CompressionZstd} {
		s.Compression = compression
		if e := NewContent(s, 12345678901).Expect(1000); e.FirstKey != "7ed599cc9853d419" || e.Hash != 0x42bc9cda7e57f925 {
			t.Errorf("%s: %q, 0x%016x", compression, e.FirstKey, e.Hash)
		}
	}
}

func TestValidateWhatOnlyCodecsHave(t *testing.T) {
	for name, change := range map[string]func(*Shape){
		"topicNameBytes": func(s *Shape) { s.TopicNameBytes = 250 }, "different names": func(s *Shape) { s.TopicNameBytes, s.Topics = 1, 11 },
		"compression is": func(s *Shape) { s.Compression = "lzma" }, "more than one record batch": func(s *Shape) { s.Compression, s.Partitions = CompressionLZ4, 2 },
		"aborted": func(s *Shape) { s.Aborted = -1 }, "answer is": func(s *Shape) { s.Answer = "silence" }, "readBytes": func(s *Shape) { s.ReadBytes = -1 },
		"without records has no": func(s *Shape) { s.Answer, s.Aborted = AnswerEmpty, 1 },
	} {
		s := plain()
		if change(&s); s.Validate() == nil || !strings.Contains(s.Validate().Error(), name) {
			t.Errorf("%s: %v", name, s.Validate())
		}
	}
	s := plain()
	s.Answer, s.RecordsPerBatch, s.BatchesPerPartition = AnswerError, 0, 0
	if err := s.Validate(); err != nil || s.RecordsPerRequest() != 0 || s.ErrorsPerRequest() != 1 {
		t.Errorf("an answer without records: %v, %d records", err, s.RecordsPerRequest())
	}
}

// The record written out by the four lines of the document, without this package's helpers.
func TestRecordIsAsDocumented(t *testing.T) {
	var contentSeed, i uint64 = 0x1122334455667788, 12345
	var got Record
	NewContent(headed(), contentSeed).Record(int(i), &got)

	start := seed.SplitMix64(contentSeed ^ i*0xd1342543de82ef95)
	s := seed.SplitMix64(start.Next())
	key := fmt.Sprintf("%016x%016x", s.Next(), s.Next())[:21]
	little := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			w := s.Next()
			for k := 0; k < 8 && b.Len() < n; k++ {
				b.WriteByte(byte(w >> (8 * k)))
			}
		}
		return b.String()
	}
	value := little(13)
	if string(got.Key) != key || string(got.Value) != value || got.TimestampDelta != 345 {
		t.Errorf("got key %q value %x delta %d, documented %q %x 345", got.Key, got.Value, got.TimestampDelta, key, value)
	}
	for j, h := range got.Headers {
		if want := little(8); h.Key != fmt.Sprintf("h%d", j) || string(h.Value) != want {
			t.Errorf("header %d: got %q %x, documented h%d %x", j, h.Key, h.Value, j, want)
		}
	}
}

func TestRecordIsRandomAccessAndReusesBuffers(t *testing.T) {
	c := NewContent(headed(), 5)
	var fresh, reused Record
	c.Record(999, &reused)
	for _, i := range []int{3, 0, 1 << 20, 3} {
		fresh = Record{}
		c.Record(i, &fresh)
		c.Record(i, &reused)
		if hashOf(i, &fresh) != hashOf(i, &reused) {
			t.Errorf("record %d depends on what was made before it", i)
		}
	}
	if allocs := testing.AllocsPerRun(100, func() { c.Record(77, &reused) }); allocs != 0 {
		t.Errorf("a reused record allocates %v times", allocs)
	}
}

func TestKeysArePrintableDistinctAndExact(t *testing.T) {
	s := plain()
	s.KeyBytes = 12
	c := NewContent(s, 99)
	seen := map[string]int{}
	var r Record
	for i := range 20000 {
		c.Record(i, &r)
		if len(r.Key) != 12 || strings.Trim(string(r.Key), "0123456789abcdef") != "" {
			t.Fatalf("record %d: key %q is not 12 hex digits", i, r.Key)
		}
		if j, ok := seen[string(r.Key)]; ok {
			t.Fatalf("records %d and %d have the same key %q", i, j, r.Key)
		}
		seen[string(r.Key)] = i
	}
}

func hashOf(i int, r *Record) uint64 {
	h := NewHasher()
	h.Add(i, r)
	return h.Sum64()
}

func TestEveryPartOfARecordChangesTheHash(t *testing.T) {
	c := NewContent(headed(), 1)
	var r Record
	c.Record(4, &r)
	before := hashOf(4, &r)
	if hashOf(5, &r) == before {
		t.Error("the index does not change the hash")
	}
	for name, change := range map[string]func(*Record){
		"key":            func(r *Record) { r.Key[len(r.Key)-1] ^= 1 },
		"value":          func(r *Record) { r.Value[len(r.Value)-1] ^= 1 },
		"delta":          func(r *Record) { r.TimestampDelta++ },
		"header key":     func(r *Record) { r.Headers[1].Key = "hX" },
		"header value":   func(r *Record) { r.Headers[2].Value[7] ^= 1 },
		"lost header":    func(r *Record) { r.Headers = r.Headers[:2] },
		"swapped header": func(r *Record) { r.Headers[0], r.Headers[1] = r.Headers[1], r.Headers[0] },
		"moved byte": func(r *Record) {
			all := append(append([]byte{}, r.Key...), r.Value...)
			r.Key, r.Value = all[:len(r.Key)+1], all[len(r.Key)+1:]
		},
	} {
		var changed Record
		c.Record(4, &changed)
		change(&changed)
		if hashOf(4, &changed) == before {
			t.Errorf("a changed %s gives the same hash", name)
		}
	}
}

// The standard library's FNV-1a over the documented bytes is the second opinion.
func TestHasherIsFNV1a(t *testing.T) {
	r := Record{Key: []byte("k"), Value: []byte("vw"), TimestampDelta: 258, Headers: []Header{{Key: "h0", Value: []byte{9}}}}
	std := fnv.New64a()
	std.Write([]byte("\x07\x00\x00\x00\x00\x00\x00\x00" + "\x02\x01\x00\x00\x00\x00\x00\x00" +
		"\x01\x00\x00\x00\x00\x00\x00\x00k" + "\x02\x00\x00\x00\x00\x00\x00\x00vw" + "\x01\x00\x00\x00\x00\x00\x00\x00" +
		"\x02\x00\x00\x00\x00\x00\x00\x00h0" + "\x01\x00\x00\x00\x00\x00\x00\x00\x09"))
	if got := hashOf(7, &r); got != std.Sum64() {
		t.Errorf("got 0x%x, FNV-1a of the documented bytes is 0x%x", got, std.Sum64())
	}
}

func TestExpectSeesDroppedSwappedAndRepeated(t *testing.T) {
	c := NewContent(plain(), 3)
	whole := c.Expect(100)
	var first, r Record
	c.Record(0, &first)
	var byteSum uint64
	for i := range 100 {
		c.Record(i, &r)
		byteSum += uint64(r.Value[0])
	}
	if whole.Records != 100 || whole.Bytes != 8400 || whole.ByteSum != byteSum ||
		whole.FirstKey != string(first.Key) || whole.LastKey != string(r.Key) {
		t.Errorf("expectation %+v does not add up", whole)
	}
	if less := c.Expect(99); less.Hash == whole.Hash || less.LastKey == whole.LastKey {
		t.Error("a dropped record does not show")
	}
	swapped := NewHasher()
	for i := range 100 {
		c.Record([]int{1, 0}[i%2]+i/2*2, &r)
		swapped.Add(i, &r)
	}
	if swapped.Sum64() == whole.Hash {
		t.Error("swapped records do not show")
	}
	if c.Expect(0) != (Expectation{Hash: NewHasher().Sum64()}) {
		t.Error("no records have to expect nothing")
	}
}

func TestExpectIsCheapTheSecondTime(t *testing.T) {
	c := NewContent(plain(), 3)
	c.Expect(5000)
	if allocs := testing.AllocsPerRun(100, func() { c.Expect(5000) }); allocs != 0 {
		t.Errorf("a repeated Expect allocates %v times: it is not kept", allocs)
	}
}

func TestValidateReportsAllFaultsAtOnce(t *testing.T) {
	if err := plain().Validate(); err != nil {
		t.Errorf("a good shape is refused: %v", err)
	}
	bad := Shape{Name: "a/b", RecordsPerBatch: 0, BatchesPerPartition: -1, Partitions: 1 << 40, Topics: 1, KeyBytes: 3,
		Headers: -1, FetchBytes: -1, RequiredAcks: 1}
	err := bad.Validate()
	if err == nil {
		t.Fatal("a bad shape is accepted")
	}
	for _, word := range []string{"name", "recordsPerBatch", "batchesPerPartition", "partitions", "keyBytes", "valueBytes",
		"headers", "fetchBytes", "requiredAcks"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("fault of %s is not reported in: %v", word, err)
		}
	}
	big := plain()
	big.Topics, big.Partitions = 5000, 5000
	if err := big.Validate(); err == nil || !strings.Contains(err.Error(), "records in one request") {
		t.Errorf("2.5 billion records in a request: %v", err)
	}
}

func BenchmarkRecord(b *testing.B) {
	c := NewContent(plain(), 1)
	var r Record
	for i := range b.N {
		c.Record(i, &r)
	}
}
