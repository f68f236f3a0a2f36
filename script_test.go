package protocolbench_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"protocolbench/internal/broker"
)

// built is the folder of the program that the scripts run: the real binary, built once, not this test binary under another name.
var built string

// shared is the broker that scripts attach to; it is started by the first script that asks for it.
var shared sharedBroker

func TestMain(m *testing.M) {
	// Background jobs of a shell start with SIGINT ignored, and children inherit that: the program then rightly stays deaf to the
	// interrupts that the scripts send. A handler here gives the children the default again.
	if signal.Ignored(os.Interrupt) {
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	os.Exit(mainWithBinary(m))
}

func mainWithBinary(m *testing.M) int {
	dir, err := os.MkdirTemp("", "protocolbench-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	built = dir
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "protocolbench"), "./cmd/protocolbench")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the program: %v\n%s", err, out)
		return 1
	}
	defer shared.stop()
	return m.Run()
}

// TestScripts runs the command line's scripts: testdata/script. Each has a temporary folder, a lock and a mark in its environment of its own; `noleft`
// looks for what they would leave behind.
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("scripts start real brokers: left out with -short")
	}
	home := os.Getenv("HOME")
	cache, err := broker.CacheDir(nil)
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			temporary := filepath.Join(env.WorkDir, "tmp")
			if err := os.Mkdir(temporary, 0o700); err != nil {
				return err
			}
			mark := fmt.Sprintf("%d-%s", os.Getpid(), filepath.Base(env.WorkDir))
			env.Setenv("HOME", home)
			env.Setenv("TMPDIR", temporary)
			env.Setenv("PATH", built+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv("ONLYBUILT", built)
			env.Setenv("PROTOCOL_BENCH_LOCK", filepath.Join(env.WorkDir, "lock"))
			env.Setenv(markName, mark)
			env.Setenv("PROTOCOL_BENCH_CACHE", cache)
			env.Values[orphansBefore{}] = orphanedFolders()
			return nil
		},
		Condition: func(condition string) (bool, error) {
			switch condition {
			case "jvm":
				return whyNoJVM() == "", nil
			case "proxy":
				return exec.Command("go", "list", "-m", "github.com/twmb/franz-go@v1.19.0").Run() == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", condition)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":   exits,
			"when":    when,
			"noleft":  noLeft,
			"broker":  brokerUp,
			"jolokia": jolokiaJunk,
			"corrupt": corrupt,
		},
	})
}

// exits CODE PROGRAM ARGS... runs a program and checks its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if exit, ok := err.(*exec.ExitError); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// corrupt FILE flips one byte in the middle of a file, which may be a link: the link is replaced.
func corrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: corrupt FILE")
	}
	found, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(found) == 0 {
		ts.Fatalf("no file %s", args[0])
	}
	content, err := os.ReadFile(found[0])
	ts.Check(err)
	before := bytes.Clone(content)
	content[len(content)/2] ^= 1
	if bytes.Equal(before, content) {
		ts.Fatalf("nothing was changed")
	}
	ts.Check(os.Remove(found[0]))
	ts.Check(os.WriteFile(found[0], content, 0o644))
}

// whyNoJVM says what is missing for a real broker, and how to install it.
func whyNoJVM() string {
	var missing []string
	for program, install := range map[string]string{"java": "apt-get install openjdk-17-jre-headless", "mvn": "apt-get install maven"} {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, fmt.Sprintf("%s is not installed (%s)", program, install))
		}
	}
	return strings.Join(missing, ", ")
}
