package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

// TestMain makes the test binary a process that says which of its signals would end its context, too.
func TestMain(m *testing.M) {
	if os.Getenv("CLI_TEST_SIGNAL") == "" {
		os.Exit(m.Run())
	}
	ctx, _ := interruptible(context.Background(), io.Discard)
	fmt.Printf("HUP ignored: %v, INT ignored: %v", signal.Ignored(syscall.SIGHUP), signal.Ignored(syscall.SIGINT))
	if os.Getenv("CLI_TEST_SIGNAL") == "ignored" {
		syscall.Kill(os.Getpid(), syscall.SIGINT)
		syscall.Kill(os.Getpid(), syscall.SIGTERM)
	} else {
		syscall.Kill(os.Getpid(), syscall.SIGHUP)
	}
	<-ctx.Done()
	fmt.Print(", interrupted")
	os.Exit(0)
}

// nohup has SIGHUP ignored, and a script's background job SIGINT: both are to stay so.
func TestInheritedIgnoredSignals(t *testing.T) {
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP, syscall.SIGINT) // what this process catches is not ignored in its children, also under nohup
	defer signal.Stop(heard)
	for mode, want := range map[string]string{
		"ignored": "HUP ignored: true, INT ignored: true, interrupted",
		"heeded":  "HUP ignored: false, INT ignored: false, interrupted",
	} {
		trap := map[string]string{"ignored": `trap "" HUP INT; `}[mode]
		child := exec.Command("sh", "-c", trap+`exec "$0"`, executable)
		child.Env = append(os.Environ(), "CLI_TEST_SIGNAL="+mode)
		out, err := child.Output()
		if got := string(out); err != nil || got != want {
			t.Errorf("%s: %q, %v", mode, got, err)
		}
	}
}
