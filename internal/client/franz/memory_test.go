package franz

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func memoryPair(t *testing.T) net.Conn {
	t.Helper()
	c, err := newMemoryBroker(fixed("two", 2, 1, 2, 2)).dial(context.Background(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// readAnswer takes one whole answer off a connection.
func readAnswer(t *testing.T, c net.Conn) []byte {
	t.Helper()
	var length [4]byte
	if _, err := io.ReadFull(c, length[:]); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(c, answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

func TestMemoryBrokerAnswersEveryVersion(t *testing.T) {
	formatter := kmsg.NewRequestFormatter(kmsg.FormatterClientID("test"))
	c := memoryPair(t)
	for _, req := range []kmsg.Request{
		kmsg.NewPtrProduceRequest(), kmsg.NewPtrMetadataRequest(), kmsg.NewPtrApiVersionsRequest(), kmsg.NewPtrInitProducerIDRequest(),
	} {
		lowest := int16(0)
		if req.Key() == keyProduce {
			lowest = 3
		}
		for version := lowest; version <= req.MaxVersion(); version++ {
			req.SetVersion(version)
			correlation := int32(version)*100 + int32(req.Key())
			if _, err := c.Write(formatter.AppendRequest(nil, req, correlation)); err != nil {
				t.Fatalf("%s v%d: %v", kmsg.NameForKey(req.Key()), version, err)
			}
			answer := readAnswer(t, c)
			if got := int32(binary.BigEndian.Uint32(answer)); got != correlation {
				t.Fatalf("%s v%d: correlation id %d, want %d", kmsg.NameForKey(req.Key()), version, got, correlation)
			}
			body := answer[4:]
			resp := req.ResponseKind()
			if resp.IsFlexible() && resp.Key() != keyAPIVersions {
				body = body[1:]
			}
			if err := resp.ReadFrom(body); err != nil {
				t.Fatalf("%s v%d: %v", kmsg.NameForKey(req.Key()), version, err)
			}
			if produced, ok := resp.(*kmsg.ProduceResponse); ok && (len(produced.Topics) != 2 || len(produced.Topics[1].Partitions) != 2) {
				t.Errorf("Produce v%d: %+v", version, produced)
			}
		}
	}
}

func TestMemoryConnTakesPieces(t *testing.T) {
	c := memoryPair(t)
	req := kmsg.NewPtrMetadataRequest()
	req.SetVersion(12)
	frame := kmsg.NewRequestFormatter().AppendRequest(nil, req, 77)
	for range 2 { // the second frame follows a remainder of none
		for i := range frame {
			if _, err := c.Write(frame[i : i+1]); err != nil {
				t.Fatal(err)
			}
		}
		if answer := readAnswer(t, c); binary.BigEndian.Uint32(answer) != 77 {
			t.Fatalf("% x", answer[:8])
		}
	}
}

func TestMemoryConnRefusesWhatItDoesNotKnow(t *testing.T) {
	for name, frame := range map[string][]byte{
		"Fetch":        kmsg.NewRequestFormatter().AppendRequest(nil, kmsg.NewPtrFetchRequest(), 1),
		"unknown key":  {0, 0, 0, 10, 0x7f, 0xff, 0, 0, 0, 0, 0, 1, 0xff, 0xff},
		"short header": {0, 0, 0, 6, 0, 3, 0, 1, 0, 0},
		"cut client":   {0, 0, 0, 12, 0, 3, 0, 1, 0, 0, 0, 1, 0, 9, 'a', 'b'},
	} {
		if _, err := memoryPair(t).Write(frame); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// blocked starts a read and gives its end.
func blocked(c net.Conn) <-chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := c.Read(make([]byte, 1))
		ended <- err
	}()
	return ended
}

func TestMemoryConnReadsBlockUntil(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(net.Conn)
		want error
	}{
		"closed":          {func(c net.Conn) { c.Close() }, io.EOF},
		"deadline in now": {func(c net.Conn) { _ = c.SetReadDeadline(time.Now()) }, os.ErrDeadlineExceeded},
		"deadline passes": {func(c net.Conn) { _ = c.SetDeadline(time.Now().Add(time.Millisecond)) }, os.ErrDeadlineExceeded},
	} {
		conn := memoryPair(t)
		ended := blocked(conn)
		select {
		case err := <-ended:
			t.Fatalf("%s: the read did not wait: %v", name, err)
		case <-time.After(5 * time.Millisecond):
		}
		c.end(conn)
		if err := <-ended; !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	conn := memoryPair(t)
	conn.Close()
	if _, err := conn.Write([]byte{0}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("write after close: %v", err)
	}
}
