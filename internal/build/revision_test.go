package build

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

func TestRevision(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("NOT TESTED: there is no git here, so no checkout has a revision: install git")
	}
	dir := t.TempDir()
	do := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	file := filepath.Join(dir, "go.mod")
	os.WriteFile(file, []byte("module "+modulePath+"\n"), 0o644)
	ask := func(dir string, env ...string) string {
		return revision(context.Background(), append(os.Environ(), env...), dir)
	}
	if got := ask(dir); got != "" {
		t.Errorf("a folder without a repository has the revision %q", got)
	}
	do("init", "-q")
	do("add", "go.mod")
	do("commit", "-q", "-m", "x")
	clean := ask(dir)
	if !regexp.MustCompile(`^[0-9a-f]{12}$`).MatchString(clean) {
		t.Errorf("revision %q", clean)
	}
	// A hook's repository is not the checkout's.
	if got := ask(dir, "GIT_DIR="+t.TempDir()); got != clean {
		t.Errorf("with another GIT_DIR it is %q", got)
	}
	index, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(file, []byte("module "+modulePath+" // edited\n"), 0o644)
	if got := ask(dir); got != clean+"-dirty" {
		t.Errorf("edited: %q", got)
	}
	if now, err := os.ReadFile(filepath.Join(dir, ".git", "index")); err != nil || !bytes.Equal(index, now) {
		t.Error("asking changed the repository's index")
	}
	within := filepath.Join(dir, "copy")
	os.MkdirAll(within, 0o755)
	os.WriteFile(filepath.Join(within, "go.mod"), []byte("module "+modulePath+"\n"), 0o644)
	if got := ask(within); got != "" {
		t.Errorf("a copy that lies in a repository of something else has its revision %q", got)
	}
}
