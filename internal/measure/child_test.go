//go:build unix

package measure

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary is also the parent that is killed, the grandchild that watches its parent, and a child that burns CPU.
const roleVariable = "PROTOCOLBENCH_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "":
		os.Exit(m.Run())
	case "parent": // starts a child that would live for a minute, says its id, waits to be killed
		cmd := exec.Command("sleep", "60")
		if err := StartPinned(cmd, nil); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(cmd.Process.Pid)
		time.Sleep(time.Minute) // an empty select would be a deadlock to the runtime, and the process gone at once
	case "parent of a watcher":
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), roleVariable+"=watcher")
		cmd.Stdout = os.Stdout
		if err := cmd.Start(); err != nil { // as `go run` does it: nothing ends the child
			fmt.Println(err)
			os.Exit(1)
		}
		time.Sleep(time.Minute) // an empty select would be a deadlock to the runtime, and the process gone at once
	case "watcher":
		fmt.Println(os.Getpid())
		<-ParentGone(context.Background())
	case "burner": // on two threads, one of which ends
		done := make(chan struct{})
		go func() {
			runtime.LockOSThread() // ends with its goroutine
			burn(100 * time.Millisecond)
			close(done)
		}()
		<-done
		fmt.Println(SelfCPUNs())
		time.Sleep(time.Minute) // an empty select would be a deadlock to the runtime, and the process gone at once
	}
}

func burn(cpu time.Duration) {
	for until := SelfCPUNs() + cpu.Nanoseconds(); SelfCPUNs() < until; {
	}
}

// self starts this test binary in a role and reads its first line.
func self(t *testing.T, role string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := StartPinned(cmd, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	var line string
	if _, err := fmt.Fscanln(out, &line); err != nil {
		t.Fatalf("%s said nothing: %v", role, err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return cmd, line
}

func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !check(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not so after 30 s: %s", what)
		}
	}
}

func onLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("NOT TESTED: only Linux has this")
	}
}

func TestChildDiesWithItsParent(t *testing.T) {
	onLinux(t)
	cmd, line := self(t, "parent")
	var child int
	if _, err := fmt.Sscan(line, &child); err != nil || !Alive(child) {
		t.Fatalf("child %q is not there (%v)", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the child has ended", func() bool { return !Alive(child) })
}

// The thread that forked goes on living, however many goroutines and threads come and go: else Pdeathsig would hit.
func TestChildOutlivesThreads(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // this thread ends with the goroutine
		started <- StartPinned(cmd, nil)
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	defer func() { _ = KillGroup(cmd.Process.Pid, syscall.SIGKILL); _ = cmd.Wait() }()
	for range 20 {
		done := make(chan struct{})
		go func() { runtime.LockOSThread(); close(done) }()
		<-done
	}
	time.Sleep(100 * time.Millisecond)
	if !Alive(cmd.Process.Pid) {
		t.Error("the child died with a thread")
	}
}

func TestParentGone(t *testing.T) {
	cmd, line := self(t, "parent of a watcher")
	var watcher int
	if _, err := fmt.Sscan(line, &watcher); err != nil || !Alive(watcher) {
		t.Fatalf("the watcher %q is not there (%v)", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the watcher has ended", func() bool { return !Alive(watcher) })
}

func TestParentThatStays(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	select {
	case <-ParentGone(ctx):
		t.Error("the parent is said to be gone")
	case <-time.After(500 * time.Millisecond):
	}
}

func TestPinnedChildAndUnpinnedParent(t *testing.T) {
	onLinux(t)
	before := AllowedCPUs()
	if len(before) == 0 {
		t.Fatal("no CPU is allowed")
	}
	last := before[len(before)-1]
	for _, cpus := range [][]int{{last}, nil} {
		cmd := exec.Command("sh", "-c", "grep Cpus_allowed_list /proc/self/status; ps -o pgid= -p $$ || true")
		var out strings.Builder
		cmd.Stdout = &out
		if err := StartPinned(cmd, cpus); err != nil {
			t.Fatal(err)
		}
		pid := cmd.Process.Pid
		if group, err := syscall.Getpgid(pid); err == nil && group != pid {
			t.Errorf("the child's group is %d, not its own (%d)", group, pid)
		}
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		fields := strings.Fields(out.String())
		if len(cpus) == 1 && (len(fields) < 2 || fields[1] != fmt.Sprint(last)) {
			t.Errorf("pinned to %v, and the child says %q", cpus, out.String())
		}
		if len(cpus) == 0 && len(before) > 1 && len(fields) > 1 && fields[1] == fmt.Sprint(last) {
			t.Errorf("not pinned, and the child says %q: the affinity of the one before was not taken back", out.String())
		}
	}
	if after := AllowedCPUs(); !reflect.DeepEqual(before, after) {
		t.Errorf("this process may use %v now, and %v before", after, before)
	}
	if err := StartPinned(exec.Command("true"), []int{1000}); err == nil {
		t.Error("pinned to a CPU that does not exist")
	}
}

func TestKillGroup(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 60 & echo $!; wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := StartPinned(cmd, nil); err != nil {
		t.Fatal(err)
	}
	var grandchild int
	if _, err := fmt.Fscanln(out, &grandchild); err != nil {
		t.Fatal(err)
	}
	if err := KillGroup(cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventually(t, "the grandchild has ended", func() bool { return !Alive(grandchild) })
	if err := KillGroup(cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Errorf("a group that is gone: %v", err)
	}
	for _, pid := range []int{1, 0, -1} {
		if err := KillGroup(pid, syscall.SIGCONT); err == nil {
			t.Errorf("KillGroup(%d) is no error", pid)
		}
	}
}

func TestSplitCPUs(t *testing.T) {
	for _, test := range []struct{ allowed, worker, broker []int }{
		{nil, nil, nil},
		{[]int{3}, nil, nil},
		{[]int{0, 1}, []int{1}, []int{0}},
		{[]int{2, 5, 7, 9}, []int{9}, []int{2, 5, 7}},
	} {
		worker, broker := SplitCPUs(test.allowed)
		if !reflect.DeepEqual(worker, test.worker) || !reflect.DeepEqual(broker, test.broker) {
			t.Errorf("SplitCPUs(%v) = %v, %v; want %v, %v", test.allowed, worker, broker, test.worker, test.broker)
		}
	}
}
