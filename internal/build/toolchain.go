package build

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	GOVERSION, GOOS, GOARCH, GOAMD64, GOARM64, GOEXPERIMENT string
	GOMODCACHE, GOCACHE, GOPROXY                            string
}

// isolated keeps what a user has set for other work out of the build: a workspace, vendoring, tags. An empty GOFLAGS would not do, since the go
// command takes the one of `go env -w` then. Without cgo every layout is the linker's own doing.
var isolated = []string{"GOWORK=off", "GOFLAGS=-mod=mod", "CGO_ENABLED=0"}

func (b Builder) toolchain(ctx context.Context) (*toolchain, error) {
	path := lookGo(b.Env)
	if path == "" {
		return nil, faultf("there is no go command on the PATH, and without one only the built-in client can be measured: " +
			"leave out --client and --baseline, or install Go (https://go.dev/dl/)")
	}
	t := &toolchain{path: path, env: append(slices.Clone(b.Env), isolated...)}
	out, stderr, err := t.run(ctx, os.TempDir(), "env", "-json")
	if err != nil {
		return nil, toolFault(ctx, err, "go env failed: %s; see whether `go env` works here", lastLine(stderr))
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
			t.env = append(t.env, "GOPROXY=file://"+filepath.ToSlash(downloads)+","+t.vars.GOPROXY)
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

// toolFault is a go command that failed: an interruption is nobody's fault.
func toolFault(ctx context.Context, err error, format string, args ...any) error {
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("building the client was interrupted: %w", context.Cause(ctx))
	case errors.As(err, &exit):
		return faultf(format, args...)
	}
	return fmt.Errorf("the go command can't be run: %w", err)
}
