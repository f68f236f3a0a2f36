package broker

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"protocolbench/internal/measure"
)

const (
	folderPrefix = "protocolbench-broker-"
	memoryDir    = "/dev/shm"
	// roomBytes is what a standard run's largest block and its topics take, with room to spare.
	roomBytes = 2 << 30
)

// folderBases are the places where a broker's folder may be: memory first.
func folderBases() []string { return []string{memoryDir, os.TempDir()} }

// newFolder makes a broker's private folder, in memory where there is room. Its name carries the owner's process id and start time, so
// that a later run can tell an orphan from a folder in use.
func newFolder() (string, error) {
	base := os.TempDir()
	var stat unix.Statfs_t
	if err := unix.Statfs(memoryDir, &stat); err == nil && stat.Bavail*uint64(stat.Bsize) >= roomBytes {
		base = memoryDir
	}
	dir, err := os.MkdirTemp(base, ownerPrefix()+"*") // 0700
	if err != nil && base == memoryDir {
		dir, err = os.MkdirTemp(os.TempDir(), ownerPrefix()+"*")
	}
	if err != nil {
		return "", fmt.Errorf("cannot make a folder for the broker's data: %w", err)
	}
	return dir, nil
}

// ownerPrefix is PREFIX-NAMESPACE-PID-TICKS-: process ids mean something only within their namespace, and /dev/shm or the temp folder may
// be shared with a container that has another one.
func ownerPrefix() string {
	ticks, _ := measure.StartTicks(os.Getpid())
	return fmt.Sprintf("%s%s-%d-%d-", folderPrefix, pidNamespace(), os.Getpid(), ticks)
}

func pidNamespace() string {
	link, err := os.Readlink("/proc/self/ns/pid") // "pid:[4026531836]"
	if err != nil {
		return "0"
	}
	return strings.Trim(strings.TrimPrefix(link, "pid:"), "[]")
}

// sweep removes the folders of owners that are gone, and nothing else. Their keepers have normally done so already; one that was killed has not.
func sweep(bases []string, say func(string)) {
	for _, base := range bases {
		entries, err := os.ReadDir(base)
		if err != nil {
			continue
		}
		for _, entry := range entries {
			if entry.IsDir() && isOrphan(entry.Name()) {
				path := filepath.Join(base, entry.Name())
				if err := os.RemoveAll(path); err == nil {
					say("removed " + path + ", left by a run that was killed")
				}
			}
		}
	}
}

func isOrphan(name string) bool {
	rest, ok := strings.CutPrefix(name, folderPrefix)
	fields := strings.Split(rest, "-")
	if !ok || len(fields) != 4 || fields[0] != pidNamespace() {
		return false
	}
	pid, errPid := strconv.Atoi(fields[1])
	ticks, errTicks := strconv.ParseUint(fields[2], 10, 64)
	if errPid != nil || errTicks != nil || pid <= 0 {
		return false
	}
	started, known := measure.StartTicks(pid)
	if !measure.Alive(pid) {
		return true
	}
	return known && started != ticks // the process id was given out again
}

// keeper is a small shell that outlives us if we are killed: then its standard input ends, and it kills the broker's process groups and
// removes the folder. The kernel ends the processes by itself on Linux (Pdeathsig); the folder, gigabytes of memory, nobody would.
type keeper struct {
	cmd   *exec.Cmd
	mu    sync.Mutex
	stdin io.WriteCloser
}

// The script reads "group PGID" lines; "end" means that there is nothing left to do. A dying JVM may write once more, hence the repeats.
const keeperScript = `trap '' HUP INT TERM
groups=
while read -r word value; do
  case $word in
    group) groups="$groups $value" ;;
    end) exit 0 ;;
  esac
done
for group in $groups; do kill -9 -- "-$group" 2>/dev/null; done
for try in 1 2 3 4 5 6 7 8 9 10; do
  rm -rf -- "$1" 2>/dev/null && exit 0
  sleep 0.2
done`

func startKeeper(dir string) (*keeper, error) {
	cmd := exec.Command("/bin/sh", "-c", keeperScript, "protocolbench-keeper", dir)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	// A group of its own: Ctrl-C and a kill of ours must not reach it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start /bin/sh to clean up after us: %w", err)
	}
	return &keeper{cmd: cmd, stdin: stdin}, nil
}

// watch adds a process group that has to go when we do.
func (k *keeper) watch(pgid int) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, err := fmt.Fprintf(k.stdin, "group %d\n", pgid)
	return err
}

// dismiss ends the keeper with nothing done: we have cleaned up ourselves, and process ids may have been given out again.
func (k *keeper) dismiss() {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, _ = io.WriteString(k.stdin, "end\n")
	_ = k.stdin.Close()
	_ = k.cmd.Wait()
}

// act makes the keeper do its work while we live: it is left alone with processes that don't end.
func (k *keeper) act() {
	k.mu.Lock()
	defer k.mu.Unlock()
	_ = k.stdin.Close()
	go func() { _ = k.cmd.Wait() }()
}
