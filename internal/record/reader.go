package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
)

// maxLineBytes bounds what one row may take in memory. The longest rows (evidence of a family of 20 cells) are some 10 KiB.
const maxLineBytes = 16 << 20

// Read reads a record: a run.jsonl, or the result folder that has one.
func Read(path string) (*Run, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, FileName)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("no record can be read: %w; give a result folder that has a %s", err, FileName)
	}
	defer func() { _ = file.Close() }() // only read from
	run, err := ReadFrom(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return run, nil
}

// ReadFrom reads a record row by row. A torn last line (the writer was killed in it) and kinds that this build doesn't know become
// warnings; everything else that is not as FORMAT.md says is an error with line, kind and field.
func ReadFrom(r io.Reader) (*Run, error) {
	lines := bufio.NewReaderSize(r, 64<<10)
	reader := reader{run: &Run{}}
	for {
		line, whole, err := nextLine(lines)
		reader.line++
		switch {
		case errors.Is(err, io.EOF):
			return reader.finish()
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", reader.line, err)
		case !whole && !json.Valid(line):
			reader.warn("is torn: the run was killed while it wrote this row; the rows before it are used")
			return reader.finish()
		}
		if err := reader.row(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", reader.line, err)
		}
	}
}

// nextLine gives a line without its end. whole is false for a last line that has no end. io.EOF comes with no line.
func nextLine(lines *bufio.Reader) (line []byte, whole bool, err error) {
	for {
		part, err := lines.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLineBytes:
			return nil, false, fmt.Errorf("is longer than %d MiB: this is no record, or a damaged one", maxLineBytes>>20)
		case err == nil:
			return bytes.TrimSuffix(line, []byte("\n")), true, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, false, nil
		default:
			return nil, false, err
		}
	}
}

type reader struct {
	run    *Run
	line   int
	strict strictness
	// Where rows belong: indexes, because the slices of a run still grow.
	families map[string]int
	blocks   map[Where]int
}

func (r *reader) warn(text string) {
	r.run.Warnings = append(r.run.Warnings, fmt.Sprintf("line %d %s", r.line, text))
}

func (r *reader) finish() (*Run, error) {
	if r.families == nil {
		return nil, fmt.Errorf("this is no record: it has no header row (an empty file, or one whose start is lost)")
	}
	return r.run, nil
}

// row takes one line. Errors begin with the row's kind.
func (r *reader) row(line []byte) error {
	var head struct {
		Kind   string `json:"kind"`
		Schema int    `json:"schema"`
		Tool   string `json:"tool"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return fmt.Errorf("is no row of a record: %w", err)
	}
	switch {
	case head.Kind == "":
		return fmt.Errorf("is no row of a record: it has no kind")
	case r.families == nil && head.Kind != KindHeader:
		return fmt.Errorf("%s: a record begins with a header row, so this is no record, or its start is lost", head.Kind)
	case r.families == nil && (head.Schema < oldestSchema || head.Schema > Schema):
		return fmt.Errorf("header: this record has schema %d, and this build of protocolbench reads schemas %d to %d: "+
			"read it with the build that wrote it (revision %q) or a newer one", head.Schema, oldestSchema, Schema, head.Tool)
	case r.families == nil:
		r.strict = strictness{schema: head.Schema}
	}
	rowType, known := rowTypes[head.Kind]
	if !known {
		r.warn(fmt.Sprintf("has the unknown kind %q and is left out: a newer build wrote it", head.Kind))
		return nil
	}
	row := reflect.New(rowType)
	if err := r.decode(line, head.Kind, row); err != nil {
		return err
	}
	if err := r.place(row.Interface()); err != nil {
		return fmt.Errorf("%s: %w", head.Kind, err)
	}
	return nil
}

// decode fills a row from its line, strictly. A line that is byte for byte what the writer would write has every field and no other, which is
// quickly seen (a record of a standard run has 40,000 rows); only one that isn't is looked at field by field.
func (r *reader) decode(line []byte, kind string, row reflect.Value) error {
	decodeErr := json.Unmarshal(line, row.Interface())
	if decodeErr == nil && r.strict.schema == Schema { // the writer's own fields are those of the newest schema
		if canonical, err := encode(row.Interface()); err == nil && bytes.Equal(bytes.TrimSuffix(canonical, []byte("\n")), line) {
			return nil
		}
	}
	if field, err := r.strict.check(line, row.Type().Elem(), ""); err != nil {
		return fmt.Errorf("%s: field %s %w", kind, field, err)
	}
	var typeError *json.UnmarshalTypeError
	if errors.As(decodeErr, &typeError) {
		return fmt.Errorf("%s: field %s cannot be a JSON %s: it is a %s", kind, typeError.Field, typeError.Value, typeError.Type)
	}
	if decodeErr != nil {
		return fmt.Errorf("%s: %w", kind, decodeErr)
	}
	return nil
}
