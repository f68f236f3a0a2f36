package build

import (
	"fmt"
	"io/fs"
	"maps"
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

// keep gives sources their place by their content, unless they lie there already. What lies there under the right name is looked at: a worker
// of another layout is made from it, and would be stamped with a content that it doesn't have.
func (c cache) keep(content, sources string) (entry, error) {
	e := entry{filepath.Join(c.dir, content)}
	if err := os.MkdirAll(e.dir, 0o755); err != nil {
		return e, err
	}
	if isDir(e.tree()) && !sameFiles(sources, e.tree()) {
		aside, err := e.scratch()
		if err != nil {
			return e, err
		}
		defer os.RemoveAll(aside)
		if err := os.Rename(e.tree(), filepath.Join(aside, "spoilt")); err != nil && isDir(e.tree()) {
			return e, fmt.Errorf("spoilt sources can't be taken out of the cache: %w; delete %s", err, e.dir)
		}
	}
	// A folder can't be renamed onto one that isn't empty, so another run's tree is never half overwritten.
	if err := os.Rename(sources, e.tree()); err != nil && !isDir(e.tree()) {
		return e, fmt.Errorf("the sources of the worker can't be kept in the cache: %w", err)
	}
	return e, os.WriteFile(filepath.Join(e.dir, usedName), nil, 0o644)
}

// sameFiles tells whether two folders hold the same files.
func sameFiles(a, b string) bool {
	sums := func(dir string) (map[string]string, error) {
		all := map[string]string{}
		err := filepath.WalkDir(dir, func(name string, item fs.DirEntry, err error) error {
			if err != nil || item.IsDir() {
				return err
			}
			rel, err := filepath.Rel(dir, name)
			if err == nil {
				all[rel], err = fileSum(name)
			}
			return err
		})
		return all, err
	}
	one, errOne := sums(a)
	other, errOther := sums(b)
	return errOne == nil && errOther == nil && maps.Equal(one, other)
}

func (e entry) tree() string { return filepath.Join(e.dir, "source") }

func (e entry) path(layout int) string {
	return filepath.Join(e.dir, fmt.Sprintf("worker-%03d", layout))
}

// scratch makes a folder to link a worker in.
func (e entry) scratch() (string, error) {
	dir, err := os.MkdirTemp(e.dir, scratchName)
	if err != nil {
		return "", fmt.Errorf("the worker can't be put into the cache: %w; the cache must not be deleted while a run uses it", err)
	}
	return dir, nil
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
		err = writeWhole(fresh+".sha256", path+".sha256", sum)
	}
	if err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		return "", fmt.Errorf("the worker can't be kept in the cache: %w", err)
	}
	return path, nil
}

func writeWhole(fresh, path, text string) error {
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
