package broker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Missing is something that the machine lacks for the way of having a broker that was asked for.
type Missing struct {
	What    string // "Java 17 or later"
	Install string // the command that installs it
}

func (m *Missing) Error() string { return m.What + "; install it with: " + m.Install }

// oldestJava is what Kafka 4.x needs; 1.1.0 runs on it, too.
const oldestJava = 17

func installJava() string {
	if runtime.GOOS == "darwin" {
		return "brew install openjdk@17"
	}
	return "apt-get install openjdk-17-jre-headless"
}

func installMaven() string {
	if runtime.GOOS == "darwin" {
		return "brew install maven"
	}
	return "apt-get install maven"
}

// environment is what children get and programs are looked up in.
type environment []string

func (e environment) get(name string) string {
	for i := len(e) - 1; i >= 0; i-- { // as with exec, the last one counts
		if key, value, ok := strings.Cut(e[i], "="); ok && key == name {
			return value
		}
	}
	return ""
}

// find looks a program up in the environment's own PATH, which os/exec can't.
func (e environment) find(program string) (string, bool) {
	for _, dir := range filepath.SplitList(e.get("PATH")) {
		if path := filepath.Join(dir, program); dir != "" && isProgram(path) {
			return path, true
		}
	}
	return "", false
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// forBroker leaves out what would change a broker behind our back: its heap, its agents, its options.
func (e environment) forBroker() []string {
	var kept []string
	for _, entry := range e {
		switch key, _, _ := strings.Cut(entry, "="); key {
		case "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH":
		default:
			kept = append(kept, entry)
		}
	}
	return kept
}

// java is a Java runtime that was tried.
type java struct {
	path    string
	version string // "17.0.15"
}

// findJava takes JAVA_HOME's java, else the one in PATH, and asks it for its version.
func findJava(ctx context.Context, env environment) (java, error) {
	path, ok := env.find("java")
	if home := env.get("JAVA_HOME"); home != "" {
		path = filepath.Join(home, "bin", "java")
		if !isProgram(path) {
			return java{}, &Missing{What: fmt.Sprintf("JAVA_HOME is %s, and there is no bin/java: set it right or unset it (Java %d or later is needed)", home, oldestJava), Install: installJava()}
		}
	} else if !ok {
		return java{}, &Missing{What: fmt.Sprintf("there is no java in PATH (Java %d or later is needed for a local broker)", oldestJava), Install: installJava()}
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-version")
	cmd.Env = env.forBroker()
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return java{}, fmt.Errorf("%s -version failed (%w): %s", path, errors.Join(err, ctx.Err()), firstLine(out))
	}
	version, major, ok := parseJavaVersion(string(out))
	if !ok {
		return java{}, fmt.Errorf("%s -version names no version: %s", path, firstLine(out))
	}
	if major < oldestJava {
		return java{}, &Missing{What: fmt.Sprintf("%s is Java %s (Java %d or later is needed)", path, version, oldestJava), Install: installJava()}
	}
	return java{path, version}, nil
}

// Its first line is `openjdk version "17.0.15" 2025-04-15` or, up to Java 8, `java version "1.8.0_292"`; warnings may come before it.
var javaVersion = regexp.MustCompile(`(?m)^\S+ version "((\d+)(?:\.(\d+))?[^"]*)"`)

func parseJavaVersion(text string) (version string, major int, ok bool) {
	found := javaVersion.FindStringSubmatch(text)
	if found == nil {
		return "", 0, false
	}
	major, err := strconv.Atoi(found[2])
	if major == 1 && found[3] != "" {
		major, err = strconv.Atoi(found[3])
	}
	return found[1], major, err == nil
}

func firstLine(out []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if line == "" {
		return "(it printed nothing)"
	}
	return strconv.Quote(line)
}
