//go:build unix && !linux

package measure

import (
	"errors"

	"golang.org/x/sys/unix"
)

// ProcessCPUNs has no counterpart here that reads another process's clock without its 10 ms steps.
func ProcessCPUNs(int) (int64, bool) { return 0, false }

// PeakRSSBytes is the largest resident size of this process so far.
func PeakRSSBytes() uint64 {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return uint64(usage.Maxrss) // bytes on macOS
}

// OpenFiles needs /proc.
func OpenFiles() int { return 0 }

// StartTicks needs /proc.
func StartTicks(int) (uint64, bool) { return 0, false }

// Alive tells whether a process exists.
func Alive(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := unix.Kill(pid, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}
