package record

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestWriterAppendsRowsThatAreThereAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	writer, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range goldenRows() {
		if err := writer.Write(row); err != nil {
			t.Fatal(err)
		}
		// Read by name, without Sync or Close: what a kill would leave.
		file, err := os.ReadFile(filepath.Join(dir, FileName))
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(string(file), "\n"); lines != i+1 || !strings.HasSuffix(string(file), "\n") {
			t.Fatalf("after row %d the file has %d lines", i+1, lines)
		}
	}
	if err := writer.Sync(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := writer.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := Read(dir); err != nil {
		t.Error(err)
	}
	if err := writer.Write(&Trailer{}); err == nil || !strings.Contains(err.Error(), FileName) {
		t.Errorf("a row after Close: %v", err)
	}
}

func TestWriterSetsKindAndSchema(t *testing.T) {
	for _, row := range []any{Header{Kind: "batch", Schema: 99}, &Header{Kind: "batch", Schema: 99}} {
		line, err := encode(row)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(line), `{"kind":"header","schema":4,`) {
			t.Errorf("%s", line)
		}
	}
	row := &Batch{}
	if _, err := encode(row); err != nil || row.Kind != "" {
		t.Errorf("the caller's row was changed: %q, %v", row.Kind, err)
	}
}

func TestWriterRefusesWhatIsNoRow(t *testing.T) {
	writer, err := Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = writer.Close() }()
	for _, row := range []any{nil, (*Batch)(nil), 7, "batch", Where{}, map[string]any{"kind": "batch"}, BlockRun{}, Family{Margin: math.NaN()}} {
		if err := writer.Write(row); err == nil {
			t.Errorf("%#v was written", row)
		}
	}
	if file, err := os.ReadFile(writer.Path()); err != nil || len(file) != 0 {
		t.Errorf("the record has %q, %v", file, err)
	}
	if err := writer.Write(Trailer{}); err != nil {
		t.Errorf("a refused row must not end the record: %v", err)
	}
}

func TestWriterStopsAtTheFirstLostRow(t *testing.T) {
	// /dev/full answers every write with ENOSPC, as a full disk does.
	file, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full on this system (it is part of Linux): a full disk cannot be tried")
	}
	writer := &Writer{file: file}
	first := writer.Write(Trailer{})
	if first == nil || !strings.Contains(first.Error(), "make room") {
		t.Errorf("a full disk: %v", first)
	}
	if second := writer.Write(Trailer{}); second == nil || second.Error() != first.Error() {
		t.Errorf("after a lost row: %v", second)
	}
}

func TestCreateSaysWhichFolderAndWhatToDo(t *testing.T) {
	base := t.TempDir()
	file := filepath.Join(base, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(filepath.Join(file, "below")); err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "--out") {
		t.Errorf("below a file: %v", err)
	}
	used := filepath.Join(base, "used")
	writer, err := Create(used)
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(used); err == nil || !strings.Contains(err.Error(), used) || !strings.Contains(err.Error(), "already") {
		t.Errorf("over a record: %v", err)
	}
}

func TestCreateInAReadOnlyFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("runs as root, whom no folder's mode stops; run as another user to try a read-only folder")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	_, err := Create(dir)
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "writable") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, FileName)); err == nil {
		t.Error("a record was left")
	}
}

func TestHintsForWhatRootCannotTry(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{&os.PathError{Op: "open", Path: "/r/run.jsonl", Err: os.ErrPermission}, "make it writable"},
		{&os.PathError{Op: "open", Path: "/r/run.jsonl", Err: syscall.EROFS}, "writable file system"},
	} {
		err := folderError("write the record in the result folder", "/r", test.err)
		if !strings.Contains(err.Error(), test.want) || strings.Count(err.Error(), "/r") != 1 {
			t.Errorf("%v", err)
		}
	}
}
