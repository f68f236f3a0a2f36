package franz

import (
	"encoding/binary"
	"errors"
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
	read     int    // of answers
	body     []byte // what follows the answers: of a response to Fetch, not copied
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
	if c.rest() == 0 {
		c.answers, c.read = c.answers[:0], 0
	}
	for len(stream) >= 4 {
		length := int(binary.BigEndian.Uint32(stream)) + 4
		if len(stream) < length {
			break
		}
		if len(c.body) > 0 {
			return 0, errors.New("a request came before the response to a Fetch was read: tier 0 has one in flight")
		}
		var err error
		if c.answers, c.body, err = c.broker.answer(c.answers, stream[:length]); err != nil {
			return 0, err
		}
		stream = stream[length:]
	}
	c.request = append(c.request[:0], stream...)
	c.wake.Broadcast()
	return len(p), nil
}

func (c *memoryConn) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.rest() == 0 {
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
	if most := c.broker.shape.ReadBytes; most > 0 && len(p) > most {
		p = p[:most]
	}
	n := copy(p, c.answers[c.read:])
	c.read += n
	ofBody := copy(p[n:], c.body)
	c.body = c.body[ofBody:]
	return n + ofBody, nil
}

// rest is how many bytes are there to be read.
func (c *memoryConn) rest() int { return len(c.answers) - c.read + len(c.body) }

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
