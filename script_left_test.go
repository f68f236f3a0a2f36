package protocolbench_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"protocolbench/internal/broker"
	"protocolbench/internal/record"
)

// markName is set in a script's environment to a value of its own, which every process of the script inherits. It doesn't begin with
// PROTOCOL_BENCH_, since the program refuses variables that it doesn't know.
const markName = "NOLEFT_MARK"

// orphansBefore is the key of the orphaned folders that were there before a script began.
type orphansBefore struct{}

// grace is how long the kernel may take to bury processes that are dying already; nothing passes or fails by being quick.
const grace = 10 * time.Second

// noleft fails when the script left a process, an open port, a lock or a folder.
func noLeft(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: noleft")
	}
	work := ts.Getenv("WORK")
	var left []string
	for deadline := time.Now().Add(grace); ; time.Sleep(50 * time.Millisecond) {
		left = slices.Concat(markedProcesses(ts.Getenv(markName)), openPorts(work), without(orphanedFolders(), ts.Value(orphansBefore{}).([]string)))
		if len(left) == 0 || time.Now().After(deadline) {
			break
		}
	}
	if _, err := os.Lstat(ts.Getenv("PROTOCOL_BENCH_LOCK")); err == nil {
		left = append(left, "the lock file")
	}
	left = append(left, filesBelow(ts.Getenv("TMPDIR"))...)
	if len(left) > 0 {
		ts.Fatalf("left behind:\n%s", strings.Join(left, "\n"))
	}
}

// markedProcesses lists the processes that have the script's mark in their environment.
func markedProcesses(mark string) []string {
	var found []string
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range environments {
		environ, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(environ, []byte(markName+"="+mark+"\x00")) {
			continue
		}
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		found = append(found, fmt.Sprintf("process %s: %.120s", filepath.Base(filepath.Dir(file)), bytes.ReplaceAll(command, []byte{0}, []byte{' '})))
	}
	return found
}

// openPorts dials every address that the script's records name of brokers which the program started itself.
func openPorts(work string) []string {
	var open []string
	records, _ := filepath.Glob(filepath.Join(work, "*", "*", "run.jsonl"))
	for _, path := range records {
		run, err := record.Read(path)
		if err != nil {
			continue
		}
		for _, b := range run.Brokers {
			if b.Provider == broker.ProviderAttached {
				continue
			}
			for _, address := range append(slices.Clone(b.Addresses), hostOf(b.JolokiaURL)) {
				if address == "" {
					continue
				}
				if connection, err := net.Dial("tcp", address); err == nil {
					connection.Close()
					open = append(open, "port "+address)
				}
			}
		}
	}
	return open
}

func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

func filesBelow(dir string) []string {
	var found []string
	filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && path != dir {
			found = append(found, path)
		}
		return nil
	})
	return found
}

// orphanedFolders gives the data folders on the memory-backed disk whose owner is gone. Others may be measuring on this host: a folder in use
// is theirs, and its name has the owner's process id.
func orphanedFolders() []string {
	var orphaned []string
	found, _ := filepath.Glob("/dev/shm/protocolbench-broker-*")
	for _, folder := range found {
		fields := strings.Split(filepath.Base(folder), "-") // protocolbench-broker-NAMESPACE-PID-TICKS-RANDOM
		pid := 0
		if len(fields) == 6 {
			pid, _ = strconv.Atoi(fields[3])
		}
		if pid <= 0 || syscall.Kill(pid, 0) != nil {
			orphaned = append(orphaned, "folder "+folder)
		}
	}
	return orphaned
}

func without(list, drop []string) []string {
	return slices.DeleteFunc(list, func(item string) bool { return slices.Contains(drop, item) })
}
