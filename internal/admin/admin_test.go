package admin

import (
	"bytes"
	"context"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kversion"

	"protocolbench/internal/shape"
)

const baseMs = 1_700_000_000_000

var small = shape.Shape{Name: "small", RecordsPerBatch: 10, BatchesPerPartition: 1, Partitions: 1, Topics: 1, KeyBytes: 16, ValueBytes: 100, Headers: 1}

// start gives an Admin on a fake broker; on a real one the same is done by internal/broker's tests.
func start(t *testing.T, opts ...kfake.Opt) (context.Context, *Admin) {
	t.Helper()
	cluster, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	a, err := New(ctx, cluster.ListenAddrs())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return ctx, a
}

func TestFillAndReadBack(t *testing.T) {
	for name, opts := range map[string][]kfake.Opt{"modern": nil, "as 1.1": {kfake.MaxVersions(kversion.V1_1_0())}} {
		t.Run(name, func(t *testing.T) {
			ctx, a := start(t, opts...)
			if err := a.CreateTopic(ctx, "t", map[string]string{"retention.ms": "-1"}); err != nil {
				t.Fatal(err)
			}
			const batches = 300
			content := shape.NewContent(small, 42)
			if err := a.Fill(ctx, "t", content, 10, batches, baseMs); err != nil {
				t.Fatal(err)
			}
			first, end, err := a.Offsets(ctx, "t")
			if err != nil || first != 0 || end != 10*batches {
				t.Fatalf("offsets %d, %d, %v", first, end, err)
			}
			want := content.Expect(10 * batches)
			got, err := a.ReadBack(ctx, "t", span(0, 10*batches), baseMs)
			if err != nil || got.Records != want.Records || got.Hash != want.Hash || got.Batches != batches || !slices.Equal(got.Codecs, []string{"none"}) {
				t.Errorf("read back %+v, %v; want %d, %x", got, err, want.Records, want.Hash)
			}
			if got, err := a.ReadBack(ctx, "t", span(0, 10*batches), baseMs+1); err != nil || got.Hash == want.Hash {
				t.Errorf("with another base timestamp the hash is the same (%v)", err)
			}
			if got, err := a.ReadBack(ctx, "t", span(10, 10), baseMs); err != nil || got.Hash == content.Expect(10).Hash {
				t.Errorf("other records have the same hash (%v)", err)
			}
		})
	}
}

// Record 3 of a batch is where reading starts and record 7 of another where it ends: offsets count from the first.
func TestReadBackInsideBatches(t *testing.T) {
	ctx, a := start(t)
	if err := a.CreateTopic(ctx, "t", nil); err != nil {
		t.Fatal(err)
	}
	content := shape.NewContent(small, 7)
	if err := a.Fill(ctx, "t", content, 10, 4, baseMs); err != nil {
		t.Fatal(err)
	}
	hasher := shape.NewHasher()
	for i := 3; i < 27; i++ {
		var r shape.Record
		content.Record(i, &r)
		hasher.Add(i-3, &r)
	}
	got, err := a.ReadBack(ctx, "t", span(3, 24), baseMs)
	if err != nil || got.Records != 24 || got.Hash != hasher.Sum64() || got.Batches != 3 {
		t.Errorf("%+v, %v; want 24 of three batches, %x", got, err, hasher.Sum64())
	}
	if got, err := a.ReadBack(ctx, "t", span(30, 11), baseMs); err == nil || got.Records != 10 {
		t.Errorf("11 records where 10 are stored: %+v, %v; want 10 and an error", got, err)
	}
}

// span is of a topic with one partition, in batches of 10.
func span(offset int64, records int) Span {
	return Span{Offset: offset, Records: records, Partitions: 1, PerBatch: 10}
}

func TestFillAppends(t *testing.T) {
	ctx, a := start(t)
	if err := a.CreateTopic(ctx, "t", nil); err != nil {
		t.Fatal(err)
	}
	content := shape.NewContent(small, 7)
	for range 2 {
		if err := a.Fill(ctx, "t", content, 5, 3, baseMs); err != nil {
			t.Fatal(err)
		}
	}
	if _, end, err := a.Offsets(ctx, "t"); err != nil || end != 30 {
		t.Errorf("end offset %d, %v; want 30", end, err)
	}
	if err := a.Fill(ctx, "nobody-made-it", content, 5, 3, baseMs); err == nil {
		t.Error("a topic that does not exist was filled")
	}
}

func TestFillEndsWithItsContext(t *testing.T) {
	ctx, a := start(t)
	if err := a.CreateTopic(ctx, "t", nil); err != nil {
		t.Fatal(err)
	}
	ending, cancel := context.WithCancel(ctx)
	go func() {
		time.Sleep(20 * time.Millisecond)
		cancel()
	}()
	if err := a.Fill(ending, "t", shape.NewContent(small, 7), 10, 10_000_000, baseMs); err == nil || !strings.Contains(err.Error(), "context canceled") {
		t.Errorf("got %v, want context canceled", err)
	}
}

func TestTopicsComeAndGo(t *testing.T) {
	ctx, a := start(t)
	if err := a.CreateTopic(ctx, "t", nil); err != nil {
		t.Fatal(err)
	}
	if err := a.CreateTopic(ctx, "t", nil); err == nil || !strings.Contains(err.Error(), "TOPIC_ALREADY_EXISTS") {
		t.Errorf("made twice: %v", err)
	}
	if err := a.Fill(ctx, "t", shape.NewContent(small, 1), 10, 2, baseMs); err != nil {
		t.Fatal(err)
	}
	if err := a.DeleteRecords(ctx, "t", 15); err != nil {
		t.Fatal(err)
	}
	if first, end, err := a.Offsets(ctx, "t"); err != nil || first != 15 || end != 20 {
		t.Errorf("offsets %d, %d, %v; want 15, 20", first, end, err)
	}
	for range 2 { // the second finds nothing, which is what is wanted
		if err := a.DeleteTopic(ctx, "t"); err != nil {
			t.Errorf("delete: %v", err)
		}
	}
	if _, _, err := a.Offsets(ctx, "t"); err == nil {
		t.Error("a deleted topic has offsets")
	}
}

func TestVersionsAndIdentity(t *testing.T) {
	ctx, a := start(t, kfake.ClusterID("a-cluster"), kfake.MaxVersions(kversion.V1_1_0()))
	if low, high, err := a.Advertised(ctx, 0); err != nil || low != 3 || high != 5 {
		t.Errorf("Produce %d-%d, %v; want 3-5", low, high, err)
	}
	if low, high, err := a.Advertised(ctx, 1); err != nil || low != 4 || high != 7 {
		t.Errorf("Fetch %d-%d, %v; want 4-7", low, high, err)
	}
	if _, _, err := a.Advertised(ctx, 9999); err == nil {
		t.Error("an unknown API is advertised")
	}
	if id, err := a.ClusterID(ctx); err != nil || id != "a-cluster" {
		t.Errorf("cluster id %q, %v", id, err)
	}
}

func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	if _, err := New(context.Background(), []string{address}); err == nil || !strings.Contains(err.Error(), "no broker can be reached") || !strings.Contains(err.Error(), address) {
		t.Errorf("got %v", err)
	}
	if _, err := New(context.Background(), nil); err == nil {
		t.Error("no address is no error")
	}
}

func TestSomethingElseListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.Copy(c, bytes.NewBufferString("HTTP/1.1 400 Bad Request\r\n\r\n"))
			_ = c.Close()
		}
	}()
	if _, err := New(context.Background(), []string{l.Addr().String()}); err == nil || !strings.Contains(err.Error(), "does not answer as a Kafka broker") {
		t.Errorf("got %v", err)
	}
}
