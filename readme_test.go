package protocolbench_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The README's examples: blocks marked runnable run as they stand, every command, flag and variable it names exists, and every
// setting that exists is named.

var (
	block    = regexp.MustCompile("(?ms)^```sh( runnable)?\n(.*?)^```$")
	flagName = regexp.MustCompile(`--[a-z][a-z-]*`)
	variable = regexp.MustCompile(`PROTOCOL_BENCH_[A-Z]+`)
	document = regexp.MustCompile(`\b[A-Z]+\.md\b`)
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestReadmeExamplesRun(t *testing.T) {
	ran := 0
	for _, found := range block.FindAllStringSubmatch(readme(t), -1) {
		if found[1] == "" {
			continue
		}
		ran++
		command := exec.Command("sh", "-euc", found[2])
		command.Dir = t.TempDir()
		command.Env = append(withoutSettings(os.Environ()),
			"PATH="+built+string(os.PathListSeparator)+os.Getenv("PATH"), "PROTOCOL_BENCH_LOCK="+filepath.Join(command.Dir, "lock"))
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("%s%v\n%s", found[2], err, out)
		}
	}
	if ran < 2 {
		t.Errorf("%d examples ran; the README marks its cheap ones `sh runnable`", ran)
	}
}

// Other blocks cost minutes or a cluster: their commands and flags have to exist.
func TestReadmeCommandsExist(t *testing.T) {
	for _, found := range block.FindAllStringSubmatch(readme(t), -1) {
		for line := range strings.Lines(found[2]) {
			var program string
			for _, word := range strings.Fields(line) {
				if !strings.Contains(word, "=") {
					program = word
					break
				}
			}
			switch {
			case program == "protocolbench":
				help := helpOf(t, strings.Fields(line)[1])
				for _, name := range flagName.FindAllString(line, -1) {
					if !strings.Contains(help, name+" ") {
						t.Errorf("%q: no flag %s", line, name)
					}
				}
			case program == "go":
				if _, err := os.Stat(strings.Fields(line)[len(strings.Fields(line))-1]); err != nil {
					t.Errorf("%q: %v", line, err)
				}
			default:
				if info, err := os.Stat(program); err != nil || info.Mode()&0o111 == 0 {
					t.Errorf("%q: %s can't be run: %v", line, program, err)
				}
			}
		}
	}
}

func TestReadmeNamesAllSettings(t *testing.T) {
	text, help := readme(t), helpOf(t, "run")
	for _, pattern := range []*regexp.Regexp{flagName, variable} {
		there := pattern.FindAllString(help, -1)
		named := pattern.FindAllString(text, -1)
		for _, name := range there {
			if !slices.Contains(named, name) && name != "--help" {
				t.Errorf("the README does not name %s", name)
			}
		}
		for _, name := range named {
			elsewhere := []string{"PROTOCOL_BENCH_CACHE", "PROTOCOL_BENCH_LOCK", "--json", "--format", "--release"}
			if !slices.Contains(there, name) && !slices.Contains(elsewhere, name) {
				t.Errorf("the README names %s, which does not exist", name)
			}
		}
	}
	for _, name := range document.FindAllString(text, -1) {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("the README names %s: %v", name, err)
		}
	}
}

func helpOf(t *testing.T, command string) string {
	t.Helper()
	help := exec.Command(filepath.Join(built, "protocolbench"), command, "--help")
	help.Env = withoutSettings(os.Environ())
	out, err := help.Output()
	if err != nil || !strings.Contains(string(out), "protocolbench "+command) {
		t.Fatalf("protocolbench %s --help: %v\n%s", command, err, out)
	}
	return string(out)
}

func withoutSettings(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool { return strings.HasPrefix(entry, "PROTOCOL_BENCH_") })
}
