package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// FileName is the record's name in a result folder.
const FileName = "run.jsonl"

// Writer appends rows to a record. A row is in the file when Write returns: nothing is kept in memory, so that a run that is
// killed leaves everything that it had measured.
type Writer struct {
	mu   sync.Mutex
	file *os.File
	// broken is the first write error. After a short write the file ends in half a row, and a row appended to that would be
	// lost with it; so the first error stays the answer.
	broken error
}

// Create makes dir where it is missing, and a new, empty record in it. It never writes over an older record.
func Create(dir string) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, folderError("make the result folder", dir, err)
	}
	path := filepath.Join(dir, FileName)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o644)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, fmt.Errorf("the folder %s has a record already (%s): give another folder with --out, or remove that one", dir, FileName)
	case err != nil:
		return nil, folderError("write the record in the result folder", dir, err)
	}
	return &Writer{file: file}, nil
}

// Write appends one row (a row type of this package, or a pointer to one) as one line with one system call.
func (w *Writer) Write(row any) error {
	line, err := encode(row)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken != nil {
		return w.broken
	}
	if _, err := w.file.Write(line); err != nil {
		w.broken = fmt.Errorf("the record %s could not be continued: %w; what was measured before is in it", w.file.Name(), hint(err))
		return w.broken
	}
	return nil
}

// Sync makes the rows survive a power failure. It is separate from Write because it may take many milliseconds: it is called
// between blocks, never while something is measured.
func (w *Writer) Sync() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.file.Sync(); err != nil {
		return fmt.Errorf("the record %s could not be flushed to its disk: %w", w.file.Name(), hint(err))
	}
	return nil
}

// Path is the record's file.
func (w *Writer) Path() string { return w.file.Name() }

// Close ends the writing. Closing twice is allowed.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.file.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("the record %s could not be closed: %w", w.file.Name(), err)
	}
	return nil
}

// folderError says what could not be done, in which folder, and what to do about it.
func folderError(what, dir string, err error) error {
	cause := err
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		cause = pathError.Err // the path stands in the sentence already
	}
	return fmt.Errorf("cannot %s %s: %w", what, dir, hint(cause))
}

// hint adds to an error of the file system what a user can do about it.
func hint(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; make it writable for this user, or give another folder with --out", err)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w; give a folder on a writable file system with --out", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w; make room, or give a folder elsewhere with --out", err)
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%w; a file stands where a folder has to be: remove it, or give another folder with --out", err)
	}
	return fmt.Errorf("%w; give another folder with --out", err)
}
