package measure

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ProcessCPUNs reads another process's CPU clock: the time of all its threads, ended ones too, at 1 ns resolution and for 1-3 us a call.
//
// /proc/PID/schedstat was rejected: it is the main thread only, the sum over task/*/schedstat forgets threads that have ended, and
// /proc/PID/stat has steps of 10 ms.
func ProcessCPUNs(pid int) (int64, bool) {
	if pid <= 0 {
		return 0, false
	}
	var ts unix.Timespec
	// The clock id of a process is the complement of its pid and CPUCLOCK_SCHED (clock_getcpuclockid(3)).
	if err := unix.ClockGettime(int32(^pid<<3|2), &ts); err != nil {
		return 0, false
	}
	return ts.Nano(), true
}

// PeakRSSBytes is the largest resident size of this process so far.
func PeakRSSBytes() uint64 {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return uint64(usage.Maxrss) * 1024 // Linux counts in KiB
}

// OpenFiles is how many descriptors this process has open; 0 where nobody can say.
func OpenFiles() int {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil || len(open) == 0 {
		return 0
	}
	return len(open) - 1 // one is that of the reading itself
}

// StartTicks is when a process started, in clock ticks since boot: with the pid it names one process for good.
func StartTicks(pid int) (uint64, bool) {
	fields, ok := procStat(pid)
	if !ok {
		return 0, false
	}
	ticks, err := strconv.ParseUint(fields[19], 10, 64) // field 22; the slice starts at field 3
	return ticks, err == nil
}

// Alive tells whether a process exists and still runs; a zombie does not.
func Alive(pid int) bool {
	fields, ok := procStat(pid)
	return ok && fields[0] != "Z" && fields[0] != "X"
}

// procStat gives /proc/PID/stat from its third field (the state) on. The second, the name, may hold spaces and brackets.
func procStat(pid int) ([]string, bool) {
	if pid <= 0 {
		return nil, false
	}
	content, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil, false
	}
	end := strings.LastIndexByte(string(content), ')')
	if end < 0 {
		return nil, false
	}
	fields := strings.Fields(string(content[end+1:]))
	return fields, len(fields) >= 20
}
