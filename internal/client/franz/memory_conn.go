package franz

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// memoryConn is the client's end of a connection to the broker. Reads block until there is something, the deadline passes or the
// connection is closed; Close waits for nobody.
type memoryConn struct {
	broker *memoryBroker

	mu       sync.Mutex
	wake     sync.Cond
	request  []byte // the beginning of a frame, if a client writes one in pieces
	answers  []byte
	read     int // of answers
	deadline time.Time
	closed   bool
}

func (c *memoryConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, net.ErrClosed
	}
	stream := p
	if len(c.request) > 0 {
		c.request = append(c.request, p...)
		stream = c.request
	}
	if c.read == len(c.answers) {
		c.answers, c.read = c.answers[:0], 0
	}
	for len(stream) >= 4 {
		length := int(binary.BigEndian.Uint32(stream)) + 4
		if len(stream) < length {
			break
		}
		answers, err := c.broker.answer(c.answers, stream[:length])
		if err != nil {
			return 0, err
		}
		c.answers = answers
		stream = stream[length:]
	}
	c.request = append(c.request[:0], stream...)
	c.wake.Broadcast()
	return len(p), nil
}

func (c *memoryConn) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.read == len(c.answers) {
		if c.closed {
			return 0, io.EOF
		}
		if !c.deadline.IsZero() {
			left := time.Until(c.deadline)
			if left <= 0 {
				return 0, os.ErrDeadlineExceeded
			}
			// Only a read that has to wait pays for a timer.
			timer := time.AfterFunc(left, c.wakeUp)
			c.wake.Wait()
			timer.Stop()
			continue
		}
		c.wake.Wait()
	}
	n := copy(p, c.answers[c.read:])
	c.read += n
	return n, nil
}

func (c *memoryConn) wakeUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wake.Broadcast()
}

func (c *memoryConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.wake.Broadcast()
	return nil
}

func (c *memoryConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	c.wake.Broadcast()
	return nil
}

func (c *memoryConn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetWriteDeadline has nothing to do: a Write never waits.
func (c *memoryConn) SetWriteDeadline(time.Time) error { return nil }

func (c *memoryConn) LocalAddr() net.Addr  { return memoryAddr{} }
func (c *memoryConn) RemoteAddr() net.Addr { return memoryAddr{} }

type memoryAddr struct{}

func (memoryAddr) Network() string { return "memory" }
func (memoryAddr) String() string  { return memoryAddress }
