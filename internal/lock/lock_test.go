package lock

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

var started = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// TestMain makes the test binary a process that takes a lock and keeps it until its standard input ends, for the
// tests that need a holder which can be killed.
func TestMain(m *testing.M) {
	if path := os.Getenv("LOCK_TEST_HOLD"); path != "" {
		if _, err := Acquire(path, os.Getpid(), started); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("held")
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestSecondNamesTheFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := Acquire(path, 4711, started)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Acquire(path, 4712, started)
	var busy *BusyError
	if !errors.As(err, &busy) {
		t.Fatalf("second: %v, want a BusyError", err)
	}
	if busy.PID != 4711 || busy.Since != "2026-01-02T03:04:05Z" || !strings.Contains(err.Error(), "process 4711") {
		t.Errorf("%+v: %v", busy, err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if err := first.Release(); err != nil {
		t.Errorf("second release: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("lock file remains after release: %v", err)
	}
	again, err := Acquire(path, 4712, started)
	if err != nil {
		t.Fatalf("after release: %v", err)
	}
	again.Release()
}

func TestLockGoesWithItsProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	holder := exec.Command(executable)
	holder.Env = append(os.Environ(), "LOCK_TEST_HOLD="+path)
	stdin, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || line != "held\n" {
		t.Fatalf("holder: %q, %v", line, err)
	}
	_, err = Acquire(path, 1, started)
	var busy *BusyError
	if !errors.As(err, &busy) || busy.PID != holder.Process.Pid {
		t.Errorf("while held: %v, want busy with %d", err, holder.Process.Pid)
	}
	holder.Process.Kill()
	holder.Wait()
	held, err := Acquire(path, 2, started) // the file is still there, and says a dead process
	if err != nil {
		t.Fatalf("after the holder was killed: %v", err)
	}
	held.Release()
}

// The holder removes the file while a second process has it open but not yet locked: the second's lock is then on a
// file that nobody else can find, and a third would get one of its own.
func TestLockOnARemovedFileIsNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	for _, successor := range []bool{false, true} {
		second, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if successor {
			third, err := Acquire(path, 3, started)
			if err != nil {
				t.Fatal(err)
			}
			defer third.Release()
		}
		held, err := take(second, path, 2, started)
		if held != nil || err != nil {
			t.Errorf("successor %v: took a lock on a removed file: %v, %v", successor, held, err)
		}
	}
}

// A second user of the host is told who runs, and gets the lock when that run has ended.
func TestSecondUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED with a second user: only root can become one (sudo go test ./internal/lock)")
	}
	dir, err := os.MkdirTemp("", "lock-test-") // t.TempDir's parent is closed to others
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil { // as /tmp is
		t.Fatal(err)
	}
	path := filepath.Join(dir, "lock")
	nobody := func() string {
		second := exec.Command("/proc/self/exe") // by its path it may be in a folder that is closed to others
		second.Env = append(os.Environ(), "LOCK_TEST_HOLD="+path)
		second.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, _ := second.Output()
		return strings.TrimSpace(string(out))
	}
	for _, mode := range []os.FileMode{0o666, 0o644} { // 0644: made by a version that left it to the umask
		first, err := Acquire(path, 4711, started)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o666 {
			t.Errorf("the lock file is %v, %v; want it to be everybody's", info.Mode(), err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if got := nobody(); !strings.HasPrefix(got, "process 4711, started 2026-01-02T03:04:05Z, is running") {
			t.Errorf("mode %o, held: %q", mode, got)
		}
		first.file.Close() // as if killed: the file stays
		if got := nobody(); got != "held" {
			t.Errorf("mode %o, left behind: %q", mode, got)
		}
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := nobody(); !strings.Contains(got, "another user's run made it") || strings.Contains(got, "PROTOCOL_BENCH_LOCK") {
		t.Errorf("closed to others: %q", got)
	}
}

// Many goroutines take, hold and release; flock is per open file, so they exclude each other as processes do.
func TestNeverTwoInside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var inside, taken atomic.Int64
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 500 {
				held, err := Acquire(path, 1, started)
				if err != nil {
					continue
				}
				taken.Add(1)
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d inside", n)
				}
				inside.Add(-1)
				if err := held.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if taken.Load() == 0 {
		t.Fatal("nobody ever got the lock")
	}
}

func TestUnusablePath(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Acquire(filepath.Join(file, "lock"), 1, started)
	if err == nil || !strings.Contains(err.Error(), "PROTOCOL_BENCH_LOCK") || strings.Count(err.Error(), file) != 1 {
		t.Errorf("got %v", err)
	}
}
