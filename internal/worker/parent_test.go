package worker_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"protocolbench/internal/measure"
)

// A shell starts a worker, stays for a second and ends. The worker's standard input is held open by this test, so only the change of its
// parent's process id can end it.
func TestAWorkerEndsWithItsParent(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	shell := exec.Command("/bin/sh", "-c", `"$0" <&3 >/dev/null 2>&1 & echo $!; sleep 1`, memoryWorker(t).Path)
	shell.ExtraFiles = []*os.File{read}
	out, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	read.Close()
	line, _ := bufio.NewReader(out).ReadString('\n')
	var pid int
	if _, err := fmt.Sscan(line, &pid); err != nil {
		t.Fatalf("the shell said %q: %v", line, err)
	}
	if !measure.Alive(pid) {
		t.Errorf("worker %d is gone before its parent", pid)
	}
	if err := shell.Wait(); err != nil {
		t.Fatal(err)
	}
	for range 300 {
		if !measure.Alive(pid) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	process, _ := os.FindProcess(pid)
	process.Kill()
	t.Errorf("worker %d outlives its parent", pid)
}
