package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"protocolbench"
	"protocolbench/internal/build/buildtest"
	"protocolbench/internal/driver"
	"protocolbench/internal/shape"
	"protocolbench/internal/worker"
)

// Whatever of ours the worker imports is embedded: without it an installed program could build no worker.
func TestWorkerSourcesAreEmbedded(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "protocolbench/cmd/franz-worker").Output()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for path := range strings.FieldsSeq(string(out)) {
		dir, ours := strings.CutPrefix(path, "protocolbench/")
		if !ours {
			continue
		}
		found++
		files, err := fs.Glob(protocolbench.WorkerSource, dir+"/*.go")
		if err != nil || len(files) == 0 {
			t.Errorf("the worker imports %s, which is not embedded: name it in source.go", path)
		}
	}
	if found < 5 {
		t.Fatalf("go list found %d packages of ours: the test would see nothing", found)
	}
}

// Every release that is said to be measurable builds, says who it is, and decodes and encodes its oldest and newest version.
func TestReleases(t *testing.T) {
	for release, newest := range map[string][2]int{"v1.19.0": {12, 17}, "v1.19.5": {12, 17}, "v1.20.0": {13, 18}, "v1.21.0": {13, 18}, "v1.22.3": {13, 18}} {
		t.Run(release, func(t *testing.T) {
			built := mustPrepare(t, builder(t), "franz-go@"+release)
			if id := built.Identity(); id.Version != release || id.GoVersion == "" || len(id.ContentHash) != 64 || len(id.Modules) < 4 {
				t.Errorf("identity %+v", id)
			}
			for _, m := range built.Identity().Modules {
				if !strings.HasPrefix(m.Sum, "h1:") || m.Version == "" {
					t.Errorf("module %+v has no sum", m)
				}
			}
			path, err := built.Binary(context.Background(), 0)
			if err != nil {
				t.Fatal(err)
			}
			p, err := worker.Start(context.Background(), worker.Command{Path: path}, worker.Deadlines{})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close(context.Background())
			hello := p.Hello()
			if hello.Version != release || hello.Build["content"] != built.Identity().ContentHash || hello.Build["layout"] != "000" {
				t.Errorf("hello %+v", hello)
			}
			for i, api := range []string{"Produce", "Fetch"} {
				if got := hello.Implemented[i]; got.API != api || int(got.Max) != newest[i] {
					t.Errorf("implements %+v, want %s up to v%d", got, api, newest[i])
				}
				for n, version := range []int{3 + i, 9 + 3*i, newest[i]} {
					tryCell(t, p, 10*i+n, api, version)
				}
			}
		})
	}
}

func tryCell(t *testing.T, p *worker.Process, cell int, api string, version int) {
	t.Helper()
	ctx := context.Background()
	open := driver.Open{Cell: cell, API: api, Version: version, Mode: driver.ModeBare, ContentSeed: 7, BaseTimestampMs: 1796077201000, MaxRequests: 4,
		Shape: shape.Shape{Name: "try", RecordsPerBatch: 10, BatchesPerPartition: 1, Partitions: 1, Topics: 3, KeyBytes: 16, ValueBytes: 80, RequiredAcks: -1}}
	if _, err := p.Open(ctx, open); err != nil {
		t.Errorf("%s v%d: %v", api, version, err)
		return
	}
	if got, err := p.Batch(ctx, driver.Batch{Cell: cell, Requests: 3}); err != nil || got.Records != 90 {
		t.Errorf("%s v%d: %d records, %v", api, version, got.Records, err)
	}
	want := shape.NewContent(open.Shape, 7).Expect(30).Hash
	if got, err := p.Hash(ctx, driver.Batch{Cell: cell, Requests: 1}); err != nil || got.Hash != want {
		t.Errorf("%s v%d: hash %d, want %d; %v", api, version, got.Hash, want, err)
	}
}

// Two checkouts of the same code are the same build, byte for byte, wherever they lie; layouts differ; and neither checkout is touched.
func TestSameCodeIsTheSameBuild(t *testing.T) {
	one, other := checkoutIn(t, "a"), checkoutIn(t, "another-and-longer-name")
	before, own := stateOf(t, one), ownModule(t)
	a, b := mustPrepare(t, builder(t), "franz-go="+one), mustPrepare(t, Builder{CacheDir: t.TempDir(), Env: os.Environ(), Now: time.Now}, "franz-go="+other)
	if a.Identity().ContentHash != b.Identity().ContentHash || !strings.HasPrefix(a.Identity().Version, "checkout-") {
		t.Errorf("identities %+v and %+v", a.Identity(), b.Identity())
	}
	for _, m := range a.Identity().Modules {
		if isOurs := m.Path == modulePath || m.Path == kmsgPath; isOurs != (m.Version == "checkout" && strings.HasPrefix(m.Sum, "sha256:")) {
			t.Errorf("module %+v", m)
		}
	}
	layouts := map[int][]byte{}
	for _, layout := range []int{0, 7, 8} {
		x, y := read(t, a, layout), read(t, b, layout)
		if !bytes.Equal(x, y) {
			t.Errorf("layout %d of the same code is not the same program in two caches", layout)
		}
		layouts[layout] = x
	}
	if bytes.Equal(layouts[7], layouts[8]) || bytes.Equal(layouts[0], layouts[7]) {
		t.Error("two layouts are one program")
	}
	if after := stateOf(t, one); !slices.Equal(before, after) {
		t.Error("building changed the checkout")
	}
	if after := ownModule(t); own != after {
		t.Error("building changed this project's go.mod or go.sum")
	}
}

func read(t *testing.T, b *Build, layout int) []byte {
	t.Helper()
	path, err := b.Binary(context.Background(), layout)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func ownModule(t *testing.T) string {
	t.Helper()
	var state string
	for _, name := range []string{"go.mod", "go.sum"} {
		info, err := os.Stat(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		state += fmt.Sprint(name, info.Size(), info.ModTime())
	}
	return state
}

// stateOf lists a folder's files with their sizes and times.
func stateOf(t *testing.T, dir string) []string {
	t.Helper()
	var state []string
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			state = append(state, fmt.Sprint(name, info.Mode(), info.Size(), info.ModTime()))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// A change in the checkout is another build; one after it was built is noticed, and doesn't change what was built.
func TestChangeIsAnotherBuildAndNoticed(t *testing.T) {
	dir := checkoutIn(t, "franz-go")
	first := mustPrepare(t, builder(t), "franz-go="+dir)
	if text, err := first.Changed(); text != "" || err != nil {
		t.Errorf("untouched: %q, %v", text, err)
	}
	os.WriteFile(filepath.Join(dir, "README.md"), []byte("no build reads this"), 0o644)
	os.WriteFile(filepath.Join(dir, "pkg", "kgo", "more_test.go"), []byte("package kgo"), 0o644)
	if text, _ := first.Changed(); text != "" {
		t.Errorf("a text and a test are no change of the build: %q", text)
	}
	buildtest.Edit(t, filepath.Join(dir, "pkg", "kmsg", "generated.go"), "package kmsg", "package kmsg // edited")
	os.WriteFile(filepath.Join(dir, "pkg", "kgo", "new.go"), []byte("package kgo"), 0o644)
	if text, err := first.Changed(); text != "pkg/kmsg/generated.go was changed, pkg/kgo/new.go is new" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	os.WriteFile(filepath.Join(dir, "pkg", "kmsg", "planted.go"), []byte("package kmsg\n\nimport \"os\"\n\nfunc init() {\n\tif len(os.Args) > 99 {\n\t\tpanic(\"planted in kmsg\")\n\t}\n}\n"), 0o644)
	second := mustPrepare(t, builder(t), "franz-go="+dir)
	if !bytes.Contains(read(t, second, 0), []byte("planted in kmsg")) || bytes.Contains(read(t, first, 0), []byte("planted in kmsg")) {
		t.Error("the checkout's own kmsg is not what the worker has")
	}
	if first.Identity().ContentHash == second.Identity().ContentHash {
		t.Error("another content has the same hash")
	}
	os.RemoveAll(dir)
	if text, err := first.Changed(); err == nil {
		t.Errorf("a checkout that is gone: %q", text)
	}
}

// A worker in the cache that is not what was put there is built again.
func TestSpoiltWorkerIsBuiltAgain(t *testing.T) {
	b := builder(t)
	path, err := mustPrepare(t, b, "franz-go@v1.22.3").Binary(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"torn": good[:len(good)/2], "another": bytes.Replace(good, []byte("franz"), []byte("FRANZ"), 1)} {
		os.Remove(path)
		if err := os.WriteFile(path, content, 0o755); err != nil {
			t.Fatal(err)
		}
		if got := read(t, mustPrepare(t, b, "franz-go@v1.22.3"), 0); !bytes.Equal(got, good) {
			t.Errorf("%s: the spoilt worker was taken", name)
		}
	}
}

func TestInterruptedBuildIsNobodysFault(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	b := Builder{CacheDir: t.TempDir(), Env: os.Environ(), Now: time.Now, Say: func(string) { cancel() }}
	_, err := b.Prepare(ctx, Spec{Client: clientName, Release: "v1.22.3", given: "franz-go@v1.22.3"})
	var fault *Fault
	if !errors.Is(err, context.Canceled) || errors.As(err, &fault) {
		t.Errorf("got %v", err)
	}
	left, err := os.ReadDir(filepath.Join(b.CacheDir, "builds"))
	if err != nil || len(left) != 0 {
		t.Errorf("%d things are left in the cache, %v", len(left), err)
	}
}

func TestPruneKeepsWhatIsUsed(t *testing.T) {
	c := cache{t.TempDir()}
	now := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	make := func(name string, age time.Duration) string {
		dir := filepath.Join(c.dir, name)
		os.MkdirAll(dir, 0o755)
		os.WriteFile(filepath.Join(dir, usedName), nil, 0o644)
		os.Chtimes(filepath.Join(dir, usedName), now.Add(-age), now.Add(-age))
		return dir
	}
	current, recent, old := make("current", 60*24*time.Hour), make("recent", time.Hour), make("old", 31*24*time.Hour)
	foreign := filepath.Join(c.dir, "something-else")
	os.MkdirAll(foreign, 0o755)
	c.prune(entry{current}, now)
	for dir, want := range map[string]bool{current: true, recent: true, old: false, foreign: true} {
		if isDir(dir) != want {
			t.Errorf("%s is there: %v, want %v", filepath.Base(dir), isDir(dir), want)
		}
	}
}

func TestOwnNamesTheBuiltInClient(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	own, err := Own(self)
	if err != nil || own.Version != BuiltInRelease() || len(own.ContentHash) != 64 || own.Spec != "franz-go" {
		t.Errorf("%+v, %v", own, err)
	}
	if _, err := Own(filepath.Join(t.TempDir(), "nothing")); err == nil {
		t.Error("a file that isn't there has a sum")
	}
}
