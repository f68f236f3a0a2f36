// Package wire counts what really leaves and enters a client's connections: request frames by API key and version, bytes,
// reads and TCP segments. It knows no client library: wrap the client's dialer (Counter.Dialer) and ask afterwards.
//
// It is the first of two independent witnesses of a pin; the broker's own request counters are the second. A client's
// hooks would not do: franz-go's carry no version, and no hook sees what the library itself has miscounted.
package wire

import (
	"context"
	"net"
	"slices"
	"sync"

	"protocolbench/internal/driver"
)

// DialFunc is the shape of net.Dialer.DialContext and of kgo.Dialer's argument.
type DialFunc func(ctx context.Context, network, host string) (net.Conn, error)

// Counter collects the connections of one cell, open and closed ones. It is safe for concurrent use.
//
// A closed connection is kept (about 400 bytes): its counts belong to the cell, and adding them up while a last Write is
// under way would lose that Write.
type Counter struct {
	mu    sync.Mutex
	conns []*conn
}

// NewCounter has no connections yet.
func NewCounter() *Counter { return &Counter{} }

// Wrap puts a counter in front of a connection.
func (c *Counter) Wrap(inner net.Conn) net.Conn {
	counted := &conn{Conn: inner}
	counted.segsIn.Store(noSegments)
	counted.segsOut.Store(noSegments)
	counted.flows = counted.first[:0]
	c.mu.Lock()
	c.conns = append(c.conns, counted)
	c.mu.Unlock()
	return counted
}

// Dialer wraps every connection that dial makes.
func (c *Counter) Dialer(dial DialFunc) DialFunc {
	return func(ctx context.Context, network, host string) (net.Conn, error) {
		inner, err := dial(ctx, network, host)
		if err != nil {
			return nil, err
		}
		return c.Wrap(inner), nil
	}
}

// Mark is a moment in a counter's life, for one API and version.
type Mark struct {
	key, version      int16
	frames            int64
	bytesIn, bytesOut int64
}

// Traffic is what has passed since a Mark.
type Traffic struct {
	Requests int   // frames of the mark's API and version
	BytesIn  int64 // all bytes, all APIs
	BytesOut int64
	// MinFrame and MaxFrame are lengths on the wire, the 4 bytes of the length field included; 0 without a frame.
	MinFrame int
	MaxFrame int
}

// Mark starts a batch: it also forgets the frame lengths seen so far of that API and version.
func (c *Counter) Mark(key, version int16) Mark {
	mark := Mark{key: key, version: version}
	for _, counted := range c.all() {
		counted.mu.Lock()
		if flow := counted.find(key, version); flow != nil {
			mark.frames += flow.frames
			flow.shortest, flow.longest = 0, 0
		}
		mark.bytesOut += counted.bytesOut
		counted.mu.Unlock()
		mark.bytesIn += counted.bytesIn.Load()
	}
	return mark
}

// Since says what has passed since the mark, which has to be the newest of its API and version.
func (c *Counter) Since(mark Mark) Traffic {
	traffic := Traffic{BytesIn: -mark.bytesIn, BytesOut: -mark.bytesOut}
	frames := -mark.frames
	for _, counted := range c.all() {
		counted.mu.Lock()
		if flow := counted.find(mark.key, mark.version); flow != nil {
			frames += flow.frames
			if flow.shortest > 0 && (traffic.MinFrame == 0 || flow.shortest < traffic.MinFrame) {
				traffic.MinFrame = flow.shortest
			}
			traffic.MaxFrame = max(traffic.MaxFrame, flow.longest)
		}
		traffic.BytesOut += counted.bytesOut
		counted.mu.Unlock()
		traffic.BytesIn += counted.bytesIn.Load()
	}
	traffic.Requests = int(frames)
	return traffic
}

// Count is the number of frames of an API and version so far.
func (c *Counter) Count(key, version int16) int64 {
	var frames int64
	for _, counted := range c.all() {
		counted.mu.Lock()
		if flow := counted.find(key, version); flow != nil {
			frames += flow.frames
		}
		counted.mu.Unlock()
	}
	return frames
}

// Snapshot is everything counted so far, frames sorted by key and version. Segments are -1 when any connection has no
// such counter: a sum over the others would look like a small number.
func (c *Counter) Snapshot(cell int) driver.CellSnapshot {
	snapshot := driver.CellSnapshot{Cell: cell, Frames: []driver.Frames{}}
	conns := c.all()
	if len(conns) == 0 {
		snapshot.DataSegsIn, snapshot.DataSegsOut = noSegments, noSegments
	}
	snapshot.ConnectionsOpened = int64(len(conns))
	for _, counted := range conns {
		if !counted.closed.Load() {
			snapshot.ConnectionsOpen++
		}
		counted.mu.Lock()
		for i := range counted.flows {
			addFrames(&snapshot, &counted.flows[i])
		}
		snapshot.BytesOut += counted.bytesOut
		counted.mu.Unlock()
		snapshot.BytesIn += counted.bytesIn.Load()
		snapshot.Reads += counted.reads.Load()
		in, out := counted.segments()
		if in == noSegments || snapshot.DataSegsIn == noSegments {
			snapshot.DataSegsIn, snapshot.DataSegsOut = noSegments, noSegments
			continue
		}
		snapshot.DataSegsIn += in
		snapshot.DataSegsOut += out
	}
	slices.SortFunc(snapshot.Frames, func(a, b driver.Frames) int {
		return (int(a.Key)-int(b.Key))<<16 + int(a.Version) - int(b.Version)
	})
	return snapshot
}

func addFrames(snapshot *driver.CellSnapshot, flow *flow) {
	for i := range snapshot.Frames {
		if f := &snapshot.Frames[i]; f.Key == flow.key && f.Version == flow.version {
			f.Count += flow.frames
			f.Bytes += flow.bytes
			return
		}
	}
	snapshot.Frames = append(snapshot.Frames,
		driver.Frames{Key: flow.key, Version: flow.version, Count: flow.frames, Bytes: flow.bytes})
}

func (c *Counter) all() []*conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conns[:len(c.conns):len(c.conns)]
}
