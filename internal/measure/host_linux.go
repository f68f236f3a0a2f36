package measure

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// tickNs is the unit of /proc/stat: USER_HZ is 100 on every architecture that Go supports.
const tickNs = int64(10 * time.Millisecond)

// SampleHost reads the host's state. Differences of two samples are what means something; Load1 stands for itself.
func SampleHost() HostSample {
	sample := HostSample{WallNs: monotonicNs()}
	if content, err := os.ReadFile("/proc/stat"); err == nil {
		line, _, _ := strings.Cut(string(content), "\n")
		// "cpu user nice system idle iowait irq softirq steal ..."
		if fields := strings.Fields(line); len(fields) > 8 && fields[0] == "cpu" {
			ticks, _ := strconv.ParseInt(fields[8], 10, 64)
			sample.StealNs = ticks * tickNs
		}
	}
	if content, err := os.ReadFile("/proc/loadavg"); err == nil {
		first, _, _ := strings.Cut(string(content), " ")
		sample.Load1, _ = strconv.ParseFloat(first, 64)
	}
	return sample
}

func cpuModel() string {
	content, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(content)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "" // arm64 has no such line
}

func memoryBytes() uint64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return uint64(info.Totalram) * uint64(info.Unit)
}

func missing() []string { return nil }
