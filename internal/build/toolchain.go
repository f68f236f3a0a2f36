package build

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// toolchain is the go command, and the environment that it runs in here.
type toolchain struct {
	path string
	env  []string
	vars goEnv
}

// goEnv is what of `go env` a build depends on.
type goEnv struct {
	GOVERSION, GOOS, GOARCH, GOAMD64, GOARM64, GOEXPERIMENT, GOFIPS140 string
	GOMODCACHE, GOCACHE, GOPROXY                                       string
}

// isolated keeps what a user has set for other work out of the build: a workspace, vendoring, tags. An empty GOFLAGS would not do, since the go
// command takes the one of `go env -w` then. Without cgo every layout is the linker's own doing. The worker runs here, whatever is cross-compiled.
var isolated = []string{"GO111MODULE=on", "GOWORK=off", "GOFLAGS=-mod=mod", "CGO_ENABLED=0", "GOOS=" + runtime.GOOS, "GOARCH=" + runtime.GOARCH}

func (b Builder) toolchain(ctx context.Context) (*toolchain, error) {
	path := lookGo(b.Env)
	if path == "" {
		return nil, faultf("there is no go command on the PATH, and without one only the built-in client can be measured: " +
			"leave out --client and --baseline, or install Go (https://go.dev/dl/)")
	}
	t := &toolchain{path: path, env: append(slices.Clone(b.Env), isolated...)}
	out, stderr, err := t.run(ctx, os.TempDir(), "env", "-json")
	if err != nil {
		return nil, toolFault(ctx, err, stderr, "go env failed: %s; see whether `go env` works here", lastLine(stderr))
	}
	if err := json.Unmarshal([]byte(out), &t.vars); err != nil {
		return nil, fmt.Errorf("the answer of `go env -json` can't be read: %w", err)
	}
	b.makeWritable(t)
	return t, nil
}

// lookGo finds go on the PATH of env, which need not be this process's.
func lookGo(env []string) string {
	dirs := ""
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			dirs = value
		}
	}
	for _, dir := range filepath.SplitList(dirs) {
		path, err := filepath.Abs(filepath.Join(dir, "go"))
		if err != nil || dir == "" {
			continue
		}
		if found, err := exec.LookPath(path); err == nil {
			return found
		}
	}
	return ""
}

// makeWritable puts caches that can't be written into this program's own. What a read-only module cache has is still used: its downloads
// are laid out as a module proxy.
func (b Builder) makeWritable(t *toolchain) {
	if old := t.vars.GOMODCACHE; !writable(old) {
		t.vars.GOMODCACHE = filepath.Join(b.CacheDir, "modules")
		t.env = append(t.env, "GOMODCACHE="+t.vars.GOMODCACHE, "GOFLAGS=-mod=mod -modcacherw") // writable, so that the cache's folder can be deleted
		if downloads := filepath.Join(old, "cache", "download"); isDir(downloads) {
			proxy := url.URL{Scheme: "file", Path: filepath.ToSlash(downloads)}
			t.env = append(t.env, "GOPROXY="+proxy.String()+","+t.vars.GOPROXY)
			// What the sum database has signed is there too, but no proxy serves it from there; without it, nothing is verified offline. The go
			// command checks it against the signature; what can't be copied it asks for again.
			if sums := filepath.Join(t.vars.GOMODCACHE, "cache", "download", "sumdb"); !isDir(sums) {
				_ = os.CopyFS(sums, os.DirFS(filepath.Join(downloads, "sumdb")))
			}
		}
		b.say(fmt.Sprintf("the module cache %s can't be written: modules go to %s", old, t.vars.GOMODCACHE))
	}
	if old := t.vars.GOCACHE; !writable(old) {
		t.vars.GOCACHE = filepath.Join(b.CacheDir, "go-build")
		t.env = append(t.env, "GOCACHE="+t.vars.GOCACHE)
		b.say(fmt.Sprintf("the build cache %s can't be written: builds go to %s", old, t.vars.GOCACHE))
	}
}

// writable tries: permissions alone say nothing about a read-only mount, or about a user who may do everything.
func writable(dir string) bool {
	if dir == "" || dir == "off" || os.MkdirAll(dir, 0o755) != nil {
		return false
	}
	probe, err := os.MkdirTemp(dir, ".protocolbench-")
	if err != nil {
		return false
	}
	return os.Remove(probe) == nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// run runs the go command in a folder, in a process group that ends with ctx: its compilers are children of its own.
func (t *toolchain) run(ctx context.Context, dir string, args ...string) (stdout, stderr string, err error) {
	cmd := exec.CommandContext(ctx, t.path, args...)
	cmd.Dir = dir
	cmd.Env = append(slices.Clone(t.env), "PWD="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	err = cmd.Run()
	return out.String(), log.String(), err
}

var (
	tooOld  = regexp.MustCompile(`requires go >= (\S+) \(running go ([^\s;)]+)`)
	offline = regexp.MustCompile(`dial tcp|no such host|connection refused|i/o timeout|proxyconnect|module lookup disabled`)
)

// toolFault is a go command that failed: an interruption is nobody's fault. Two causes that the go command hides in its words are said first.
func toolFault(ctx context.Context, err error, said, format string, args ...any) error {
	var exit *exec.ExitError
	if ctx.Err() != nil {
		return fmt.Errorf("building the client was interrupted: %w", context.Cause(ctx))
	}
	if !errors.As(err, &exit) {
		return fmt.Errorf("the go command can't be run: %w", err)
	}
	what := fmt.Sprintf(format, args...)
	if needs := tooOld.FindStringSubmatch(said); needs != nil {
		return faultf("go %s is too old, the build needs %s: install it, or leave GOTOOLCHAIN at auto so that the go command gets it; %s", needs[2], needs[1], what)
	}
	if offline.MatchString(said) {
		return faultf("%s; without the network only what is in the module cache can be built", what)
	}
	return &Fault{what}
}
