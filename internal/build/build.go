package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"protocolbench/internal/record"
)

// Builder builds workers.
type Builder struct {
	CacheDir string   // absolute
	Env      []string // of the go command and of git
	Now      func() time.Time
	Say      func(string)
}

func (b Builder) say(text string) {
	if b.Say != nil {
		b.Say(text)
	}
}

// Build is a client that has been built: a worker for every layout that is asked for.
type Build struct {
	identity record.Build
	tree     tree
	ldflags  string // but the layout's
	cache    entry

	mu    sync.Mutex
	known map[int]string // workers that are looked at already, by layout
}

// compilerFlags besides the linker's. Paths are trimmed, so that the same contents give the same program wherever they lie.
var compilerFlags = []string{"-trimpath", "-buildvcs=false"}

// Prepare finds out what a spec stands for, and builds its worker once. What the user has to mend is a *Fault.
func (b Builder) Prepare(ctx context.Context, spec Spec) (*Build, error) {
	tool, err := b.toolchain(ctx)
	if err != nil {
		return nil, err
	}
	t := tree{tool: tool, spec: spec}
	switch {
	case spec.BuiltIn():
		t.release = BuiltInRelease()
	case spec.Dir != "":
		if t.checkout, err = readCheckout(spec.Dir); err != nil {
			return nil, err
		}
		t.release = BuiltInRelease() // replaced: any number does
	}
	store := cache{filepath.Join(b.CacheDir, "builds")}
	if t.dir, err = store.scratch(); err != nil {
		return nil, err
	}
	defer os.RemoveAll(t.dir)
	b.say(fmt.Sprintf("building the worker of %s", spec))
	if err := t.resolve(ctx); err != nil {
		return nil, err
	}
	if err := t.features(); err != nil {
		return nil, err
	}
	built := &Build{tree: t, known: map[int]string{}}
	built.identify(ctx)
	if built.cache, err = store.keep(built.identity.ContentHash, t.dir); err != nil {
		return nil, err
	}
	built.tree.dir = built.cache.tree()
	if _, err := built.Binary(ctx, 0); err != nil {
		return nil, err
	}
	store.prune(built.cache, b.Now())
	return built, nil
}

// Identity says what was built. The layout is no part of it: one build has many.
func (b *Build) Identity() record.Build { return b.identity }

// identify sums up all that goes into the worker: its sources, the client's modules, the toolchain and its settings. A name or a time is never part
// of it: a stale file under the right name once made four engines one engine.
func (b *Build) identify(ctx context.Context) {
	t := &b.tree
	vars := t.tool.vars
	flags := strings.Join(append(slices.Clone(compilerFlags), "-ldflags=-s -w -randlayout=N"), " ")
	if len(t.tags) > 0 {
		flags += " -tags=" + strings.Join(t.tags, ",")
	}
	for _, setting := range [][2]string{{"GOOS", vars.GOOS}, {"GOARCH", vars.GOARCH}, {"GOAMD64", vars.GOAMD64}, {"GOARM64", vars.GOARM64},
		{"GOEXPERIMENT", vars.GOEXPERIMENT}, {"GOFIPS140", vars.GOFIPS140}, {"CGO_ENABLED", "0"}} {
		if setting[1] != "" {
			flags += " " + setting[0] + "=" + setting[1]
		}
	}
	b.identity = record.Build{Spec: t.spec.String(), Version: t.release, GoVersion: vars.GOVERSION, Flags: flags, Modules: t.identity()}
	hash := sha256.New()
	fmt.Fprintf(hash, "%s\n%s\n%s\n%s\n", workerSum(), t.goMod(), vars.GOVERSION, flags) // go.mod's go line decides what the language means
	for _, m := range b.identity.Modules {
		fmt.Fprintf(hash, "%s %s %s\n", m.Path, m.Version, m.Sum)
	}
	b.identity.ContentHash = hex.EncodeToString(hash.Sum(nil))
	if t.checkout != nil {
		b.identity.Version = "checkout-" + t.checkout.sum()[:12]
		b.identity.Revision = revision(ctx, t.tool.env, t.checkout.dir)
	}
	const stamp = "protocolbench/internal/client/franz.stamp"
	b.ldflags = fmt.Sprintf("-s -w -X %sVersion=%s -X %sContent=%s", stamp, b.identity.Version, stamp, b.identity.ContentHash)
}

// Binary gives the worker linked with a layout number; 0 is the linker's own layout.
func (b *Build) Binary(ctx context.Context, layout int) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if path, ok := b.known[layout]; ok {
		return path, nil
	}
	if path, ok := b.cache.worker(layout); ok {
		b.known[layout] = path
		return path, nil
	}
	scratch, err := b.cache.scratch()
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch)
	fresh := filepath.Join(scratch, "worker")
	// A number of fixed width: a stamp must not move what lies behind it.
	ldflags := b.ldflags + fmt.Sprintf(" -X protocolbench/internal/client/franz.stampLayout=%03d", layout)
	if layout > 0 {
		ldflags += fmt.Sprintf(" -randlayout=%d", layout)
	}
	args := append([]string{"build"}, compilerFlags...)
	if len(b.tree.tags) > 0 {
		args = append(args, "-tags="+strings.Join(b.tree.tags, ","))
	}
	_, stderr, err := b.tree.tool.run(ctx, b.tree.dir, append(args, "-ldflags="+ldflags, "-o", fresh, workerPackage)...)
	if err != nil {
		return "", b.compileFault(ctx, err, stderr)
	}
	path, err := b.cache.take(fresh, layout)
	if err == nil {
		b.known[layout] = path
	}
	return path, err
}

// compileFault tells a client that doesn't compile from one that has another API than the worker drives.
func (b *Build) compileFault(ctx context.Context, err error, stderr string) error {
	said := firstLines(stderr, b.tree.clean)
	if strings.Contains(said, "internal/client/franz/") {
		return toolFault(ctx, err, stderr, "the worker doesn't compile against %s: its API is not the one that the worker drives (franz-go v1.19.0 and later):\n  %s", b.tree.spec, said)
	}
	return toolFault(ctx, err, stderr, "%s doesn't compile:\n  %s", b.tree.spec, said)
}

// Changed says what of a checkout is no longer as it was built, or "". A release doesn't change.
func (b *Build) Changed() (string, error) {
	if b.tree.checkout == nil {
		return "", nil
	}
	now, err := readCheckout(b.tree.spec.Dir)
	if err != nil {
		return "", err
	}
	return b.tree.checkout.differs(now), nil
}
