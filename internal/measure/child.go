//go:build unix

package measure

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// starter forks every child of StartPinned on one OS thread that lives as long as the process does. Both the affinity, which a child
// inherits from the forking thread, and Pdeathsig, which fires when that *thread* ends, need it: with a plain Start the Go runtime may end
// the forking thread at any time, and the child with it.
var starter struct {
	once  sync.Once
	tasks chan func()
}

// StartPinned starts a child in a process group of its own, on the given CPUs (none: not pinned), to be killed by the kernel when this
// process ends in whatever way. What the caller set in cmd.SysProcAttr stays, apart from these.
func StartPinned(cmd *exec.Cmd, cpus []int) error {
	starter.once.Do(func() {
		starter.tasks = make(chan func())
		go runOnOneThread(starter.tasks)
	})
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.SysProcAttr.Pgid = 0
	endWithParent(cmd.SysProcAttr)
	done := make(chan error, 1)
	starter.tasks <- func() { done <- startOn(cmd, cpus) }
	return <-done
}

// KillGroup signals the process group that a child of StartPinned leads. A group that is gone is no error.
func KillGroup(pid int, sig syscall.Signal) error {
	if pid <= 1 {
		return errors.New("measure: not a child's process id") // kill(-1) is everybody
	}
	if err := syscall.Kill(-pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// SplitCPUs gives the worker the last CPU and the broker all others: on one CPU together their spread doubles. With fewer than two CPUs
// nothing is pinned. The orchestrator is not pinned: it sleeps while a batch runs.
func SplitCPUs(allowed []int) (worker, broker []int) {
	if len(allowed) < 2 {
		return nil, nil
	}
	last := len(allowed) - 1
	return allowed[last:], allowed[:last:last]
}

// The parent as it was when this process started; later it may be gone already.
var parentAtStart = os.Getppid()

// ParentGone is closed when this process's parent has ended, which changes the parent process id. SIGTERM to `go run` kills only
// `go run`, and its child would go on for ever. It stops looking when ctx ends.
func ParentGone(ctx context.Context) <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		ticker := time.NewTicker(200 * time.Millisecond)
		defer ticker.Stop()
		for os.Getppid() == parentAtStart {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
		close(gone)
	}()
	return gone
}
