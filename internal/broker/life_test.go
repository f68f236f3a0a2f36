package broker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"protocolbench/compose"
	"protocolbench/internal/measure"
)

// eventually polls: nothing here is a timing bound, the deadline only ends a test that would hang.
func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !check(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not so after 30 s: %s", what)
		}
	}
}

func listens(port int) bool {
	conn, err := net.DialTimeout("tcp4", fmt.Sprintf("127.0.0.1:%d", port), time.Second)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// wantNothingLeft checks what a broker had: processes, ports, folder, keeper.
func wantNothingLeft(t *testing.T, j *jvm) {
	t.Helper()
	for _, p := range j.processes {
		if measure.Alive(p.pid()) {
			t.Errorf("%s is still there as process %d", p.name, p.pid())
		}
	}
	if measure.Alive(j.keeper.cmd.Process.Pid) {
		t.Error("the keeper is still there")
	}
	for _, port := range []int{j.ports.Port, j.ports.ControllerPort, j.ports.ZooKeeperPort, j.ports.JolokiaPort} {
		if listens(port) {
			t.Errorf("something listens on port %d", port)
		}
	}
	if exists(j.dir) {
		t.Errorf("%s is still there", j.dir)
	}
}

// The first try's client port is taken by us, which is what a port lost between choice and use looks like.
func TestPortRaceThenStop(t *testing.T) {
	for release, tier := range map[string]int{compose.DefaultRelease: 1, compose.LegacyRelease: 2} {
		t.Run(release, func(t *testing.T) {
			o := needCache(t, tier)
			taken, err := net.Listen("tcp4", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer taken.Close()
			o.FixedPort = taken.Addr().(*net.TCPAddr).Port
			var said []string
			o.Progress = func(line string) {
				t.Logf("%s: %s", time.Now().Format("05.000"), line)
				said = append(said, line)
			}
			b, err := StartJVM(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			j := b.(*jvm)
			if j.ports.Port == o.FixedPort || !strings.Contains(strings.Join(said, "\n"), "a port was taken") {
				t.Errorf("port %d, said %q", j.ports.Port, said)
			}
			for range 2 {
				if err := b.Stop(context.Background()); err != nil {
					t.Error(err)
				}
			}
			wantNothingLeft(t, j)
			select {
			case <-b.Exited():
				t.Error("a broker that was stopped is said to have ended by itself")
			default:
			}
			wantNoFolders(t)
		})
	}
}

// wantNoFolders: apart from those of the brokers that the tests share, this process has left none.
func wantNoFolders(t *testing.T) {
	t.Helper()
	ours := map[string]bool{}
	for _, s := range []*shared{modern, legacy} {
		if j, ok := s.broker.(*jvm); ok {
			ours[j.dir] = true
		}
	}
	for _, dir := range ownFolders() {
		if !ours[dir] {
			t.Errorf("%s was left", dir)
		}
	}
}

func ownFolders() []string {
	var dirs []string
	for _, base := range folderBases() {
		entries, _ := os.ReadDir(base)
		for _, entry := range entries {
			if strings.HasPrefix(entry.Name(), ownerPrefix()) {
				dirs = append(dirs, base+"/"+entry.Name())
			}
		}
	}
	return dirs
}

// Cancelled as soon as there is a folder, a first process, a second one.
func TestCancelledInMidStart(t *testing.T) {
	for _, test := range []struct {
		name      string
		tier      int
		processes int
	}{{"first process", 1, 1}, {"broker", 1, 2}, {"ZooKeeper", 2, 1}, {"broker beside ZooKeeper", 2, 2}} {
		t.Run(test.name, func(t *testing.T) {
			o := needCache(t, test.tier)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var seen []int
			o.Progress = func(line string) {
				if _, after, ok := strings.Cut(line, "(process "); ok {
					pid, err := strconv.Atoi(strings.TrimSuffix(after, ")"))
					if err != nil {
						t.Error(err)
					}
					if seen = append(seen, pid); len(seen) == test.processes {
						cancel()
					}
				}
			}
			b, err := StartJVM(ctx, o)
			if err == nil || b != nil || !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v, %v; want context.Canceled", b, err)
			}
			if len(seen) != test.processes {
				t.Errorf("%d processes were started, want %d", len(seen), test.processes)
			}
			for _, pid := range seen {
				if measure.Alive(pid) {
					t.Errorf("process %d is still there", pid)
				}
			}
			wantNoFolders(t)
		})
	}
}

func TestBrokerThatDies(t *testing.T) {
	o := needCache(t, 1)
	b, err := StartJVM(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(b.PID(), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-b.Exited():
	case <-time.After(30 * time.Second):
		t.Error("nobody noticed")
	}
	if len(b.LogTail(10)) != 10 {
		t.Errorf("log %q", b.LogTail(10))
	}
	if err := b.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	wantNothingLeft(t, b.(*jvm))
}

// A start that can't succeed: the broker ends by itself, which is noticed at once, with its last words.
func TestBrokerThatCannotStart(t *testing.T) {
	o := needCache(t, 1)
	s, err := prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	s.jars = t.TempDir() // no Kafka on the class path
	_, err = s.try(t.Context(), 0)
	if err == nil || !strings.Contains(err.Error(), "ended by itself") || !strings.Contains(err.Error(), "ClassNotFoundException") {
		t.Errorf("got %v", err)
	}
	wantNoFolders(t)
}

// SIGKILL leaves no time for anything: the kernel ends the JVMs, the keeper removes the folder.
func TestKilledParent(t *testing.T) {
	for _, tier := range []int{1, 2} {
		t.Run(fmt.Sprintf("tier %d", tier), func(t *testing.T) {
			needCache(t, tier)
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), victimVariable+"="+strconv.Itoa(tier))
			cmd.Stderr = os.Stderr
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := measure.StartPinned(cmd, nil); err != nil {
				t.Fatal(err)
			}
			var lines []string
			for scanner := bufio.NewScanner(out); scanner.Scan() && scanner.Text() != "ready"; {
				lines = append(lines, scanner.Text())
			}
			if len(lines) < 2 {
				t.Fatalf("the victim said %q", lines)
			}
			dir := lines[0]
			var pids []int
			for _, line := range lines[1:] {
				pid, err := strconv.Atoi(line)
				if err != nil || !measure.Alive(pid) {
					t.Fatalf("process %q of the victim is not there", line)
				}
				pids = append(pids, pid)
			}
			if !exists(dir) {
				t.Fatalf("%s is not there", dir)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			for _, pid := range pids {
				eventually(t, fmt.Sprintf("process %d has ended", pid), func() bool { return !measure.Alive(pid) })
			}
			eventually(t, dir+" is gone", func() bool { return !exists(dir) })
		})
	}
}

func TestSweepTakesOrphansOnly(t *testing.T) {
	base := t.TempDir()
	namespace, pid := pidNamespace(), os.Getpid()
	ticks, ok := measure.StartTicks(pid)
	if !ok {
		t.Skip("NOT TESTED: this platform has no start times of processes, by which an orphan's owner is told from another process")
	}
	gone := exec.Command("/bin/sh", "-c", "exit 0")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	name := func(namespace string, pid int, ticks uint64) string {
		return fmt.Sprintf("%s%s-%d-%d-123", folderPrefix, namespace, pid, ticks)
	}
	for dir, wantKept := range map[string]bool{
		name(namespace, gone.Process.Pid, 5): false,
		name(namespace, pid, ticks-1):        false, // the id was given out again
		name(namespace, pid, ticks):          true,
		name("1", gone.Process.Pid, 5):       true, // another namespace's: we can't know
		folderPrefix + "notes":               true,
		folderPrefix + "1-2-3-4-5":           true,
		"somebody-elses":                     true,
	} {
		if err := os.Mkdir(base+"/"+dir, 0o700); err != nil {
			t.Fatal(err)
		}
		sweep([]string{base}, func(string) {})
		if exists(base+"/"+dir) != wantKept {
			t.Errorf("%s: kept %v, want %v", dir, !wantKept, wantKept)
		}
	}
}
