package measure

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

func runOnOneThread(tasks <-chan func()) {
	runtime.LockOSThread() // and never unlocked: see starter
	for task := range tasks {
		task()
	}
}

func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// startOn runs on the starter's thread: it takes on the child's affinity, forks, and takes its own back.
func startOn(cmd *exec.Cmd, cpus []int) error {
	if len(cpus) == 0 {
		return cmd.Start()
	}
	var before, during unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return fmt.Errorf("cannot read the CPU affinity: %w", err)
	}
	for _, cpu := range cpus {
		during.Set(cpu)
	}
	if err := unix.SchedSetaffinity(0, &during); err != nil {
		return fmt.Errorf("cannot run %s on CPUs %v: %w", cmd.Path, cpus, err)
	}
	err := cmd.Start()
	if back := unix.SchedSetaffinity(0, &before); back != nil && err == nil {
		err = fmt.Errorf("cannot restore the CPU affinity: %w", back)
	}
	return err
}

// AllowedCPUs are the CPUs that this process may use, in order.
func AllowedCPUs() []int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &set); err != nil {
		return nil
	}
	var cpus []int
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}
