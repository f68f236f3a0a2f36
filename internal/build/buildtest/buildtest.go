// Package buildtest makes checkouts of the client for tests, and plants faults in them.
package buildtest

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Checkout makes a folder a checkout of the client's release in go.mod: with its kmsg where a checkout has it, and writable.
func Checkout(t testing.TB, dir string) {
	t.Helper()
	for path, to := range map[string]string{"github.com/twmb/franz-go": "", "github.com/twmb/franz-go/pkg/kmsg": "pkg/kmsg"} {
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", path).Output()
		if err != nil {
			t.Fatalf("finding the sources of %s: %v", path, err)
		}
		copyTree(t, strings.TrimSpace(string(out)), filepath.Join(dir, to))
	}
}

func copyTree(t testing.TB, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if base := entry.Name(); base == "examples" || base == "docs" || base == "testdata" {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), content, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Edit replaces a text in a file that has it exactly once.
func Edit(t testing.TB, file, old, replacement string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(content), old); n != 1 {
		t.Fatalf("%s has %q %d times, want once", file, old, n)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(content), old, replacement, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}
