package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Latest is the name of the link to the newest result folder.
const Latest = "latest"

// NewDir makes the folder of a new run, out/<time>-<seed>, and points out/latest to it. Times are UTC, so that names sort in
// the order of the runs. Two runs of one second and one seed get folders of their own ("-2", "-3").
func NewDir(out string, now time.Time, seed uint64) (string, error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", folderError("make the result folder", out, err)
	}
	name := now.UTC().Format("20060102T150405Z") + "-" + strconv.FormatUint(seed, 10)
	dir, err := firstFree(filepath.Join(out, name))
	if err != nil {
		return "", err
	}
	if err := pointLatest(out, filepath.Base(dir)); err != nil {
		// The folder is new and empty: a run that cannot start leaves nothing.
		return "", errors.Join(err, os.Remove(dir))
	}
	return dir, nil
}

func firstFree(path string) (string, error) {
	const most = 100 // runs started in one second with one seed: more is a loop, not a user
	candidate := path
	for n := 2; ; n++ {
		err := os.Mkdir(candidate, 0o755)
		switch {
		case err == nil:
			return candidate, nil
		case !errors.Is(err, fs.ErrExist) || n > most:
			return "", folderError("make the result folder", candidate, err)
		}
		candidate = path + "-" + strconv.Itoa(n)
	}
}

// pointLatest replaces the link in one step: a reader sees the old run or the new one, never none.
func pointLatest(out, name string) error {
	link := filepath.Join(out, Latest)
	if info, err := os.Lstat(link); err == nil && info.Mode()&fs.ModeSymlink == 0 {
		return fmt.Errorf("%s is in the way: it is no link, and the link to the newest run belongs there; move it, or give another folder with --out", link)
	}
	next := filepath.Join(out, "."+Latest+"-"+name)
	if err := os.Symlink(name, next); err != nil {
		return fmt.Errorf("cannot link %s to the new run: %w; give a folder on a file system with symbolic links with --out", link, err)
	}
	if err := os.Rename(next, link); err != nil {
		return errors.Join(fmt.Errorf("cannot link %s to the new run: %w", link, err), os.Remove(next))
	}
	return nil
}

// Discard removes the folder of a run that measured nothing, and points out/latest back to the newest run that is left.
func Discard(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("cannot remove the folder of a run that measured nothing: %w", err)
	}
	out, name := filepath.Dir(dir), filepath.Base(dir)
	link := filepath.Join(out, Latest)
	if to, err := os.Readlink(link); err != nil || to != name {
		return nil // a later run has moved it
	}
	left, err := filepath.Glob(filepath.Join(out, "*", FileName))
	if err != nil {
		return err
	}
	newest := ""
	for _, path := range left { // names begin with their time
		if run := filepath.Base(filepath.Dir(path)); run != Latest {
			newest = max(newest, run)
		}
	}
	if newest == "" {
		return os.Remove(link)
	}
	return pointLatest(out, newest)
}
