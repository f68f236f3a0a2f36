//go:build unix

package measure

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestSelfCPUCountsWorkAndNotSleep(t *testing.T) {
	before := SelfCPUNs()
	burn(20 * time.Millisecond)
	if worked := SelfCPUNs() - before; worked < 20e6 {
		t.Errorf("20 ms of work counted as %d ns", worked)
	}
}

// The outside clock of a process includes a thread that has ended, and is at least what the process read itself.
func TestOutsideClockSeesEndedThreads(t *testing.T) {
	onLinux(t)
	cmd, line := self(t, "burner")
	inside, err := strconv.ParseInt(line, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	outside, ok := ProcessCPUNs(cmd.Process.Pid)
	if !ok || inside < 100e6 || outside < inside {
		t.Errorf("outside %d ns (%v), inside %d ns before that", outside, ok, inside)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if ns, ok := ProcessCPUNs(cmd.Process.Pid); ok {
		t.Errorf("a process that is gone has a clock: %d", ns)
	}
	if _, ok := ProcessCPUNs(0); ok {
		t.Error("process 0 has a clock")
	}
}

func TestStartTicksAndAlive(t *testing.T) {
	if !Alive(os.Getpid()) || Alive(0) || Alive(-1) {
		t.Error("Alive is wrong about this process, or about none")
	}
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	if runtime.GOOS == "linux" {
		eventually(t, "a zombie is not alive", func() bool { return !Alive(pid) })
	}
	_ = cmd.Wait()
	if Alive(pid) {
		t.Error("a process that was waited for is alive")
	}
	onLinux(t)
	first, ok := StartTicks(os.Getpid())
	again, _ := StartTicks(os.Getpid())
	if !ok || first == 0 || first != again {
		t.Errorf("start ticks %d, %d, %v", first, again, ok)
	}
	if _, ok := StartTicks(pid); ok {
		t.Error("a process that is gone has a start time")
	}
}

// A name with spaces and brackets in it stands before the fields.
func TestProcStatOfAnOddName(t *testing.T) {
	onLinux(t)
	path := t.TempDir() + "/a) R (b"
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "60")
	if err := StartPinned(cmd, nil); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	own, _ := StartTicks(os.Getpid())
	if ticks, ok := StartTicks(cmd.Process.Pid); !ok || ticks < own {
		t.Errorf("started at %d (%v), and this process at %d", ticks, ok, own)
	}
}

func TestHostAndMachine(t *testing.T) {
	first, second := SampleHost(), SampleHost()
	if second.WallNs < first.WallNs || first.WallNs == 0 || first.StealNs < 0 || first.Load1 < 0 {
		t.Errorf("samples %+v, %+v", first, second)
	}
	m := Machine()
	if m.OS != runtime.GOOS || m.Arch != runtime.GOARCH || m.Kernel == "" || m.CPUs < 1 || m.GoVersion == "" {
		t.Errorf("machine %+v", m)
	}
	if runtime.GOOS != "linux" && len(m.Missing) == 0 {
		t.Errorf("nothing is missing on %s", m.OS)
	}
	for _, what := range m.Missing { // what some Linux kernels don't say
		if runtime.GOOS == "linux" && !strings.HasPrefix(what, "memory pressure") && !strings.HasPrefix(what, "CPU frequency") {
			t.Errorf("missing on Linux: %q", what)
		}
	}
	if runtime.GOOS == "linux" && (m.MemoryBytes == 0 || PeakRSSBytes() < 1<<20) {
		t.Errorf("memory %d, peak %d", m.MemoryBytes, PeakRSSBytes())
	}
	voluntary, _ := Switches()
	time.Sleep(time.Millisecond)
	if more, _ := Switches(); more <= voluntary {
		t.Errorf("%d voluntary switches after a sleep, %d before", more, voluntary)
	}
}
