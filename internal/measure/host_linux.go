package measure

import (
	"os"
	"slices"
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

// SampleCPUs reads what some CPUs have done. It takes some tens of microseconds.
func SampleCPUs(cpus []int) CPUSample {
	content, err := os.ReadFile("/proc/stat")
	if err != nil {
		return CPUSample{WallNs: monotonicNs()}
	}
	sample := cpusOf(string(content), cpus)
	sample.WallNs = monotonicNs()
	return sample
}

// cpusOf sums the lines of some CPUs: "cpuN user nice system idle iowait irq softirq steal ...". Interrupts are left out: those of a client's own traffic are among them, and not in
// its process's time.
func cpusOf(stat string, cpus []int) CPUSample {
	var sample CPUSample
	found := 0
	for line := range strings.Lines(stat) {
		fields := strings.Fields(line)
		if len(fields) < 9 || !strings.HasPrefix(fields[0], "cpu") {
			continue
		}
		number, err := strconv.Atoi(fields[0][len("cpu"):])
		if err != nil || !slices.Contains(cpus, number) {
			continue
		}
		var ticks [9]int64
		for i := 1; i < len(ticks); i++ {
			if ticks[i], err = strconv.ParseInt(fields[i], 10, 64); err != nil {
				return CPUSample{}
			}
		}
		sample.BusyNs += (ticks[1] + ticks[2] + ticks[3]) * tickNs
		sample.StealNs += ticks[8] * tickNs
		found++
	}
	sample.OK = found > 0 && found == len(cpus)
	return sample
}

// MemoryStallNs is how long some task has waited for memory so far (pressure stall information); false on kernels without it.
func MemoryStallNs() (int64, bool) {
	content, err := os.ReadFile("/proc/pressure/memory")
	if err != nil {
		return 0, false
	}
	return stallOf(string(content))
}

// stallOf reads "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345", in microseconds.
func stallOf(pressure string) (int64, bool) {
	line, _, _ := strings.Cut(pressure, "\n")
	_, total, found := strings.Cut(line, "total=")
	us, err := strconv.ParseInt(strings.TrimSpace(total), 10, 64)
	return us * int64(time.Microsecond), found && err == nil && strings.HasPrefix(line, "some ")
}

// Siblings are the CPUs that share a core with one of some CPUs, those CPUs among them; nil where that is not told.
func Siblings(cpus []int) []int {
	var all []int
	for _, cpu := range cpus {
		content, err := os.ReadFile("/sys/devices/system/cpu/cpu" + strconv.Itoa(cpu) + "/topology/thread_siblings_list")
		if err != nil {
			return nil
		}
		for _, n := range listOf(strings.TrimSpace(string(content))) {
			if !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	slices.Sort(all)
	return all
}

// listOf reads "0-1,4".
func listOf(text string) []int {
	var list []int
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		last := first
		if isRange && err == nil {
			last, err = strconv.Atoi(to)
		}
		if err != nil {
			return nil
		}
		for n := first; n <= last; n++ {
			list = append(list, n)
		}
	}
	return list
}

// FrequencyKHz is that of a CPU now, 0 where the kernel doesn't say, as in most virtual machines.
func FrequencyKHz(cpu int) int64 {
	content, err := os.ReadFile("/sys/devices/system/cpu/cpu" + strconv.Itoa(cpu) + "/cpufreq/scaling_cur_freq")
	if err != nil {
		return 0
	}
	kHz, _ := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64)
	return kHz
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

func missing() []string {
	var list []string
	if _, ok := MemoryStallNs(); !ok {
		list = append(list, "memory pressure (this kernel has no /proc/pressure)")
	}
	if FrequencyKHz(0) == 0 {
		list = append(list, "CPU frequency (no cpufreq, as in most virtual machines)")
	}
	return list
}
