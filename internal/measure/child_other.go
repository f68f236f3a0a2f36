//go:build unix && !linux

package measure

import (
	"os/exec"
	"syscall"
)

func runOnOneThread(tasks <-chan func()) {
	for task := range tasks {
		task()
	}
}

// endWithParent: only Linux can. A child here has to watch ParentGone.
func endWithParent(*syscall.SysProcAttr) {}

// startOn ignores the CPUs: there is no affinity here, and Machine says so.
func startOn(cmd *exec.Cmd, _ []int) error { return cmd.Start() }

// AllowedCPUs is nil: there is no affinity here, and nothing will be pinned.
func AllowedCPUs() []int { return nil }
