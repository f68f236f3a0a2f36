package build

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Sources in the cache that are no longer those of their name are not linked into another layout's worker; those that are stay where they are.
func TestSpoiltSourcesAreReplaced(t *testing.T) {
	b := Builder{CacheDir: t.TempDir(), Env: os.Environ(), Now: time.Now}
	tree := mustPrepare(t, b, "franz-go@v1.22.3").cache.tree()
	first, err := os.Stat(tree)
	if err != nil {
		t.Fatal(err)
	}
	mustPrepare(t, b, "franz-go@v1.22.3")
	if again, err := os.Stat(tree); err != nil || !os.SameFile(first, again) {
		t.Error("sources that were whole were replaced")
	}
	hello := filepath.Join(tree, "internal", "client", "franz", "hello.go")
	whole, err := os.ReadFile(hello)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"another": bytes.ReplaceAll(whole, []byte(`"franz-go"`), []byte(`"another"`)), "torn": whole[:100]} {
		if err := os.WriteFile(hello, content, 0o644); err != nil {
			t.Fatal(err)
		}
		built := mustPrepare(t, b, "franz-go@v1.22.3")
		if now, err := os.ReadFile(hello); err != nil || !bytes.Equal(now, whole) {
			t.Errorf("%s: the spoilt source was kept, %v", name, err)
		}
		if _, err := built.Binary(context.Background(), len(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Two runs that begin at once get the same worker, whole.
func TestTwoRunsAtOnce(t *testing.T) {
	dir := t.TempDir()
	spec, err := Parse("franz-go@v1.22.3")
	if err != nil {
		t.Fatal(err)
	}
	mustPrepare(t, builder(t), spec.String()) // the module proxy, where it is needed
	workers := make([][]byte, 3)
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() {
			built, err := Builder{CacheDir: dir, Env: os.Environ(), Now: time.Now}.Prepare(context.Background(), spec)
			if err != nil {
				t.Error(err)
				return
			}
			path, err := built.Binary(context.Background(), 5)
			if err != nil {
				t.Error(err)
				return
			}
			if workers[i], err = os.ReadFile(path); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, other := range workers[1:] {
		if len(other) == 0 || !bytes.Equal(workers[0], other) {
			t.Error("runs that began at once got other workers")
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "builds", "*", scratchName+"*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
