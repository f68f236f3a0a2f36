package planted

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// modules of the client, and where a checkout has them.
var modules = []struct{ path, folder string }{{"github.com/twmb/franz-go", "."}, {"github.com/twmb/franz-go/pkg/kmsg", "pkg/kmsg"}}

// Checkout makes a folder a checkout of the client's release in go.mod, with its kmsg where a checkout has it, and writable. The go command has to run in this
// program's own sources.
func Checkout(ctx context.Context, dir string) error {
	for _, m := range modules {
		out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", m.path).Output()
		if err != nil {
			return fmt.Errorf("finding the sources of %s (run this in protocolbench's own checkout): %w", m.path, err)
		}
		if err := copyTree(strings.TrimSpace(string(out)), filepath.Join(dir, m.folder)); err != nil {
			return fmt.Errorf("copying %s: %w", m.path, err)
		}
	}
	return nil
}

func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if base := entry.Name(); base == "examples" || base == "docs" || base == "testdata" {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), content, 0o644)
	})
}

// edit is a change of a checkout: what is put before, after or in the place of a text, the first one in a function.
type edit struct {
	file     string
	function string // how it begins
	text     string
	put      string // {} stands for the text
}

// declared is a file of its own in the package of the first edit: what a fault needs beside.
const declared = "planted.go"

// plant changes a checkout.
func plant(dir string, edits []edit, declarations string) error {
	for _, e := range edits {
		file := filepath.Join(dir, e.file)
		content, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("planting: %w", err)
		}
		source := string(content)
		begin := strings.Index(source, e.function)
		if begin < 0 {
			return fmt.Errorf("planting: %s has no %q: this release of the client has it elsewhere, so move the fault there", e.file, e.function)
		}
		at := strings.Index(source[begin:], e.text)
		end := strings.Index(source[begin:], "\n}\n")
		if at < 0 || at > end {
			return fmt.Errorf("planting: %q in %s has no %q: this release of the client writes it otherwise, so move the fault there", e.function, e.file, e.text)
		}
		at += begin
		source = source[:at] + strings.ReplaceAll(e.put, "{}", e.text) + source[at+len(e.text):]
		if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
			return fmt.Errorf("planting: %w", err)
		}
	}
	if declarations == "" {
		return nil
	}
	folder := filepath.Dir(edits[0].file)
	text := fmt.Sprintf("package %s\n\n%s\n", filepath.Base(folder), declarations)
	return os.WriteFile(filepath.Join(dir, folder, declared), []byte(text), 0o644)
}
