package worker

import (
	"errors"
	"io"
	"strings"
	"sync"
)

const (
	keptLines    = 200 // a goroutine dump has about as many
	maxLineBytes = 2000
)

// logTail keeps the last lines of a worker's standard error.
type logTail struct {
	mu    sync.Mutex
	lines []string // a ring once it is full
	next  int
}

// fill reads until the writers have gone.
func (t *logTail) fill(from io.Reader) {
	reader := newLineReader(from, maxLineBytes)
	var line []byte
	for {
		var err error
		line, err = reader.next(line)
		if err == nil || errors.Is(err, errLongLine) || len(line) > 0 {
			t.add(string(line))
		}
		if err != nil && !errors.Is(err, errLongLine) {
			return
		}
	}
}

func (t *logTail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) < keptLines {
		t.lines = append(t.lines, line)
		return
	}
	t.lines[t.next] = line
	t.next = (t.next + 1) % keptLines
}

func (t *logTail) last(n int) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	ordered := append(append([]string{}, t.lines[t.next:]...), t.lines[:t.next]...)
	return ordered[max(0, len(ordered)-max(n, 0)):]
}

// quote gives the lines that explain an end: from the last panic on where there is one, since a Go stack is longer than any
// tail that one wants to read.
func (t *logTail) quote(n int) []string {
	all := t.last(keptLines)
	for i := len(all) - 1; i >= 0; i-- {
		if strings.HasPrefix(all[i], "panic: ") || strings.HasPrefix(all[i], "fatal error: ") {
			return all[i:min(len(all), i+n)]
		}
	}
	return all[max(0, len(all)-n):]
}
