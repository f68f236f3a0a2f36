package build

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"protocolbench"
	"protocolbench/internal/record"
)

// tree is a folder with the worker's sources, a go.mod of its own, and for a checkout a copy of the client. It has nothing of our own go.mod's
// other modules: kadm would pull a newer franz-go in.
type tree struct {
	dir      string
	tool     *toolchain
	spec     Spec
	checkout *checkout // nil: a release
	release  string    // as resolved
	modules  []listedModule
	tags     []string
	replaced []replacement // by the checkout's go.mod
}

// listedModule is what `go list -m -json` says.
type listedModule struct {
	Path, Version, Sum, Dir string
	Replace                 *listedModule
}

const (
	workerPackage = "./cmd/franz-worker"
	clientFolder  = "client" // of a checkout's copy, within the tree: so that a build never has the name of a folder of the user's in it
)

// write lays the tree out.
func (t *tree) write(ctx context.Context) error {
	err := fs.WalkDir(protocolbench.WorkerSource, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name == "go.mod" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		content, err := protocolbench.WorkerSource.ReadFile(name)
		if err != nil {
			return err
		}
		to := filepath.Join(t.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, content, 0o644)
	})
	if err == nil && t.checkout != nil {
		if err = t.checkout.copyTo(filepath.Join(t.dir, clientFolder)); err == nil {
			err = t.readReplacements(ctx)
		}
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(t.dir, "go.mod"), []byte(t.goMod()), 0o644)
}

// goMod requires the client and what the worker itself needs; the rest is what that client asks for.
func (t *tree) goMod() string {
	var text strings.Builder
	fmt.Fprintf(&text, "module protocolbench\n\ngo %s\n\nrequire golang.org/x/sys %s\n", ownLine(`(?m)^go (\S+)$`), ownLine(`golang.org/x/sys (\S+)`))
	fmt.Fprintf(&text, "require %s %s\n", modulePath, t.release)
	if t.checkout == nil {
		return text.String()
	}
	fmt.Fprintf(&text, "replace %s => ./%s\n", modulePath, clientFolder)
	if t.checkout.kmsg {
		fmt.Fprintf(&text, "replace %s => ./%s/%s\n", kmsgPath, clientFolder, kmsgFolder)
	}
	for _, r := range t.replaced {
		text.WriteString(r.String())
	}
	return text.String()
}

// ownLine finds something in this project's go.mod, which is embedded: a build without it would not compile.
func ownLine(pattern string) string {
	text, err := protocolbench.WorkerSource.ReadFile("go.mod")
	if err != nil {
		panic(err) // embedded by the compiler
	}
	return string(regexp.MustCompile(pattern).FindSubmatch(text)[1])
}

// BuiltInRelease is the release that go.mod has.
func BuiltInRelease() string { return ownLine(regexp.QuoteMeta(modulePath) + ` (v\S+)`) }

// resolve finds the release's number for a query, and all modules of the worker with their sums.
func (t *tree) resolve(ctx context.Context) error {
	if t.checkout == nil && t.release == "" {
		release, err := t.query(ctx)
		if err != nil {
			return err
		}
		t.release = release
	}
	if err := t.write(ctx); err != nil {
		return err
	}
	out, stderr, err := t.tool.run(ctx, t.dir, "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", workerPackage)
	if err != nil {
		return toolFault(ctx, err, stderr, "the modules of %s can't be had: %s", t.spec, firstLines(causes(stderr), t.clean))
	}
	paths := strings.Fields(out)
	slices.Sort(paths)
	paths = slices.Compact(paths)
	if !slices.Contains(paths, modulePath) || !slices.Contains(paths, kmsgPath) {
		return fmt.Errorf("the worker of %s would be built without %s or %s: it needs %v", t.spec, modulePath, kmsgPath, paths)
	}
	if t.modules, err = t.list(ctx, paths...); err != nil {
		return err
	}
	// The toolchain that builds is the one that the tree's go.mod asks for, which need not be the one on the PATH.
	version, stderr, err := t.tool.run(ctx, t.dir, "env", "GOVERSION")
	if err != nil {
		return toolFault(ctx, err, stderr, "go env failed: %s; see whether `go env` works here", lastLine(stderr))
	}
	t.tool.vars.GOVERSION = strings.TrimSpace(version)
	return nil
}

// query asks for a release's number.
func (t *tree) query(ctx context.Context) (string, error) {
	empty := filepath.Join(t.dir, "query")
	if err := os.MkdirAll(empty, 0o755); err != nil {
		return "", err
	}
	defer os.RemoveAll(empty)
	if err := os.WriteFile(filepath.Join(empty, "go.mod"), []byte("module query\n"), 0o644); err != nil {
		return "", err
	}
	out, stderr, err := t.tool.run(ctx, empty, "list", "-m", "-json", modulePath+"@"+t.spec.Release)
	if err != nil {
		return "", toolFault(ctx, err, stderr, "there is no release %s of %s, or it can't be had: %s; `go list -m -versions %s` has them all", t.spec.Release, clientName, lastLine(stderr), modulePath)
	}
	var found listedModule
	if err := json.Unmarshal([]byte(out), &found); err != nil || found.Version == "" {
		return "", fmt.Errorf("the go command's answer about %s can't be read: %w", t.spec, err)
	}
	return found.Version, nil
}

func (t *tree) list(ctx context.Context, paths ...string) ([]listedModule, error) {
	out, stderr, err := t.tool.run(ctx, t.dir, append([]string{"list", "-m", "-json"}, paths...)...)
	if err != nil {
		return nil, toolFault(ctx, err, stderr, "the modules of %s can't be listed: %s", t.spec, lastLine(stderr))
	}
	var modules []listedModule
	decoder := json.NewDecoder(strings.NewReader(out))
	for decoder.More() {
		var m listedModule
		if err := decoder.Decode(&m); err != nil {
			return nil, fmt.Errorf("the go command's list of modules can't be read: %w", err)
		}
		modules = append(modules, m)
	}
	return modules, nil
}

// identity gives the modules as the record has them.
func (t *tree) identity() []record.Module {
	var list []record.Module
	for _, m := range t.modules {
		switch {
		case m.Replace == nil:
			list = append(list, record.Module{Path: m.Path, Version: m.Version, Sum: m.Sum})
		case m.Replace.Version != "":
			list = append(list, record.Module{Path: m.Path, Version: m.Replace.Path + "@" + m.Replace.Version, Sum: m.Replace.Sum})
		default:
			list = append(list, record.Module{Path: m.Path, Version: "checkout", Sum: "sha256:" + t.checkout.sumOfModule(m.Path)})
		}
	}
	return list
}

// sumOfModule sums up the files of one of the checkout's modules.
func (c *checkout) sumOfModule(path string) string {
	mine := &checkout{files: map[string]string{}}
	for rel, sum := range c.files {
		if inKmsg := c.kmsg && strings.HasPrefix(rel, kmsgFolder+"/"); inKmsg == (path == kmsgPath) {
			mine.files[rel] = sum
		}
	}
	return mine.sum()
}

// folder is where a module's sources lie.
func (t *tree) folder(path string) string {
	for _, m := range t.modules {
		if m.Path == path {
			return m.Dir
		}
	}
	return ""
}

// clean takes the names of this program's folders out of what a compiler says: what is left is the place in the checkout.
func (t *tree) clean(line string) string {
	line = strings.ReplaceAll(line, t.dir+string(filepath.Separator), "")
	line = strings.ReplaceAll(line, "./"+clientFolder+"/", "")
	if rest, ok := strings.CutPrefix(line, clientFolder+"/"); ok {
		return rest
	}
	return line
}
