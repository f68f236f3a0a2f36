package broker

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"protocolbench/internal/measure"
)

// tail keeps the last lines that a process wrote, and tells those who wait for one.
type tail struct {
	mu      sync.Mutex
	most    int
	lines   []string
	partial []byte
	waits   []wait
}

type wait struct {
	text string
	seen chan struct{}
}

func newTail(most int) *tail { return &tail{most: most} }

// textBytesMax keeps a message readable.
const textBytesMax = 300

// lineBytesMax cuts a line that never ends.
const lineBytesMax = 8 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	for len(p) > 0 {
		line, rest, ended := bytes.Cut(p, []byte("\n"))
		if room := lineBytesMax - len(t.partial); room > 0 {
			t.partial = append(t.partial, line[:min(room, len(line))]...)
		}
		if ended {
			t.add(strings.TrimRight(string(t.partial), "\r"))
			t.partial = t.partial[:0]
		}
		p = rest
	}
	return n, nil
}

func (t *tail) add(line string) {
	if len(t.lines) == t.most {
		copy(t.lines, t.lines[1:])
		t.lines = t.lines[:t.most-1]
	}
	t.lines = append(t.lines, line)
	kept := t.waits[:0]
	for _, w := range t.waits {
		if strings.Contains(line, w.text) {
			close(w.seen)
		} else {
			kept = append(kept, w)
		}
	}
	t.waits = kept
}

// expect gives a channel that is closed by the first line, from now on, with the text in it.
func (t *tail) expect(text string) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	seen := make(chan struct{})
	t.waits = append(t.waits, wait{text, seen})
	return seen
}

func (t *tail) last(n int) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := t.lines
	if len(t.partial) > 0 { // a dying process may not end its last line
		lines = append(lines[:len(lines):len(lines)], string(t.partial))
	}
	return append([]string(nil), lines[max(0, len(lines)-n):]...)
}

func (t *tail) contains(text string) bool {
	for _, line := range t.last(t.most) {
		if strings.Contains(line, text) {
			return true
		}
	}
	return false
}

// text is the last lines for a message.
func (t *tail) text(n int) string {
	lines := t.last(n)
	if len(lines) == 0 {
		return "  (nothing)"
	}
	for i, line := range lines {
		if len(line) > textBytesMax { // a class path
			lines[i] = line[:textBytesMax] + "..."
		}
	}
	return "  " + strings.Join(lines, "\n  ")
}

// process is a JVM of ours.
type process struct {
	name string // in messages
	cmd  *exec.Cmd
	log  *tail
	done chan struct{} // closed when it has ended and was waited for
	err  error         // of Wait; read after done
}

func (j *jvm) start(name string, args []string) (*process, error) {
	p := &process{name: name, cmd: exec.Command(j.java.path, args...), log: newTail(400), done: make(chan struct{})}
	p.cmd.Dir = j.dir
	p.cmd.Env = j.env.forBroker()
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.WaitDelay = 2 * time.Second
	if err := measure.StartPinned(p.cmd, j.options.CPUs); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	if err := j.keeper.watch(p.pid()); err != nil {
		p.kill()
		return nil, fmt.Errorf("the process that would clean up after us has died: %w", err)
	}
	j.say(fmt.Sprintf("starting %s (process %d)", name, p.pid()))
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// kill ends the process group at once and waits. Nothing asks a broker to shut down: its data is thrown away, and a controlled shutdown
// takes seconds and can hang.
func (p *process) kill() {
	select {
	case <-p.done: // its id may be another's by now
		return
	default:
	}
	_ = measure.KillGroup(p.pid(), unix.SIGKILL)
	<-p.done
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// failure is what a process that ended by itself left.
func (p *process) failure() error {
	how := "with success"
	if p.err != nil {
		how = p.err.Error()
	}
	return fmt.Errorf("%s ended by itself (%s); its last lines:\n%s", p.name, how, p.log.text(25))
}
