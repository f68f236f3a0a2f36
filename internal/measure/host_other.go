//go:build unix && !linux

package measure

// SampleHost has the wall clock only: steal and load come from /proc.
func SampleHost() HostSample { return HostSample{WallNs: monotonicNs()} }

// SampleCPUs has the wall clock only.
func SampleCPUs([]int) CPUSample { return CPUSample{WallNs: monotonicNs()} }

// MemoryStallNs is not known here.
func MemoryStallNs() (int64, bool) { return 0, false }

// Siblings are not known here.
func Siblings([]int) []int { return nil }

// FrequencyKHz is not known here.
func FrequencyKHz(int) int64 { return 0 }

func cpuModel() string { return "" }

func memoryBytes() uint64 { return 0 }

func missing() []string {
	return []string{
		"CPU affinity (broker and worker share all CPUs)",
		"a process's CPU clock read from outside (the worker's own word only; no broker CPU)",
		"steal and load, and what other programs do on the worker's CPUs",
		"memory pressure and CPU frequency",
		"TCP segment counters",
		"an end of the children at the parent's SIGKILL (they notice it by their parent process id)",
	}
}
