package build

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const (
	modulePath = "github.com/twmb/franz-go"
	kmsgPath   = modulePath + "/pkg/kmsg"
	kmsgFolder = "pkg/kmsg"
)

// checkout is a local working copy of the client: the files of its modules that a build can depend on, by name, with their sums.
type checkout struct {
	dir   string // without links
	kmsg  bool   // it has a kmsg of its own
	files map[string]string
}

// readCheckout looks at a folder and sums up its files.
func readCheckout(dir string) (*checkout, error) {
	if err := isCheckout(dir); err != nil {
		return nil, err
	}
	dir, err := filepath.EvalSymlinks(dir) // a walk doesn't begin at a link
	if err != nil {
		return nil, unreadable(dir, err)
	}
	c := &checkout{dir: dir, files: map[string]string{}}
	if declared, _ := moduleOf(filepath.Join(dir, filepath.FromSlash(kmsgFolder))); declared == kmsgPath {
		c.kmsg = true
	}
	err = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return unreadable(name, err)
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if entry.IsDir() {
			if rel != "." && c.leavesOut(name, rel) {
				return filepath.SkipDir
			}
			return nil
		}
		if !matters(rel) {
			return nil
		}
		sum, err := c.sumOf(name, rel)
		c.files[rel] = sum
		return err
	})
	return c, err
}

// isCheckout says what a folder is, if it is no checkout.
func isCheckout(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && strings.Contains(dir, "/~"):
		return faultf("there is no folder %s: the shell leaves the ~ after a = as it is, write $HOME in its place", dir)
	case errors.Is(err, fs.ErrNotExist):
		return faultf("there is no folder %s: give the root of a franz-go checkout", dir)
	case err != nil:
		return faultf("the folder %s can't be looked at: %v", dir, err)
	case !info.IsDir():
		return faultf("%s is a file: give the root of a franz-go checkout", dir)
	}
	declared, err := moduleOf(dir)
	switch {
	case declared == modulePath:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		if root := rootAbove(dir); root != "" {
			return faultf("%s is a folder within a franz-go checkout: give its root, %s", dir, root)
		}
		return faultf("%s is no franz-go checkout: it has no go.mod", dir)
	case err != nil:
		return unreadable(filepath.Join(dir, "go.mod"), err)
	}
	if root := rootAbove(dir); root != "" {
		return faultf("%s is the module %s within a franz-go checkout: give the checkout's root, %s", dir, declared, root)
	}
	return faultf("%s is no franz-go checkout: its go.mod is that of the module %q", dir, declared)
}

// rootAbove is the checkout that a folder lies in, or "".
func rootAbove(dir string) string {
	for parent := filepath.Dir(dir); ; parent = filepath.Dir(parent) {
		if declared, _ := moduleOf(parent); declared == modulePath {
			return parent
		}
		if parent == filepath.Dir(parent) {
			return ""
		}
	}
}

// moduleOf reads the module line of a folder's go.mod.
func moduleOf(dir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "module"); ok {
			declared, _, _ := strings.Cut(strings.TrimSpace(rest), "//")
			return strings.Trim(strings.TrimSpace(declared), `"`), nil
		}
	}
	return "", nil
}

// leavesOut: what is no part of the client's modules, or what no build reads.
func (c *checkout) leavesOut(name, rel string) bool {
	base := path.Base(rel)
	if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "vendor" {
		return true
	}
	_, err := os.Lstat(filepath.Join(name, "go.mod"))
	return err == nil && !(c.kmsg && rel == kmsgFolder)
}

// matters: a build reads Go, assembly, headers, modules' files and what is embedded; tests, scripts and texts it doesn't.
func matters(rel string) bool {
	base := path.Base(rel)
	switch {
	case base == "go.mod" || base == "go.sum":
		return true
	case strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || strings.HasSuffix(base, "_test.go"):
		return false
	case path.Ext(base) == ".go":
		return true
	}
	return strings.HasPrefix(rel, "pkg/") && !slices.Contains([]string{".md", ".sh", ".txt"}, path.Ext(base))
}

// sumOf sums up one file. A link is followed within the checkout and not out of it: what lies elsewhere changes without it.
func (c *checkout) sumOf(name, rel string) (string, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return "", unreadable(name, err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if name, err = c.target(name, rel); err != nil {
			return "", err
		}
		if info, err = os.Stat(name); err != nil {
			return "", unreadable(name, err)
		}
	}
	switch {
	case info.IsDir():
		return "", faultf("%s of the checkout is a link to a folder, which a build may see and a copy doesn't: put the folder itself there", rel)
	case !info.Mode().IsRegular():
		return "", faultf("%s of the checkout is neither a file nor a folder: take it away", rel)
	}
	return fileSum(name)
}

func (c *checkout) target(name, rel string) (string, error) {
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", faultf("the link %s of the checkout leads nowhere: %v", rel, err)
	}
	if within, err := filepath.Rel(c.dir, target); err != nil || within == ".." || strings.HasPrefix(within, ".."+string(filepath.Separator)) {
		return "", faultf("the link %s of the checkout leads out of it, to %s: put the file itself there", rel, target)
	}
	return target, nil
}

func unreadable(name string, err error) error {
	if cause := errors.Unwrap(err); cause != nil {
		err = cause // without the name, which is said already
	}
	return faultf("%s can't be read: %v; make it readable for this user", name, err)
}

func fileSum(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", unreadable(name, err)
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", unreadable(name, err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// sum is one number for all files, whatever folder they lie in.
func (c *checkout) sum() string {
	hash := sha256.New()
	for _, rel := range slices.Sorted(maps.Keys(c.files)) {
		fmt.Fprintf(hash, "%s  %s\n", c.files[rel], rel)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// copyTo copies the files, and looks whether they are still those that were summed up.
func (c *checkout) copyTo(dir string) error {
	for _, rel := range slices.Sorted(maps.Keys(c.files)) {
		to := filepath.Join(dir, filepath.FromSlash(rel))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		from := filepath.Join(c.dir, filepath.FromSlash(rel))
		content, err := os.ReadFile(from)
		if err != nil {
			return unreadable(from, err)
		}
		if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != c.files[rel] {
			return faultf("%s of the checkout was changed while it was read: wait until nothing writes there, and run again", rel)
		}
		if err := os.WriteFile(to, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// shownFiles of a changed checkout are named.
const shownFiles = 5

// differs says what of a checkout is not as it was, or "".
func (c *checkout) differs(now *checkout) string {
	var names []string
	for _, rel := range slices.Sorted(maps.Keys(c.files)) {
		switch sum, there := now.files[rel]; {
		case !there:
			names = append(names, rel+" is gone")
		case sum != c.files[rel]:
			names = append(names, rel+" was changed")
		}
	}
	for _, rel := range slices.Sorted(maps.Keys(now.files)) {
		if _, before := c.files[rel]; !before {
			names = append(names, rel+" is new")
		}
	}
	if more := len(names) - shownFiles; more > 0 {
		names = append(names[:shownFiles], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}
