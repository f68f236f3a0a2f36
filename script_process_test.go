package protocolbench_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"protocolbench/internal/record"
	"protocolbench/seed"
)

// hopeless ends a program that a script waits for in vain.
const hopeless = 3 * time.Minute

// when REGEXP SIGNAL TARGET CODE PROGRAM ARGS... runs a program, waits until a line of its standard error matches, then a drawn
// while, sends the signal to the program itself (self), to the newest record's last broker or to its last worker, and checks the exit code. SCRIPT_SEED
// repeats the draw, which is logged.
func when(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 5 {
		ts.Fatalf("usage: when REGEXP SIGNAL TARGET CODE PROGRAM ARGS...")
	}
	moment, err := regexp.Compile(args[0])
	ts.Check(err)
	signal, ok := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL, "STOP": syscall.SIGSTOP}[args[1]]
	if !ok {
		ts.Fatalf("unknown signal %s", args[1])
	}
	number := scriptSeed()
	delay := time.Duration(seed.Stream(number, ts.Name()+args[0]).Int64N(int64(1500 * time.Millisecond)))
	ts.Logf("SCRIPT_SEED=%d: %s to %s %v after the line", number, args[1], args[2], delay)

	command := exec.Command(args[4], args[5:]...)
	if path, err := lookPath(ts, args[4]); err == nil {
		command.Path = path
		command.Err = nil
	}
	command.Dir, command.Env, command.Stdout = ts.MkAbs("."), environmentOf(ts), ts.Stdout()
	stderr, err := command.StderrPipe()
	ts.Check(err)
	ts.Check(command.Start())
	defer time.AfterFunc(hopeless, func() { command.Process.Kill() }).Stop()
	sent := false
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		fmt.Fprintln(ts.Stderr(), lines.Text())
		if !sent && moment.MatchString(lines.Text()) {
			sent = true
			time.Sleep(delay)
			pid, err := target(args[2], command.Process.Pid, ts.MkAbs("."))
			ts.Check(err)
			ts.Check(syscall.Kill(pid, signal))
		}
	}
	command.Wait()
	if !sent {
		ts.Fatalf("no line of standard error matched %q", args[0])
	}
	if code := command.ProcessState.ExitCode(); fmt.Sprint(code) != args[3] {
		ts.Fatalf("ended with %v, want exit code %s", command.ProcessState, args[3])
	}
}

func scriptSeed() uint64 {
	if number, err := strconv.ParseUint(os.Getenv("SCRIPT_SEED"), 10, 64); err == nil {
		return number
	}
	return rand.Uint64N(1 << 32)
}

// target finds the process that a signal is for. A worker is only found while one of its blocks is open.
func target(name string, self int, dir string) (int, error) {
	if name == "self" {
		return self, nil
	}
	path := filepath.Join(dir, "results", "latest", "run.jsonl")
	for range 1000 {
		run, err := record.Read(path)
		if err == nil {
			if pid := newestPID(name, run); pid > 0 && syscall.Kill(pid, 0) == nil {
				return pid, nil
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return 0, fmt.Errorf("the record %s names no living %s", path, name)
}

func newestPID(name string, run *record.Run) int {
	pid := 0
	switch name {
	case "broker":
		for _, b := range run.Brokers {
			pid = b.PID
		}
	case "worker":
		for _, f := range run.Families {
			for _, b := range f.BlockRuns {
				pid = b.WorkerPID
			}
		}
	}
	return pid
}

// environmentOf is a script's environment, as far as a program of ours reads it.
func environmentOf(ts *testscript.TestScript) []string {
	names := []string{"PATH", "HOME", "TMPDIR", "WORK", "JAVA_HOME", markName}
	for _, known := range []string{"LOCK", "CACHE", "SEED", "PROFILE", "BROKERS", "JOLOKIA", "TIER", "ONLY"} {
		names = append(names, "PROTOCOL_BENCH_"+known)
	}
	var environ []string
	for _, name := range names {
		if value := ts.Getenv(name); value != "" {
			environ = append(environ, name+"="+value)
		}
	}
	return environ
}

func lookPath(ts *testscript.TestScript, program string) (string, error) {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		path := filepath.Join(dir, program)
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 && !info.IsDir() {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not on the script's PATH", program)
}

// sharedBroker is one real broker for all scripts that attach, run by `protocolbench broker` as a user would.
type sharedBroker struct {
	once    sync.Once
	err     error
	command *exec.Cmd
	address string
	jolokia string
}

func (b *sharedBroker) start() error {
	b.once.Do(func() {
		b.command = exec.Command(filepath.Join(built, "protocolbench"), "broker")
		b.command.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool {
			return strings.HasPrefix(entry, "PROTOCOL_BENCH_") && !strings.HasPrefix(entry, "PROTOCOL_BENCH_CACHE=")
		})
		b.command.Stderr = os.Stderr
		var stdout io.ReadCloser
		if stdout, b.err = b.command.StdoutPipe(); b.err != nil {
			return
		}
		if b.err = b.command.Start(); b.err != nil {
			return
		}
		lines := bufio.NewScanner(stdout)
		for b.jolokia == "" && lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "addresses":
				b.address = value
			case "jolokia":
				b.jolokia = value
			}
		}
		if b.jolokia == "" {
			b.err = fmt.Errorf("`protocolbench broker` named no Jolokia URL: %v", b.command.Wait())
		}
	})
	return b.err
}

func (b *sharedBroker) stop() {
	if b.command == nil || b.command.Process == nil {
		return
	}
	b.command.Process.Signal(os.Interrupt)
	b.command.Wait()
}

// broker sets $BROKER and $JOLOKIA to a running broker.
func brokerUp(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: broker")
	}
	ts.Check(shared.start())
	ts.Setenv("BROKER", shared.address)
	ts.Setenv("JOLOKIA", shared.jolokia)
}

// jolokia KIND sets $JOLOKIA to a server that is no Jolokia agent: it answers 401, or garbage, or well-formed JSON that is no answer.
func jolokiaJunk(ts *testscript.TestScript, neg bool, args []string) {
	answers := map[string]http.HandlerFunc{
		"401":     func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "who are you?", http.StatusUnauthorized) },
		"garbage": func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>It works!</html>") },
		"json":    func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"status":200,"value":"zero"}`) },
	}
	if neg || len(args) != 1 || answers[args[0]] == nil {
		ts.Fatalf("usage: jolokia 401|garbage|json")
	}
	server := httptest.NewServer(answers[args[0]])
	ts.Defer(server.Close)
	ts.Setenv("JOLOKIA", server.URL+"/jolokia")
}
