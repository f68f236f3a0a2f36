package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"os"
	"reflect"
	"runtime"
	"sync"
	"testing"
	"time"

	"protocolbench/internal/driver"
)

// sink takes every Write and has nothing to read: an in-memory connection without a cost of its own.
type sink struct {
	net.Conn
	limit int // bytes taken per Write; 0: all
}

func (s *sink) Write(p []byte) (int, error) {
	if s.limit > 0 && len(p) > s.limit {
		return s.limit, io.ErrShortWrite
	}
	return len(p), nil
}
func (s *sink) Close() error { return nil }

func frame(key, version int16, body int) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(4+body))
	b = binary.BigEndian.AppendUint16(b, uint16(key))
	b = binary.BigEndian.AppendUint16(b, uint16(version))
	return append(b, bytes.Repeat([]byte{0xee}, body)...)
}

func TestFramesAreFoundHoweverTheyAreWritten(t *testing.T) {
	stream := bytes.Join([][]byte{
		frame(18, 4, 20), frame(0, 13, 0), frame(1, 4, 7), frame(1, 4, 900), frame(1, 18, 3), frame(0, 13, 1),
	}, nil)
	want := []driver.Frames{
		{Key: 0, Version: 13, Count: 2, Bytes: 8 + 9},
		{Key: 1, Version: 4, Count: 2, Bytes: 15 + 908},
		{Key: 1, Version: 18, Count: 1, Bytes: 11},
		{Key: 18, Version: 4, Count: 1, Bytes: 28},
	}
	// Every size of piece from one byte to all frames in one Write: every way to split a header is among them.
	for piece := 1; piece <= len(stream); piece++ {
		counter := NewCounter()
		c := counter.Wrap(&sink{})
		for b := stream; len(b) > 0; b = b[min(piece, len(b)):] {
			if _, err := c.Write(b[:min(piece, len(b))]); err != nil {
				t.Fatal(err)
			}
		}
		got := counter.Snapshot(3)
		if !reflect.DeepEqual(got.Frames, want) || got.BytesOut != int64(len(stream)) || got.Cell != 3 {
			t.Fatalf("pieces of %d bytes: %+v, want %+v", piece, got, want)
		}
	}
}

func TestFrameCountsOnlyWhenItHasGoneOutWhole(t *testing.T) {
	counter := NewCounter()
	c := counter.Wrap(&sink{limit: 100})
	if n, err := c.Write(frame(1, 12, 200)); n != 100 || err == nil {
		t.Fatalf("the sink took %d bytes, %v", n, err)
	}
	if got := counter.Count(1, 12); got != 0 {
		t.Fatalf("half a frame counted %d times", got)
	}
	if got := counter.Snapshot(0).BytesOut; got != 100 {
		t.Fatalf("%d bytes out, want 100", got)
	}
}

func TestNonsenseIsCountedAsSuch(t *testing.T) {
	for name, stream := range map[string][]byte{
		"zero length":     append([]byte{0, 0, 0, 0, 0, 1, 0, 4}, frame(1, 4, 5)...),
		"negative length": append([]byte{0xff, 0xff, 0xff, 0xff, 0, 1, 0, 4}, frame(1, 4, 5)...),
		"length of three": append([]byte{0, 0, 0, 3, 0, 1, 0, 4}, frame(1, 4, 5)...),
	} {
		counter := NewCounter()
		if _, err := counter.Wrap(&sink{}).Write(stream); err != nil {
			t.Fatal(err)
		}
		if counter.Count(Garbage, Garbage) != 1 || counter.Count(1, 4) != 0 {
			t.Errorf("%s: %+v", name, counter.Snapshot(0).Frames)
		}
	}
}

func TestMarkSeesOnlyWhatFollows(t *testing.T) {
	counter := NewCounter()
	first, second := counter.Wrap(&sink{}), counter.Wrap(&sink{})
	send := func(c net.Conn, key, version int16, body int) {
		if _, err := c.Write(frame(key, version, body)); err != nil {
			t.Fatal(err)
		}
	}
	send(first, 0, 9, 1)
	send(second, 0, 9, 5000)
	mark := counter.Mark(0, 9)
	if got := counter.Since(mark); got != (Traffic{}) {
		t.Fatalf("nothing was sent: %+v", got)
	}
	send(first, 0, 9, 10)
	send(second, 0, 9, 12)
	send(second, 0, 8, 4000)
	want := Traffic{Requests: 2, BytesOut: 18 + 20 + 4008, MinFrame: 18, MaxFrame: 20}
	if got := counter.Since(mark); got != want {
		t.Fatalf("%+v, want %+v", got, want)
	}
}

func TestRealSocketsKeepTheirCountsAfterClose(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		c, err := listener.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = io.Copy(c, c)
	}()
	counter := NewCounter()
	var d net.Dialer
	c, err := counter.Dialer(d.DialContext)(context.Background(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	request := frame(3, 13, 60)
	for range 3 {
		if _, err := c.Write(request); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, len(request))); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); !os.IsTimeout(err) {
		t.Fatalf("the deadline did not pass through: %v", err)
	}
	open := counter.Snapshot(0)
	c.Close()
	closed := counter.Snapshot(0)
	if open.ConnectionsOpened != 1 || open.ConnectionsOpen != 1 || closed.ConnectionsOpen != 0 {
		t.Errorf("connections: open %+v, closed %+v", open, closed)
	}
	open.ConnectionsOpen = 0 // all else stays
	if !reflect.DeepEqual(open, closed) {
		t.Errorf("open %+v, closed %+v", open, closed)
	}
	if closed.BytesIn != 3*68 || closed.BytesOut != 3*68 || closed.Frames[0].Count != 3 || closed.Reads < 3 {
		t.Errorf("%+v", closed)
	}
	if want := int64(3); runtime.GOOS == "linux" && (closed.DataSegsIn != want || closed.DataSegsOut != want) {
		t.Errorf("segments %d in, %d out, want %d each", closed.DataSegsIn, closed.DataSegsOut, want)
	}
	if runtime.GOOS != "linux" && closed.DataSegsIn != noSegments {
		t.Errorf("segments %d on %s", closed.DataSegsIn, runtime.GOOS)
	}
}

func TestSegmentsAreUnknownWithoutSocket(t *testing.T) {
	counter := NewCounter()
	counter.Wrap(&sink{})
	if got := counter.Snapshot(0); got.DataSegsIn != noSegments || got.DataSegsOut != noSegments {
		t.Errorf("%+v", got)
	}
}

func TestConcurrentUse(t *testing.T) {
	const writers, writes = 4, 500
	counter := NewCounter()
	shared := counter.Wrap(&sink{})
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			own := counter.Wrap(&sink{})
			for range writes {
				_, _ = shared.Write(frame(1, 7, 30))
				_, _ = own.Write(frame(0, int16(w), 3))
				counter.Since(counter.Mark(1, 7))
			}
			own.Close()
		})
	}
	all.Wait()
	if got := counter.Count(1, 7); got != writers*writes {
		t.Errorf("%d frames on the shared connection, want %d", got, writers*writes)
	}
	for w := range writers {
		if got := counter.Count(0, int16(w)); got != writes {
			t.Errorf("%d frames of v%d, want %d", got, w, writes)
		}
	}
}

func TestCountingDoesNotAllocate(t *testing.T) {
	c := NewCounter().Wrap(&sink{})
	request := frame(0, 11, 300)
	if allocs := testing.AllocsPerRun(1000, func() { _, _ = c.Write(request) }); allocs != 0 {
		t.Errorf("%v allocations per frame", allocs)
	}
}

func FuzzParser(f *testing.F) {
	f.Add(frame(1, 4, 3), uint8(2))
	f.Add([]byte{0, 0, 0, 1}, uint8(1))
	f.Add(append(frame(0, 0, 0), 0xff, 0xff, 0xff, 0xff), uint8(7))
	f.Fuzz(func(t *testing.T, stream []byte, piece uint8) {
		// However it is cut, a stream has the same frames.
		whole, pieces := NewCounter(), NewCounter()
		_, _ = whole.Wrap(&sink{}).Write(stream)
		cut := pieces.Wrap(&sink{})
		size := int(piece) + 1
		for b := stream; len(b) > 0; b = b[min(size, len(b)):] {
			_, _ = cut.Write(b[:min(size, len(b))])
		}
		if a, b := whole.Snapshot(0), pieces.Snapshot(0); !reflect.DeepEqual(a, b) {
			t.Fatalf("whole %+v, in pieces of %d %+v", a, size, b)
		}
	})
}

// The counter's cost per request is the difference between these two. The smallest cell of the tool is Produce acks 0 with
// one record, about 13 us of client CPU per request: 0.5 % of that is 65 ns.
func BenchmarkWriteBare(b *testing.B)    { benchmarkWrite(b, &sink{}) }
func BenchmarkWriteCounted(b *testing.B) { benchmarkWrite(b, NewCounter().Wrap(&sink{})) }

func benchmarkWrite(b *testing.B, c net.Conn) {
	request := frame(0, 13, 200)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = c.Write(request)
	}
}
