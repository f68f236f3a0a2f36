package franz

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"protocolbench/internal/admin"
	"protocolbench/internal/bank"
	"protocolbench/internal/broker"
	"protocolbench/internal/driver"
	"protocolbench/internal/shape"
	"protocolbench/internal/worker"
	"protocolbench/pin"
)

// fetchShape is one of tier 1's: 10-record batches, a limit per response.
func fetchShape(name string, limit int) shape.Shape {
	s := fixed(name, 10, 1, 1, 1)
	s.FetchBytes = limit
	return s
}

func produceShape(records, acks int) shape.Shape {
	s := fixed(fmt.Sprintf("records=%d", records), records, 1, 1, 1)
	s.RequiredAcks = acks
	return s
}

// rig is a broker with an admin beside it.
type rig struct {
	addresses []string
	admin     *admin.Admin
	observer  *broker.Observer
}

var topics atomic.Int64

// topic makes one that goes with the test, filled with so many 10-record batches.
func (r rig) topic(t *testing.T, s shape.Shape, batches int) string {
	t.Helper()
	ctx := context.Background()
	name := fmt.Sprintf("franz-test-%d", topics.Add(1))
	if err := r.admin.CreateTopicOf(ctx, name, s.Partitions, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.admin.DeleteTopic(ctx, name); err != nil {
			t.Error(err)
		}
	})
	if batches > 0 {
		if err := r.admin.FillCompressed(ctx, name, shape.NewContent(s, testSeed), s.RecordsPerBatch, batches, liveBaseMs, s.Compression); err != nil {
			t.Fatal(err)
		}
	}
	return name
}

// liveBaseMs is now, so that no retention takes a record away.
var liveBaseMs = time.Now().UnixMilli()

func (r rig) open(t *testing.T, engine worker.Engine, open driver.Open, topic string) (worker.Cell, driver.Opened) {
	t.Helper()
	open.Brokers, open.Topic, open.BaseTimestampMs = r.addresses, topic, liveBaseMs
	cell, opened, err := engine.Open(context.Background(), open)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cell.Close() })
	return cell, opened
}

// counting checks a live batch of k requests of n records each, which go on through the content.
func counting(t *testing.T, got driver.Batched, s shape.Shape, k, n int) {
	t.Helper()
	want := shape.NewContent(s, testSeed).Expect(k * n)
	if got.Records != k*n || got.Bytes != want.Bytes || got.ByteSum != want.ByteSum || got.FirstKey != want.FirstKey || got.LastKey != want.LastKey {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got.WireRequests != k || got.EndOffset-got.StartOffset != int64(k*n) {
		t.Errorf("%d requests: %+v", k, got)
	}
}

// quiet fails if anything moves on the cells' connections while nobody asks for anything.
func quiet(t *testing.T, cells ...worker.Cell) {
	t.Helper()
	var before []driver.CellSnapshot
	for _, c := range cells {
		before = append(before, c.Snapshot())
	}
	time.Sleep(200 * time.Millisecond)
	for i, c := range cells {
		if after := c.Snapshot(); !reflect.DeepEqual(before[i], after) {
			t.Errorf("at rest a cell went from %+v to %+v", before[i], after)
		}
	}
}

func checkFetch(t *testing.T, r rig, low, high int, s shape.Shape, requests int) {
	n := 0
	topic := ""
	engine := New()
	var cells []worker.Cell
	for version := low; version <= high; version++ {
		if topic == "" {
			topic = r.topic(t, s, requests*(s.FetchBytes/1000+2))
		}
		cell, opened := r.open(t, engine, opening(1, apiFetch, version, s, driver.ModeBare), topic)
		if n == 0 {
			n = opened.RecordsPerRequest
		}
		if opened != (driver.Opened{AnswerVersion: version, RecordsPerRequest: n, PreflightRequests: 1}) || n < 2 {
			t.Fatalf("v%d: %+v", version, opened)
		}
		cells = append(cells, cell)
	}
	t.Logf("%s: %d records a response", s.Name, n)
	for round := range 3 {
		for i, cell := range cells {
			k := 1 + (round+i)%requests
			batched := runBatch(t, cell, k, uint64(round))
			counting(t, batched, s, k, n)
		}
	}
	quiet(t, cells...)
	for i, cell := range cells {
		hashed, err := cell.Hash(context.Background(), driver.Batch{Requests: requests})
		if err != nil {
			t.Fatal(err)
		}
		want := shape.NewContent(s, testSeed).Expect(requests * n)
		if hashed != (driver.Hashed{Records: want.Records, Hash: want.Hash, Requests: requests}) {
			t.Errorf("%+v, want %+v", hashed, want)
		}
		sent := 1 + requests
		for round := range 3 {
			sent += 1 + (round+i)%requests
		}
		if got := framesOf(t, cell, keyFetch, low+i); got != int64(sent) {
			t.Errorf("v%d: %d frames, %d requests were made", low+i, got, sent)
		}
	}
}

func TestLiveFetchEveryVersionAndShape(t *testing.T) {
	r := modern(t)
	for _, s := range []shape.Shape{fetchShape("size=4KiB", 4<<10), fetchShape("size=64KiB", 64<<10), fetchShape("size=1MiB", 1<<20)} {
		t.Run(s.Name, func(t *testing.T) { checkFetch(t, r, 4, 18, s, 3) })
	}
}

// One byte gets one whole batch, however long the codec made it.
func TestLiveFetchCodecs(t *testing.T) {
	r := modern(t)
	for _, codec := range []string{shape.CompressionNone, shape.CompressionGzip, shape.CompressionSnappy, shape.CompressionLZ4, shape.CompressionZstd} {
		s := fixed("compression="+codec, 1000, 1, 1, 1)
		s.Compression, s.FetchBytes = codec, 1
		low := 4
		if codec == shape.CompressionZstd {
			low = bank.ZstdFetch
		}
		t.Run(s.Name, func(t *testing.T) { checkFetch(t, r, low, 18, s, 3) })
	}
}

func checkProduce(t *testing.T, r rig, low, high int, s shape.Shape) {
	engine := New()
	topic := r.topic(t, s, 0)
	n := s.RecordsPerRequest()
	var cells []worker.Cell
	for version := low; version <= high; version++ {
		cell, opened := r.open(t, engine, opening(1, apiProduce, version, s, driver.ModeBare), topic)
		if opened != (driver.Opened{AnswerVersion: version, RecordsPerRequest: n, PreflightRequests: 1}) {
			t.Fatalf("v%d: %+v", version, opened)
		}
		cells = append(cells, cell)
	}
	sent, stored := 0, int64(0)
	for round := range 3 {
		for i, cell := range cells {
			k := 1 + (round+i)%3
			batched := runBatch(t, cell, k, uint64(round*100+i))
			counting(t, batched, s, k, n)
			if batched.StartOffset != int64(sent) || batched.MinFrame != batched.MaxFrame && !s.Compressed() || batched.MinFrame == 0 {
				t.Errorf("after %d records: %+v", sent, batched)
			}
			sent += k * n
		}
	}
	quiet(t, cells...)
	for i, cell := range cells {
		hashed, err := cell.Hash(context.Background(), driver.Batch{Requests: 2, Placement: 99})
		if err != nil {
			t.Fatal(err)
		}
		want := shape.NewContent(s, testSeed).Expect(2 * n)
		if hashed != (driver.Hashed{Records: 2 * n, Hash: want.Hash, Requests: 2}) {
			t.Errorf("%+v, want %+v", hashed, want)
		}
		span := admin.Span{Offset: int64(sent), Records: 2 * n, Partitions: s.Partitions, PerBatch: s.RecordsPerBatch}
		got, err := r.admin.ReadBack(context.Background(), topic, span, liveBaseMs)
		codec := cmp.Or(s.Compression, shape.CompressionNone)
		if err != nil || got.Records != 2*n || got.Hash != want.Hash || got.Batches != 2*s.Partitions || !slices.Equal(got.Codecs, []string{codec}) {
			t.Errorf("v%d: read back %+v, want hash %d and %s: %v", low+i, got, want.Hash, codec, err)
		}
		if stored == 0 {
			stored = got.Bytes
		}
		if got.Bytes != stored {
			t.Errorf("v%d: %d bytes are stored, %d of the first version", low+i, got.Bytes, stored)
		}
		sent += 2 * n
		requests := 1 + 2
		for round := range 3 {
			requests += 1 + (round+i)%3
		}
		if got := framesOf(t, cell, keyProduce, low+i); got != int64(requests) {
			t.Errorf("v%d: %d frames, %d requests were made", low+i, got, requests)
		}
	}
	if checks := engine.Checking(); checks.Cell != -1 || len(checks.Frames) == 0 {
		t.Errorf("%+v", checks)
	}
}

// Of several partitions all go out in one request, and codecs are stored as they were asked for.
func TestLiveProducePartitionsAndCodecs(t *testing.T) {
	r := modern(t)
	large := fixed("bytes=1MiB", 125, 1, 8, 1)
	large.ValueBytes = 1 << 10
	for _, s := range []shape.Shape{fixed("partitions=10", 10, 1, 10, 1), fixed("partitions=100", 2, 1, 100, 1), large} {
		t.Run(s.Name, func(t *testing.T) { checkProduce(t, r, 3, 13, s) })
	}
	for _, codec := range []string{shape.CompressionNone, shape.CompressionGzip, shape.CompressionSnappy, shape.CompressionLZ4, shape.CompressionZstd} {
		s := produceShape(100, -1)
		s.Name, s.Compression = "compression="+codec, codec
		low := 3
		if codec == shape.CompressionZstd {
			low = bank.ZstdProduce
		}
		t.Run(s.Name, func(t *testing.T) { checkProduce(t, r, low, 13, s) })
	}
}

func TestLiveProduceEveryVersionAndShape(t *testing.T) {
	r := modern(t)
	for _, acks := range []int{-1, 0} {
		for _, n := range []int{1, 100, 1000} {
			s := produceShape(n, acks)
			t.Run(fmt.Sprintf("acks=%d/%s", acks, s.Name), func(t *testing.T) { checkProduce(t, r, 3, 13, s) })
		}
	}
}

// 4.x advertises Produce v0-v2 and drops the connection: the pin has to fail fast and say so.
func TestAdvertisedButNotAccepted(t *testing.T) {
	r := modern(t)
	s := produceShape(1, -1)
	topic := r.topic(t, s, 0)
	for version := 0; version <= 2; version++ {
		open := opening(1, apiProduce, version, s, driver.ModeBare)
		open.Brokers, open.Topic, open.BaseTimestampMs = r.addresses, topic, liveBaseMs
		_, _, err := New().Open(context.Background(), open)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("advertises Produce v%d but", version)) {
			t.Errorf("v%d: %v", version, err)
		}
	}
	for version := 0; version <= 3; version++ {
		open := opening(1, apiFetch, version, fetchShape("size=4KiB", 4<<10), driver.ModeBare)
		open.Brokers, open.Topic, open.BaseTimestampMs = r.addresses, topic, liveBaseMs
		_, _, err := New().Open(context.Background(), open)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("Fetch v%d can't be spoken", version)) {
			t.Errorf("v%d: %v", version, err)
		}
	}
}

func TestLeftAloneAndShipped(t *testing.T) {
	r := modern(t)
	checkAlone(t, r, 18, 13)
}

// checkAlone runs a client that nobody pinned, in every mode.
func checkAlone(t *testing.T, r rig, fetch, produce int) {
	for _, mode := range []string{driver.ModeBare, driver.ModeGC, driver.ModeShipped} {
		t.Run(mode, func(t *testing.T) {
			engine := New()
			s := fetchShape("size=64KiB", 64<<10)
			cell, opened := r.open(t, engine, opening(2, apiFetch, driver.Unpinned, s, mode), r.topic(t, s, 250))
			if opened.AnswerVersion != fetch {
				t.Errorf("%+v", opened)
			}
			for range 3 {
				counting(t, runBatch(t, cell, 3, 1), s, 3, opened.RecordsPerRequest)
			}
			s = produceShape(100, -1)
			cell, opened = r.open(t, engine, opening(2, apiProduce, driver.Unpinned, s, mode), r.topic(t, s, 0))
			if opened.AnswerVersion != produce {
				t.Errorf("%+v", opened)
			}
			for range 3 {
				counting(t, runBatch(t, cell, 3, 1), s, 3, 100)
			}
		})
	}
}

// Two witnesses: what the wire counted is what the broker counted, version by version, pin by pin.
func TestWireAndBrokerAgree(t *testing.T) {
	r := modern(t)
	engine := New()
	s := fetchShape("size=64KiB", 64<<10)
	fetchTopic, produceTopic := r.topic(t, s, 200), r.topic(t, produceShape(10, 0), 0)
	for _, api := range []pin.API{pin.Fetch, pin.Produce} {
		before, _, listed := r.observer.RequestCount(context.Background(), api)
		if !listed {
			t.Fatal("the broker's counters can't be listed")
		}
		frames := map[int]int64{}
		shapeOf, topic, newest := s, fetchTopic, 18
		if api.Key == keyProduce {
			topic, newest = produceTopic, 13
		}
		for version := api.Floor; version <= newest; version++ {
			if api.Key == keyProduce {
				shapeOf = produceShape(10, -(version % 2))
			}
			cell, _ := r.open(t, engine, opening(1, api.Name, version, shapeOf, driver.ModeBare), topic)
			runBatch(t, cell, 1+version%3, 1)
			frames[version] = framesOf(t, cell, api.Key, version)
			if frames[version] != int64(2+version%3) {
				t.Errorf("%s v%d: %d frames", api.Name, version, frames[version])
			}
		}
		// The broker counts a request after it has answered it, so the last ones may be a moment away; what never comes is a failure.
		var wrong []string
		for end := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			after, _, _ := r.observer.RequestCount(context.Background(), api)
			wrong = nil
			for version, sent := range frames {
				if moved := after[version].Value - before[version].Value; moved != sent {
					wrong = append(wrong, fmt.Sprintf("%s v%d: the broker counted %d requests, the wire %d", api.Name, version, moved, sent))
				}
			}
			for version, counter := range after {
				if moved := counter.Value - before[version].Value; frames[version] == 0 && moved != 0 {
					wrong = append(wrong, fmt.Sprintf("%s v%d: the broker counted %d requests that nobody sent", api.Name, version, moved))
				}
			}
			if wrong == nil || time.Now().After(end) {
				break
			}
		}
		for _, text := range wrong {
			t.Error(text)
		}
	}
}

// The broker of tier 2: every version it advertises is accepted (Produce v0-v2 and Fetch v0-v3 too, for the probe), those with record
// batches are driven like tier 1's, and the client left alone finds its newest.
func TestLegacyBroker(t *testing.T) {
	r := legacy(t)
	s := fetchShape("size=64KiB", 64<<10)
	for _, c := range []struct {
		api    string
		newest int
		shape  shape.Shape
	}{{apiProduce, 5, produceShape(1, -1)}, {apiFetch, 7, s}} {
		topic := r.topic(t, s, 60)
		for version := 0; version <= c.newest; version++ {
			_, opened := r.open(t, New(), opening(1, c.api, version, c.shape, driver.ModeBare), topic)
			if opened.AnswerVersion != version || opened.PreflightRequests != 1 || opened.RecordsPerRequest < 1 {
				t.Errorf("%s v%d: %+v", c.api, version, opened)
			}
		}
		if _, end, err := r.admin.Offsets(context.Background(), topic); err != nil || end != 600 {
			t.Errorf("the preflights of %s moved the end from 600 to %d: %v", c.api, end, err)
		}
	}
	checkFetch(t, r, 4, 7, s, 3)
	checkProduce(t, r, 3, 5, produceShape(100, -1))
	checkProduce(t, r, 3, 5, produceShape(100, 0))
	checkAlone(t, r, 7, 5)
}

// Without Java the flow can still be seen: kfake takes the same cells.
func TestEmbeddedBroker(t *testing.T) {
	r := embedded(t)
	checkProduce(t, r, 3, 13, produceShape(10, -1))
	checkAlone(t, r, 18, 13)
}

// A topic that is shorter than the batch must end the batch with words, not with a long poll that nobody can explain.
func TestFetchBeyondTheTopicSaysSo(t *testing.T) {
	r := modern(t)
	s := fetchShape("size=4KiB", 4<<10)
	open := opening(1, apiFetch, 12, s, driver.ModeBare)
	open.MaxRequests = 50
	cell, opened := r.open(t, New(), open, r.topic(t, s, 10))
	batch := driver.Batch{Requests: 50}
	if err := cell.Prepare(context.Background(), batch); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := cell.Run(ctx, batch, func() {})
	if err == nil || !strings.Contains(err.Error(), "of 50 to Fetch v12") {
		t.Errorf("100 records, %d a response: %v", opened.RecordsPerRequest, err)
	}
}

// A broker that dies must end a batch with words; the client by itself would wait for it to come back.
func TestBrokerGoneEndsTheBatch(t *testing.T) {
	ctx := context.Background()
	b, err := broker.StartEmbedded(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Stop(ctx) }()
	a, err := admin.New(ctx, b.Addresses())
	if err != nil {
		t.Fatal(err)
	}
	r := rig{addresses: b.Addresses(), admin: a}
	engine := New()
	var cells []worker.Cell
	for _, open := range []driver.Open{
		opening(1, apiFetch, 12, fetchShape("size=4KiB", 4<<10), driver.ModeBare),
		opening(1, apiProduce, 9, produceShape(10, -1), driver.ModeBare),
		opening(1, apiProduce, 9, produceShape(10, 0), driver.ModeBare),
	} {
		name := fmt.Sprintf("gone-%d", len(cells))
		if err := a.CreateTopic(ctx, name, nil); err != nil {
			t.Fatal(err)
		}
		if err := a.Fill(ctx, name, shape.NewContent(open.Shape, testSeed), 10, 50, liveBaseMs); err != nil {
			t.Fatal(err)
		}
		cell, _ := r.open(t, engine, open, name)
		runBatch(t, cell, 2, 1)
		if err := cell.Prepare(ctx, driver.Batch{Requests: 3}); err != nil {
			t.Fatal(err)
		}
		cells = append(cells, cell)
	}
	a.Close()
	if err := b.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	for i, cell := range cells {
		short, cancel := context.WithTimeout(ctx, time.Second)
		err := cell.Run(short, driver.Batch{Requests: 3}, func() {})
		if err == nil {
			_, err = cell.Finish(short) // acks 0: writing into a dead connection may still succeed, the barrier can't
		}
		cancel()
		if err == nil {
			t.Errorf("cell %d: a batch without a broker went well", i)
		}
		t.Log(err)
	}
}
