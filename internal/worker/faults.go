package worker

import (
	"fmt"
	"strings"
	"time"

	"protocolbench/internal/driver"
)

// quotedLines of the worker's log go into an error: enough for a panic's first frames, and still one screen.
const quotedLines = 8

// NotOpened is an engine's error about a cell that it could not open, with the request frames that had left by then.
type NotOpened struct {
	Sent  []driver.Frames
	Cause error
}

func (e *NotOpened) Error() string { return e.Cause.Error() }

func (e *NotOpened) Unwrap() error { return e.Cause }

// Refused: the worker answered with an error. It lives on, and the next request is answered.
type Refused struct {
	Op   string
	Text string          // the worker's own words
	Sent []driver.Frames // of an open: what had left by then; nil: unknown
}

func (e *Refused) Error() string {
	return fmt.Sprintf("the worker refused %q: %s; it is still running, so mend the request or the cell and ask again", e.Op, e.Text)
}

// Dead: the worker's process ended before it answered.
type Dead struct {
	Op    string
	State string // "exit status 2", "signal: killed"
	Log   []string
}

func (e *Dead) Error() string {
	return fmt.Sprintf("the worker ended (%s) instead of answering %q; its log says why, and a new worker has to be started%s",
		e.State, e.Op, quoteLog(e.Log))
}

// Hung: no answer within the deadline. The worker's process group has been killed.
type Hung struct {
	Op    string
	After time.Duration
	Log   []string
}

func (e *Hung) Error() string {
	return fmt.Sprintf("the worker did not answer %q within %s and was killed with its process group; look at its log and at the broker, or give it a longer deadline%s",
		e.Op, e.After, quoteLog(e.Log))
}

// Junk: a line on the worker's standard output that is no answer. What follows cannot be trusted: the process group has
// been killed.
type Junk struct {
	Op   string
	Line string // its beginning
	Why  string
	Log  []string
}

func (e *Junk) Error() string {
	return fmt.Sprintf("the worker wrote %q where the answer to %q was due (%s) and was killed; only answers belong on its standard output, everything else on standard error (DRIVER.md)%s",
		e.Line, e.Op, e.Why, quoteLog(e.Log))
}

func quoteLog(lines []string) string {
	if len(lines) == 0 {
		return " (its log is empty)"
	}
	return "\n  log: " + strings.Join(lines, "\n  log: ")
}
