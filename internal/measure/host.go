//go:build unix

package measure

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// HostSample is the host at one moment.
type HostSample struct {
	WallNs  int64   // monotonic
	StealNs int64   // time that the hypervisor gave to others, all CPUs together
	Load1   float64 // load average of one minute
}

// CPUSample is what some CPUs have done so far.
type CPUSample struct {
	WallNs  int64 // monotonic
	BusyNs  int64 // in programs and in the kernel for them, without interrupts
	StealNs int64 // that the hypervisor gave to others
	OK      bool
}

// MachineInfo is what a run ran on.
type MachineInfo struct {
	OS, Arch, Kernel, CPUModel string
	CPUs                       int // that this process may use
	MemoryBytes                uint64
	GoVersion                  string
	// Missing names what this platform lacks, in words.
	Missing []string
}

// Machine describes this machine.
func Machine() MachineInfo {
	info := MachineInfo{
		OS: runtime.GOOS, Arch: runtime.GOARCH, CPUModel: cpuModel(), CPUs: len(AllowedCPUs()),
		MemoryBytes: memoryBytes(), GoVersion: runtime.Version(), Missing: missing(),
	}
	if info.CPUs == 0 {
		info.CPUs = runtime.NumCPU()
	}
	var name unix.Utsname
	if err := unix.Uname(&name); err == nil {
		info.Kernel = unix.ByteSliceToString(name.Release[:])
	}
	return info
}

func monotonicNs() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return ts.Nano()
}
