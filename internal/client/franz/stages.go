package franz

import (
	"protocolbench/internal/measure"
	"protocolbench/internal/worker"
)

// stages split what a batch of tier 0's Produce costs: records are handed over until the flush (buffering), and from there a request is made of them until it is on
// the connection (encoding). The client's encoder can't be called by itself, so this is read off its way, in a pass that isn't compared: the readings cost something.
//
// With one P the client encodes when the flush waits and not before, but for what the scheduler does by itself every 10 ms.
type stages struct {
	on                 bool
	at                 int64
	bufferNs, encodeNs int64
}

// begin is called before a request's records are handed over, handed after it, written when the request is on the connection.
func (s *stages) begin() {
	if s.on {
		s.at = measure.SelfCPUNs()
	}
}

func (s *stages) handed() {
	if s.on {
		now := measure.SelfCPUNs()
		s.bufferNs, s.at = s.bufferNs+now-s.at, now
	}
}

func (s *stages) written() {
	if s.on {
		now := measure.SelfCPUNs()
		s.encodeNs, s.at = s.encodeNs+now-s.at, now
	}
}

var _ worker.Staged = (*encodeCell)(nil)

// Stage begins to read, or ends.
func (c *encodeCell) Stage(on bool) {
	c.stages = stages{on: on, bufferNs: c.stages.bufferNs, encodeNs: c.stages.encodeNs}
}

// Stages gives what was read since it was asked last.
func (c *encodeCell) Stages() (bufferNs, encodeNs int64) {
	bufferNs, encodeNs = c.stages.bufferNs, c.stages.encodeNs
	c.stages.bufferNs, c.stages.encodeNs = 0, 0
	return bufferNs, encodeNs
}
