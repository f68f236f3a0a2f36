package selftest

import (
	"os/exec"
	"runtime"

	"protocolbench/tiers"
)

// busyCores starts a busy loop per core in processes of their own, for as long as the run lasts.
func busyCores(s *stage, _ *tiers.Config) {
	for range runtime.NumCPU() {
		loop := exec.Command("sh", "-c", "while :; do :; done")
		if loop.Start() != nil {
			continue // then nothing is planted, and the row says that nobody objected
		}
		s.cleanup = append(s.cleanup, func() {
			_ = loop.Process.Kill()
			_ = loop.Wait()
		})
	}
}
