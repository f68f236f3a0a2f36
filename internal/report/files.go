package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

// Names of the files that are made from a record and can be made again.
const (
	VerdictFile  = "verdict.json"
	MarkdownFile = "report.md"
	HTMLFile     = "report.html"
	BenchFile    = "bench.txt"
)

// WriteAll writes verdict.json, report.md, report.html and bench.txt into a result folder. Each file is replaced in one step: a program that
// reads verdict.json while the run is judged again sees the old one or the new one, never half of one.
func WriteAll(dir string, v verdict.Verdict, run *record.Run) error {
	for _, file := range []struct {
		name   string
		render func(io.Writer, verdict.Verdict, *record.Run) error
	}{{VerdictFile, verdictJSON}, {MarkdownFile, Markdown}, {HTMLFile, HTML}, {BenchFile, Bench}} {
		var content bytes.Buffer
		if err := file.render(&content, v, run); err != nil {
			return fmt.Errorf("%s cannot be made: %w", file.name, err)
		}
		if err := replace(filepath.Join(dir, file.name), content.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func verdictJSON(w io.Writer, v verdict.Verdict, _ *record.Run) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	return encoder.Encode(v)
}

func replace(path string, content []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w; make its folder writable and judge the run again", path, err)
	}
	_, err = temporary.Write(content)
	err = errors.Join(err, temporary.Chmod(0o644), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s cannot be written: %w; make room or its folder writable, and judge the run again", path, err), os.Remove(temporary.Name()))
	}
	return nil
}
