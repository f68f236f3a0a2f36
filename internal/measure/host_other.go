//go:build unix && !linux

package measure

// SampleHost has the wall clock only: steal and load come from /proc.
func SampleHost() HostSample { return HostSample{WallNs: monotonicNs()} }

func cpuModel() string { return "" }

func memoryBytes() uint64 { return 0 }

func missing() []string {
	return []string{
		"CPU affinity (broker and worker share all CPUs)",
		"a process's CPU clock read from outside (the worker's own word only; no broker CPU)",
		"steal and load",
		"TCP segment counters",
		"an end of the children at the parent's SIGKILL (they notice it by their parent process id)",
	}
}
