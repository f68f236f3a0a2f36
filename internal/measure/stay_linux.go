package measure

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// StayOn moves every thread of this process to the given CPUs; threads that start later inherit it. It keeps the orchestrator off the
// worker's CPU while a batch runs. An empty list moves nothing. Children started with StartPinned get their own CPUs. The
// function that comes back undoes it.
func StayOn(cpus []int) (undo func(), err error) {
	before := AllowedCPUs()
	if len(cpus) == 0 {
		return func() {}, nil
	}
	return func() { moveAll(before) }, moveAll(cpus)
}

func moveAll(cpus []int) error {
	var set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	// A thread that starts while the list is walked inherits from one that may not have moved yet: twice finds it.
	for range 2 {
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return fmt.Errorf("cannot list this process's threads: %w", err)
		}
		for _, task := range tasks {
			id, err := strconv.Atoi(task.Name())
			if err != nil {
				continue
			}
			if err := unix.SchedSetaffinity(id, &set); err != nil && err != unix.ESRCH {
				return fmt.Errorf("cannot move the orchestrator to CPUs %v: %w", cpus, err)
			}
		}
	}
	return nil
}
