package franz

import "sync"

// shared is what cells of equal keys use together, for as long as one of them is open. One cell runs at a time, and a copy for each would only be more for the collector to walk.
type shared[K comparable, V any] struct {
	mu   sync.Mutex
	held map[K]*holding[V]
}

type holding[V any] struct {
	value V
	users int
}

func (s *shared[K, V]) take(key K, build func() V) V {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil {
		s.held = map[K]*holding[V]{}
	}
	h, ok := s.held[key]
	if !ok {
		h = &holding[V]{value: build()}
		s.held[key] = h
	}
	h.users++
	return h.value
}

func (s *shared[K, V]) giveBack(key K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.held[key]
	if h.users--; h.users == 0 {
		delete(s.held, key)
	}
}
