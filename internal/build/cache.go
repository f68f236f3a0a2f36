package build

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// cache is a folder with one entry per content. Two runs may use it at once: everything gets its name only when it is whole.
type cache struct{ dir string }

// entry is what was built of one content: its sources, and a worker per layout with the worker's own sum beside it.
type entry struct{ dir string }

// What is kept: a maintainer who tries twenty changes a day has some 200 MB of layouts of each.
const (
	keptFor     = 30 * 24 * time.Hour
	keptBytes   = 4 << 30
	scratchName = "new-"
	usedName    = "used"
)

// scratch makes a folder to put an entry together in.
func (c cache) scratch() (string, error) {
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return "", faultf("the folder of built workers can't be made: %v; set PROTOCOL_BENCH_CACHE to a folder that can be written", err)
	}
	dir, err := os.MkdirTemp(c.dir, scratchName)
	if err != nil {
		return "", faultf("the folder of built workers can't be written: %v; set PROTOCOL_BENCH_CACHE to a folder that can be", err)
	}
	return dir, nil
}

// keep gives sources their place by their content, unless they lie there already.
func (c cache) keep(content, sources string) (entry, error) {
	e := entry{filepath.Join(c.dir, content)}
	if err := os.MkdirAll(e.dir, 0o755); err != nil {
		return e, err
	}
	// A tree that lies there came there whole, by a rename; a folder can't be renamed onto one that isn't empty.
	if err := os.Rename(sources, e.tree()); err != nil && !isDir(e.tree()) {
		return e, fmt.Errorf("the sources of the worker can't be kept in the cache: %w", err)
	}
	return e, os.WriteFile(filepath.Join(e.dir, usedName), nil, 0o644)
}

func (e entry) tree() string { return filepath.Join(e.dir, "source") }

func (e entry) path(layout int) string {
	return filepath.Join(e.dir, fmt.Sprintf("worker-%03d", layout))
}

func (e entry) temporary(layout int) string {
	return fmt.Sprintf("%s.%d", filepath.Join(e.dir, fmt.Sprintf("%s%03d", scratchName, layout)), os.Getpid())
}

// worker gives a worker that is there, if it is what was put there.
func (e entry) worker(layout int) (string, bool) {
	path := e.path(layout)
	want, err := os.ReadFile(path + ".sha256")
	if err != nil {
		return "", false
	}
	got, err := fileSum(path)
	return path, err == nil && got == string(want)
}

// take puts a worker where it belongs, its sum first: a sum without a worker, or beside another one, is no worker.
func (e entry) take(fresh string, layout int) (string, error) {
	path := e.path(layout)
	sum, err := fileSum(fresh)
	if err == nil {
		err = writeWhole(path+".sha256", sum)
	}
	if err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		return "", fmt.Errorf("the worker can't be kept in the cache: %w", err)
	}
	return path, nil
}

func writeWhole(path, text string) error {
	fresh := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := os.WriteFile(fresh, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}

// prune deletes what was not used for long, and the oldest of what is too much. It is tidying: what can't be deleted stays.
func (c cache) prune(but entry, now time.Time) {
	type kept struct {
		dir   string
		used  time.Time
		bytes int64
	}
	var all []kept
	names, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	for _, name := range names {
		dir := filepath.Join(c.dir, name.Name())
		info, err := os.Stat(filepath.Join(dir, usedName))
		if err != nil { // being put together, or left behind half-way
			if info, err := name.Info(); err == nil && now.Sub(info.ModTime()) > 24*time.Hour && strings.HasPrefix(name.Name(), scratchName) {
				os.RemoveAll(dir)
			}
			continue
		}
		all = append(all, kept{dir, info.ModTime(), bytesIn(dir)})
	}
	slices.SortFunc(all, func(a, b kept) int { return b.used.Compare(a.used) })
	var sum int64
	for _, k := range all {
		sum += k.bytes
		if k.dir != but.dir && (now.Sub(k.used) > keptFor || sum > keptBytes) {
			os.RemoveAll(k.dir)
			sum -= k.bytes
		}
	}
}

func bytesIn(dir string) int64 {
	var sum int64
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // a file that went meanwhile takes no room
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// errNoExecutable is for a program whose own file can't be read.
var errNoExecutable = errors.New("this program's own file can't be read, so the build of the client in it can't be named")
