// Package lock keeps two runs from measuring on one host at the same time: each would be the other's noise.
//
// The lock is an flock on a file, so that it goes with its process however that ends; the file also says who holds it.
// A pid file alone was rejected: after a SIGKILL it names a process that is gone, or by then another one.
package lock

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Held is a lock that this process has.
type Held struct {
	file *os.File
	path string
}

// BusyError says that another process has the lock.
type BusyError struct {
	Path  string
	PID   int    // 0 where the holder has not written it
	Since string // RFC 3339, "" where unknown
}

func (e *BusyError) Error() string {
	who := "another run"
	if e.PID != 0 {
		who = fmt.Sprintf("process %d", e.PID)
	}
	if e.Since != "" {
		who += ", started " + e.Since + ","
	}
	return fmt.Sprintf("%s is running on this host and would disturb the figures; wait for it or end it (it holds %s)", who, e.Path)
}

// Acquire takes the lock or fails at once. The error is a *BusyError where another process holds it.
func Acquire(path string, pid int, now time.Time) (*Held, error) {
	for {
		file, err := open(path)
		if err != nil {
			return nil, err
		}
		held, err := take(file, path, pid, now)
		if held != nil || err != nil {
			return held, err
		}
	}
}

// open opens the lock for every user of the host, whoever made it. One that may not be written can still be locked; and the kernel may refuse
// O_CREATE on another user's file in /tmp (fs.protected_regular) where it lets the same file be opened.
func open(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	for _, mode := range []int{os.O_RDWR, os.O_RDONLY} {
		if errors.Is(err, fs.ErrPermission) {
			file, err = os.OpenFile(path, mode, 0)
		}
	}
	if errors.Is(err, fs.ErrPermission) {
		if _, made := os.Lstat(path); made == nil {
			return nil, fmt.Errorf("lock file %s: permission denied: another user's run made it; when that has ended and the file is still there, have it removed", path)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("lock file %s: %w; name another one with PROTOCOL_BENCH_LOCK", path, withoutPath(err))
	}
	_ = file.Chmod(0o666) // against the umask; only the owner can, and has
	return file, nil
}

// take locks an opened file. It gives nothing at all when the file was removed between opening and locking: the
// holder before us unlinks it while it still has the lock, and a lock on an unlinked file keeps nobody out.
func take(file *os.File, path string, pid int, now time.Time) (*Held, error) {
	err := flock(file)
	if errors.Is(err, unix.EWOULDBLOCK) {
		busy := holder(file, path)
		file.Close()
		return nil, busy
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("lock file %s cannot be locked: %w; name one on a local file system with PROTOCOL_BENCH_LOCK", path, err)
	}
	if !sameFile(file, path) {
		file.Close()
		return nil, nil
	}
	line := fmt.Sprintf("%d %s\n", pid, now.UTC().Format(time.RFC3339))
	// EINVAL: it was opened for reading only. It keeps the line of the other user's run that left it, and locks all the same.
	if err := rewrite(file, line); err != nil && !errors.Is(err, unix.EINVAL) {
		file.Close()
		return nil, fmt.Errorf("lock file %s cannot be written: %w", path, withoutPath(err))
	}
	return &Held{file: file, path: path}, nil
}

// Release removes the file and gives the lock back, in this order: the other way round would unlink a file that the
// next process has locked already. It may be called more than once.
func (h *Held) Release() error {
	if h == nil || h.file == nil {
		return nil
	}
	err := os.Remove(h.path)
	closed := h.file.Close()
	h.file = nil
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) { // in /tmp only its maker may remove it
		err = nil
	}
	return errors.Join(err, closed)
}

func flock(file *os.File) error {
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func sameFile(file *os.File, path string) bool {
	mine, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(mine, named)
}

func rewrite(file *os.File, line string) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt([]byte(line), 0)
	return err
}

// holder reads who has the lock. Between its flock and its write the holder's file is empty or has the line of a
// process that was killed, for some microseconds: an empty one is read again, a few times.
func holder(file *os.File, path string) *BusyError {
	busy := &BusyError{Path: path}
	for range 50 {
		text, err := io.ReadAll(io.NewSectionReader(file, 0, 256))
		if err != nil {
			return busy
		}
		fields := strings.Fields(string(text))
		if len(fields) == 2 && strings.HasSuffix(string(text), "\n") {
			busy.PID, _ = strconv.Atoi(fields[0])
			busy.Since = fields[1]
			return busy
		}
		time.Sleep(2 * time.Millisecond)
	}
	return busy
}

// withoutPath drops the path that an *os.PathError repeats.
func withoutPath(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
