package wire

import (
	"net"
	"sync"
	"sync/atomic"
)

// conn is one counted connection. Deadlines, addresses and the rest pass through.
type conn struct {
	net.Conn
	bytesIn, reads  atomic.Int64
	segsIn, segsOut atomic.Int64 // as they were at Close; noSegments before
	closed          atomic.Bool

	mu       sync.Mutex // guards what follows: several goroutines may Write
	bytesOut int64
	parser   parser
	flows    []flow
	first    [8]flow // where flows starts: a connection speaks few APIs, and a new one must not allocate in a batch
	recent   int     // index of the flow counted last: nearly always the next one, too
}

// flow is one API and version on one connection.
type flow struct {
	key, version      int16
	shortest, longest int // since the last Mark
	frames, bytes     int64
}

func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.mu.Lock()
	c.bytesOut += int64(n)
	c.parser.feed(p[:n], c)
	c.mu.Unlock()
	return n, err
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.bytesIn.Add(int64(n))
	c.reads.Add(1)
	return n, err
}

// Close keeps the kernel's segment counts, which end with the socket.
func (c *conn) Close() error {
	if in, out := readSegments(c.Conn); in != noSegments {
		c.segsIn.Store(in)
		c.segsOut.Store(out)
	}
	c.closed.Store(true)
	return c.Conn.Close()
}

func (c *conn) segments() (in, out int64) {
	if in, out := readSegments(c.Conn); in != noSegments {
		return in, out
	}
	return c.segsIn.Load(), c.segsOut.Load()
}

func (c *conn) find(key, version int16) *flow {
	if c.recent < len(c.flows) {
		if f := &c.flows[c.recent]; f.key == key && f.version == version {
			return f
		}
	}
	for i := range c.flows {
		if f := &c.flows[i]; f.key == key && f.version == version {
			return f
		}
	}
	return nil
}

// count is called by the parser, under mu, when a frame's last byte has gone out.
func (c *conn) count(key, version int16, length int) {
	f := c.find(key, version)
	if f == nil {
		c.flows = append(c.flows, flow{key: key, version: version})
		c.recent = len(c.flows) - 1
		f = &c.flows[c.recent]
	}
	f.frames++
	f.bytes += int64(length)
	if f.shortest == 0 || length < f.shortest {
		f.shortest = length
	}
	f.longest = max(f.longest, length)
}
