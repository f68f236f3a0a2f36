package franz

import (
	"context"
	"slices"
	"strings"
	"testing"

	"protocolbench/internal/driver"
	"protocolbench/internal/messages"
	"protocolbench/internal/shape"
)

func openOf(m messages.Message, version int, s shape.Shape, body []byte) driver.Open {
	return driver.Open{API: m.Name(), Version: version, Shape: s, Mode: driver.ModeBare, MaxRequests: 10,
		Message: &driver.Message{Key: m.Key, Direction: m.Direction, Bytes: body}}
}

// The client reads and writes every message of every version as this program made it, in batches at any place.
func TestMessagesAsTheyWereGiven(t *testing.T) {
	e := New()
	for _, m := range messages.All() {
		shapes := m.Shapes()
		s := shapes[min(1, len(shapes)-1)]
		for version := range m.Newest + 1 {
			body, err := m.Bytes(version, s, 7)
			if err != nil {
				t.Fatal(err)
			}
			want := m.Expect(body, version, s)
			cell, opened, err := e.Open(context.Background(), openOf(m, version, s, body))
			if err != nil {
				t.Errorf("%s v%d: %v", m.Name(), version, err)
				continue
			}
			if opened.AnswerVersion != version || opened.RecordsPerRequest != want.Records {
				t.Errorf("%s v%d: opened %+v", m.Name(), version, opened)
			}
			const n = 3
			got := codedBatch(t, cell, driver.Batch{Requests: n, Placement: uint64(version) * 1001}, n)
			if got.Requests != n || got.Records != n*want.Records || got.Bytes != n*want.Bytes || got.WireBytesIn != n*want.Bytes || got.ByteSum != n*want.ByteSum ||
				got.FirstKey != want.FirstKey || got.LastKey != want.LastKey {
				t.Errorf("%s v%d: %+v, want %d times %+v", m.Name(), version, got, n, want)
			}
			hashed, err := cell.Hash(context.Background(), driver.Batch{Requests: 5})
			if err != nil || hashed.Hash != want.Hash || hashed.Requests != 1 {
				t.Errorf("%s v%d: hash %+v, %v", m.Name(), version, hashed, err)
			}
			if moved := cell.Snapshot().BytesIn; moved != (n+1)*want.Bytes {
				t.Errorf("%s v%d: %d bytes moved", m.Name(), version, moved)
			}
		}
	}
}

func codedBatch(t *testing.T, cell interface {
	Prepare(context.Context, driver.Batch) error
	Run(context.Context, driver.Batch, func()) error
	Finish(context.Context) (driver.Batched, error)
}, batch driver.Batch, want int) driver.Batched {
	t.Helper()
	done := 0
	if err := cell.Prepare(context.Background(), batch); err != nil {
		t.Fatal(err)
	}
	if err := cell.Run(context.Background(), batch, func() { done++ }); err != nil {
		t.Fatal(err)
	}
	got, err := cell.Finish(context.Background())
	if err != nil || done != want {
		t.Fatalf("%d requests done, %v", done, err)
	}
	return got
}

// Bytes that the client doesn't write as they were are a finding by their hash; bytes that it can't read are a refusal.
func TestMessagesThatAreNotAsTheyWereGiven(t *testing.T) {
	m := messages.All()[slices.IndexFunc(messages.All(), func(m messages.Message) bool { return m.Name() == "MetadataResponse" })]
	s := m.Shapes()[0]
	body, err := m.Bytes(7, s, 7)
	if err != nil {
		t.Fatal(err)
	}
	want := m.Expect(body, 7, s)
	cell, _, err := New().Open(context.Background(), openOf(m, 7, s, append(slices.Clone(body), 0)))
	if err != nil {
		t.Fatal(err)
	}
	if got := codedBatch(t, cell, driver.Batch{Requests: 1}, 1); got.Bytes != want.Bytes || got.LastKey != want.LastKey {
		t.Errorf("what the client doesn't read is not written either: %+v, want %+v", got, want)
	}
	other := openOf(m, 7, s, body)
	other.Version = 8 // other fields
	if cell, _, err := New().Open(context.Background(), other); err == nil {
		if got := codedBatch(t, cell, driver.Batch{Requests: 1}, 1); got.FirstKey == want.FirstKey || got.LastKey == want.LastKey {
			t.Errorf("v8 reads a message of v7: %+v", got)
		}
	}
	if _, _, err := New().Open(context.Background(), openOf(m, 7, s, body[:len(body)/2])); err == nil || !strings.Contains(err.Error(), "MetadataResponse v7") {
		t.Errorf("half a message: %v", err)
	}
	framing := openOf(m, 7, s, body)
	framing.Mode = driver.ModeFraming
	if _, _, err := New().Open(context.Background(), framing); err == nil {
		t.Error("a message alone has no mode framing")
	}
}

func TestHelloNamesItsMessages(t *testing.T) {
	hello := New().Hello()
	if !slices.Contains(hello.Abilities, driver.AbilityMessages) {
		t.Error("the ability is missing")
	}
	for _, m := range messages.All() {
		if !slices.ContainsFunc(hello.Messages, func(r driver.Range) bool { return r.Key == m.Key && r.API == m.API && int(r.Max) >= m.Newest }) {
			t.Errorf("%s is missing", m.Name())
		}
	}
}
