package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"protocolbench/internal/driver"
	"protocolbench/internal/measure"
)

// Command says how a worker is started: a value, so that a test builds a worker once and a user can give any program.
type Command struct {
	Path string
	Args []string
	Env  []string // added to this process's environment
	Dir  string
	CPUs []int // empty: not pinned
}

// Deadlines are how long the parent waits for an answer. A zero field takes its default.
type Deadlines struct {
	Hello time.Duration
	Open  time.Duration // open and plant
	Batch time.Duration // warm, batch, steady, hash and snapshot
	Close time.Duration // of a cell, and of the worker: the answer, and then its end
}

// DefaultDeadlines are far above what a healthy worker needs on a loaded machine: a batch takes 10 ms.
func DefaultDeadlines() Deadlines {
	return Deadlines{Hello: 15 * time.Second, Open: 30 * time.Second, Batch: 30 * time.Second, Close: 10 * time.Second}
}

func (d Deadlines) filled() Deadlines {
	standard := DefaultDeadlines()
	for _, f := range []struct{ field, standard *time.Duration }{
		{&d.Hello, &standard.Hello}, {&d.Open, &standard.Open}, {&d.Batch, &standard.Batch}, {&d.Close, &standard.Close},
	} {
		if *f.field == 0 {
			*f.field = *f.standard
		}
	}
	return d
}

// drainTime is how long the readers may go on after the process has ended: a grandchild can hold a pipe open for ever.
const drainTime = time.Second

// Process is a running worker, seen by its parent. Requests go one at a time; PID, CPUNs and LogTail answer at any time. After an
// error other than Refused it is dead and says the same again. Close has to be called in every case.
//
// The caller's goroutine itself reads the answer. A reading goroutine with a timer per request was measured beside it: 70-140 us of
// the parent's CPU a batch instead of 45, which of a 5 ms batch is more than the orchestrator may use.
type Process struct {
	deadlines Deadlines
	cmd       *exec.Cmd
	pid       int
	hello     driver.Hello
	log       logTail

	mu      sync.Mutex // one request at a time
	stdin   *os.File
	stdout  *os.File
	answers *lineReader
	line    []byte
	request bytes.Buffer
	encoder *json.Encoder
	decoder driver.Decoder
	lastID  int
	broken  error

	started time.Time
	// due is when the answer that is waited for is too late, since started; 0 while none is, overdue once the watch has
	// killed the worker for it.
	due atomic.Int64

	reaped  atomic.Bool
	exited  chan struct{}
	state   string // how it ended; readable after exited
	success bool
}

const overdue = -1

// Start starts a worker and shakes hands with it. ctx bounds the handshake only.
func Start(ctx context.Context, command Command, deadlines Deadlines) (*Process, error) {
	p := &Process{deadlines: deadlines.filled(), started: time.Now(), exited: make(chan struct{})}
	p.encoder = json.NewEncoder(&p.request)
	p.encoder.SetEscapeHTML(false)
	if err := p.start(command); err != nil {
		return nil, fmt.Errorf("cannot start the worker %s: %w; check that the file exists and may be executed", command.Path, err)
	}
	if err := p.handshake(ctx); err != nil {
		p.kill()
		p.release()
		return nil, err
	}
	return p, nil
}

func (p *Process) handshake(ctx context.Context) error {
	response, err := p.exchange(ctx, driver.Request{Op: driver.OpHello}, p.deadlines.Hello)
	if err != nil {
		return fmt.Errorf("worker %s: %w", p.cmd.Path, err)
	}
	p.hello = *response.Hello
	if p.hello.Protocol != driver.ProtocolVersion {
		return fmt.Errorf("the worker %s (%s %s) speaks driver protocol %d, this program speaks %d: build both from the same source",
			p.cmd.Path, p.hello.Client, p.hello.Version, p.hello.Protocol, driver.ProtocolVersion)
	}
	// A worker may stand behind a launcher, so its pid need not be the one that was started, but it has to be in the group:
	// else its clock would be read from a stranger, and the group's end would not be its own.
	if group, err := syscall.Getpgid(p.hello.PID); err != nil || group != p.pid {
		return fmt.Errorf("the worker %s says that it is process %d, which is not in the process group %d that was started: its CPU clock could not be checked; let it answer hello with its own process id",
			p.cmd.Path, p.hello.PID, p.pid)
	}
	return nil
}

func (p *Process) start(command Command) error {
	cmd := exec.Command(command.Path, command.Args...)
	cmd.Dir = command.Dir
	if len(command.Env) > 0 {
		cmd.Env = append(cmd.Environ(), command.Env...)
	}
	var pipes [3][2]*os.File // read end, write end
	closeAll := func() {
		for _, pipe := range pipes {
			for _, end := range pipe {
				if end != nil {
					end.Close()
				}
			}
		}
	}
	for i := range pipes {
		var err error
		if pipes[i][0], pipes[i][1], err = os.Pipe(); err != nil {
			closeAll()
			return err
		}
	}
	// Plain files: with other readers and writers, exec would copy in goroutines that its Wait waits for, and a grandchild that
	// keeps a pipe would keep Wait.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pipes[0][0], pipes[1][1], pipes[2][1]
	if err := measure.StartPinned(cmd, command.CPUs); err != nil {
		closeAll()
		return err
	}
	pipes[0][0].Close()
	pipes[1][1].Close()
	pipes[2][1].Close()
	p.cmd, p.pid, p.stdin, p.stdout = cmd, cmd.Process.Pid, pipes[0][1], pipes[1][0]
	p.answers = newLineReader(p.stdout, maxAnswerBytes)
	logEnded := make(chan struct{})
	go func() {
		defer close(logEnded)
		p.log.fill(pipes[2][0])
	}()
	go p.reap(logEnded, pipes[2][0])
	go p.watch()
	return nil
}

// watch holds the deadlines: a look at a number a few times within the shortest of them, whether or not a batch runs.
func (p *Process) watch() {
	shortest := min(p.deadlines.Hello, p.deadlines.Open, p.deadlines.Batch, p.deadlines.Close)
	ticker := time.NewTicker(min(max(shortest/8, time.Millisecond), time.Second/2))
	defer ticker.Stop()
	for {
		select {
		case <-p.exited:
			return
		case <-ticker.C:
			due := p.due.Load()
			if due > 0 && int64(time.Since(p.started)) > due && p.due.CompareAndSwap(due, overdue) {
				p.killGroup()
			}
		}
	}
}

// reap waits for the end in every case: a worker never stays a zombie.
func (p *Process) reap(logEnded <-chan struct{}, stderr *os.File) {
	_ = p.cmd.Wait() // the state has it
	p.reaped.Store(true)
	p.state = p.cmd.ProcessState.String()
	p.success = p.cmd.ProcessState.Success()
	// What it started and left behind goes with it. The number is not taken again while a process of the group lives, and
	// an empty group was ours a moment ago.
	_ = measure.KillGroup(p.pid, syscall.SIGKILL)
	drained := time.NewTimer(drainTime)
	defer drained.Stop()
	select {
	case <-logEnded:
	case <-drained.C:
	}
	stderr.Close()
	close(p.exited)
}

// killGroup ends the process group, by id. Once the process is reaped its number may belong to others.
func (p *Process) killGroup() {
	if !p.reaped.Load() {
		_ = measure.KillGroup(p.pid, syscall.SIGKILL)
	}
}

// kill ends the process group and waits until the process is reaped.
func (p *Process) kill() {
	p.killGroup()
	<-p.exited
}

// release gives the pipes back; nothing is asked after it.
func (p *Process) release() {
	p.stdin.Close()
	p.stdout.Close()
}

// Hello is what the worker said of itself.
func (p *Process) Hello() driver.Hello { return p.hello }

// PID is the process that was started, which leads the process group. Hello has the worker's own where a launcher stands before it.
func (p *Process) PID() int { return p.pid }

// CPUNs reads the worker's CPU clock from outside; false where it has ended or the platform has no such clock.
func (p *Process) CPUNs() (int64, bool) {
	select {
	case <-p.exited: // the number may be another process's
		return 0, false
	default:
		return measure.ProcessCPUNs(p.hello.PID)
	}
}

// LogTail gives the last n lines of the worker's standard error.
func (p *Process) LogTail(n int) []string { return p.log.last(n) }
