package build

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"protocolbench/internal/build/buildtest"
)

// prepareBad expects that a checkout can't be built.
func prepareBad(t *testing.T, dir string) error {
	t.Helper()
	spec, err := Parse("franz-go=" + dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = builder(t).Prepare(context.Background(), spec)
	return err
}

func TestFoldersThatAreNoCheckout(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := write("file", "x")
	write("other/go.mod", "module example.com/other\n")
	write("root/go.mod", "module github.com/twmb/franz-go // the client\n")
	write("root/pkg/kmsg/go.mod", "module github.com/twmb/franz-go/pkg/kmsg\n")
	write("root/pkg/kgo/x.go", "package kgo\n")
	write("empty/x", "")
	for folder, want := range map[string]string{
		filepath.Join(dir, "nothing"):       "there is no folder",
		filepath.Join(dir, "~/franz-go"):    "write $HOME in its place",
		file:                                "is a file",
		filepath.Join(dir, "empty"):         "it has no go.mod",
		filepath.Join(dir, "other"):         `is that of the module "example.com/other"`,
		filepath.Join(dir, "root/pkg/kgo"):  "give its root, " + filepath.Join(dir, "root"),
		filepath.Join(dir, "root/pkg/kmsg"): "give the checkout's root, " + filepath.Join(dir, "root"),
	} {
		wantFault(t, prepareBad(t, folder), want)
	}
}

func TestCheckoutThatDoesNotCompile(t *testing.T) {
	dir := checkoutIn(t, "franz-go")
	broken := filepath.Join(dir, "pkg", "kgo", "broken.go")
	os.WriteFile(broken, []byte("package kgo\n\nvar broken int = \"text\"\n"), 0o644)
	err := prepareBad(t, dir)
	wantFault(t, err, "doesn't compile", "pkg/kgo/broken.go:3:", `"text"`)
	if strings.Contains(err.Error(), sharedCache) || strings.Contains(err.Error(), clientFolder+"/pkg") {
		t.Errorf("the build folder's name is in %q", err)
	}
	os.WriteFile(broken, []byte("package kgo\n\nfunc {\n"), 0o644)
	wantFault(t, prepareBad(t, dir), "pkg/kgo/broken.go:3:")
	os.Remove(broken)
	buildtest.Edit(t, filepath.Join(dir, "pkg", "kgo", "consumer.go"), ") SetOffsets(", ") SetThem(")
	wantFault(t, prepareBad(t, dir), "its API is not the one that the worker drives", "SetOffsets")
}

func TestOldClientIsRefusedWithTheReason(t *testing.T) {
	spec, _ := Parse("franz-go@v1.18.0")
	_, err := builder(t).Prepare(context.Background(), spec)
	skipOffline(t, "v1.18.0", err)
	wantFault(t, err, "kgo.ProcessFetchPartition", "v1.19.0")
}

func TestUnknownReleases(t *testing.T) {
	for _, release := range []string{"v1.99.0", "no-such-branch-anywhere"} {
		spec, _ := Parse("franz-go@" + release)
		_, err := builder(t).Prepare(context.Background(), spec)
		skipOffline(t, release, err)
		wantFault(t, err, "there is no release "+release, "go list -m -versions")
	}
}

func TestWithoutGo(t *testing.T) {
	b := Builder{CacheDir: t.TempDir(), Env: []string{"PATH=" + t.TempDir(), "HOME=" + t.TempDir()}}
	_, err := b.Prepare(context.Background(), Spec{Client: clientName, given: "franz-go"})
	wantFault(t, err, "only the built-in client can be measured", "install Go")
}

// A module cache that nothing can be written to is left alone, and the modules go elsewhere.
func TestReadOnlyModuleCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var said []string
	b := Builder{CacheDir: t.TempDir(), Now: time.Now, Env: append(os.Environ(), "GOMODCACHE="+filepath.Join(file, "mod"), "GOPROXY="+downloads(t)), Say: func(text string) { said = append(said, text) }}
	built := mustPrepare(t, b, "franz-go@v1.22.3")
	if !strings.Contains(strings.Join(said, "\n"), "can't be written: modules go to "+filepath.Join(b.CacheDir, "modules")) {
		t.Errorf("said %q", said)
	}
	if same := mustPrepare(t, builder(t), "franz-go@v1.22.3"); same.Identity().ContentHash != built.Identity().ContentHash {
		t.Error("where modules lie is part of the content")
	}
}

// downloads is the machine's module cache as a proxy, before the one that is set.
func downloads(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(out), "\n")
	return "file://" + lines[0] + "/cache/download," + lines[1]
}

// A release that is in the module cache needs no network.
func TestOffline(t *testing.T) {
	online := mustPrepare(t, builder(t), "franz-go@v1.20.0")
	b := Builder{CacheDir: t.TempDir(), Env: append(os.Environ(), "GOPROXY=http://127.0.0.1:1"), Now: time.Now}
	spec, _ := Parse("franz-go@v1.20.0")
	built, err := b.Prepare(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if built.Identity().ContentHash != online.Identity().ContentHash {
		t.Error("offline it is another build")
	}
	spec, _ = Parse("franz-go@v1.19.999")
	_, err = b.Prepare(context.Background(), spec)
	wantFault(t, err, "v1.19.999", "connection refused", "without the network only what is in the module cache")
}

// What a user has set for other work doesn't get into a build.
func TestUsersSettingsStayOut(t *testing.T) {
	work := filepath.Join(t.TempDir(), "go.work")
	if err := os.WriteFile(work, []byte("go 1.26\nuse ./nothing\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b := Builder{CacheDir: t.TempDir(), Now: time.Now, Env: append(os.Environ(), "GOFLAGS=-mod=vendor -tags=x", "GOWORK="+work, "CGO_ENABLED=1", "GO111MODULE=off", "GOOS=plan9", "GOARCH=386")}
	if mustPrepare(t, b, "franz-go@v1.22.3").Identity().ContentHash != mustPrepare(t, builder(t), "franz-go@v1.22.3").Identity().ContentHash {
		t.Error("the user's GOFLAGS, GOWORK or CGO_ENABLED changed the build")
	}
}

func TestLinksInACheckout(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside.go")
	if err := os.WriteFile(outside, []byte("package kgo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	dir := checkoutIn(t, "franz-go")
	link := filepath.Join(dir, "pkg", "kgo", "linked.go")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	wantFault(t, prepareBad(t, dir), "pkg/kgo/linked.go", "leads out of it")
	os.Remove(link)
	if err := os.Symlink("nowhere.go", link); err != nil {
		t.Fatal(err)
	}
	wantFault(t, prepareBad(t, dir), "leads nowhere")
	os.Remove(link)
	within := filepath.Join(dir, "pkg", "kgo", "target.go")
	os.WriteFile(within, []byte("package kgo\n"), 0o644)
	if err := os.Symlink("target.go", link); err != nil {
		t.Fatal(err)
	}
	built := mustPrepare(t, builder(t), "franz-go="+dir)
	way := filepath.Join(t.TempDir(), "link-to-the-checkout")
	if err := os.Symlink(dir, way); err != nil {
		t.Fatal(err)
	}
	if same := mustPrepare(t, builder(t), "franz-go="+way); same.Identity().ContentHash != built.Identity().ContentHash {
		t.Error("a checkout that is reached by a link is another")
	}
	if err := os.Symlink("kgo", filepath.Join(dir, "pkg", "linked")); err != nil {
		t.Fatal(err)
	}
	wantFault(t, prepareBad(t, dir), "pkg/linked", "link to a folder")
}

func TestGoIsTooOld(t *testing.T) {
	dir := checkoutIn(t, "franz-go")
	appendTo(t, filepath.Join(dir, "pkg", "kmsg", "go.mod"), "\ntoolchain go1.99.9\n") // only a hint: this Go does
	spec, _ := Parse("franz-go=" + dir)
	b := builder(t)
	b.Env = append(b.Env, "GOTOOLCHAIN=local")
	if _, err := b.Prepare(context.Background(), spec); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	newer := regexp.MustCompile(`(?m)^go .*$`).ReplaceAll(text, []byte("go 1.99.0"))
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), newer, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = b.Prepare(context.Background(), spec)
	wantFault(t, err, "is too old, the build needs 1.99.0", "GOTOOLCHAIN")
}

func appendTo(t *testing.T, file, text string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, append(content, text...), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The go command would pass over what a checkout replaces.
func TestReplaceLinesOfACheckout(t *testing.T) {
	dir := checkoutIn(t, "franz-go")
	file := filepath.Join(dir, "go.mod")
	appendTo(t, file, "\nreplace github.com/twmb/franz-go/pkg/kmsg => ./pkg/kmsg\n")
	mustPrepare(t, builder(t), "franz-go="+dir)
	appendTo(t, file, "replace github.com/pierrec/lz4/v4 => github.com/pierrec/lz4/v4 v4.1.22\n")
	var versions []string
	for _, m := range mustPrepare(t, builder(t), "franz-go="+dir).Identity().Modules {
		versions = append(versions, m.Version)
	}
	if !slices.Contains(versions, "github.com/pierrec/lz4/v4@v4.1.22") {
		t.Errorf("what the checkout replaces is not what was built: %v", versions)
	}
	appendTo(t, file, "replace github.com/klauspost/compress => ../compress\n")
	wantFault(t, prepareBad(t, dir), "replaces github.com/klauspost/compress by the folder ../compress")
	appendTo(t, file, "nonsense\n")
	wantFault(t, prepareBad(t, dir), "go.mod of franz-go="+dir+" can't be read", "unknown directive: nonsense")
}

func TestUnwritableCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Builder{CacheDir: file, Env: os.Environ(), Now: time.Now}.Prepare(context.Background(), Spec{Client: clientName, given: "franz-go"})
	wantFault(t, err, "PROTOCOL_BENCH_CACHE")
}
