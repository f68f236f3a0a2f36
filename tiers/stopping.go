package tiers

import "context"

// stopLater stops a tier's broker while the next tier's is started: that takes seconds of either, in which nothing is measured. stopped waits for it.
//
// Rejected: to start the next broker while this one is measured. It would have the machine's caches, memory and disk.
func (s *session) stopLater(ctx context.Context, l *live) {
	s.stopped()
	done := make(chan struct{})
	s.stopping = done
	go func() {
		defer close(done)
		l.stop(ctx)
	}()
}

// stopped returns when no broker is being stopped: before anything is asked of the next one, and before the run ends.
func (s *session) stopped() {
	if s.stopping != nil {
		<-s.stopping
		s.stopping = nil
	}
}
