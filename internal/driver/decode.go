package driver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Decoder reads lines of the protocol strictly: an unknown field, a second value or a field of another operation is a
// fault, because a misspelt field that is silently dropped becomes a wrong figure later.
//
// It keeps one json.Decoder alive: a new one for each line costs a 1 KiB buffer for every batch. The zero value works; it
// is not safe for several goroutines.
type Decoder struct {
	source bytes.Reader
	json   *json.Decoder
	fed    int64 // bytes of all lines before this one
}

// Request decodes and checks one line to a worker.
func (d *Decoder) Request(line []byte) (Request, error) {
	var r Request
	if err := d.decode(line, &r); err != nil {
		return Request{}, err
	}
	return r, r.check()
}

// Response decodes and checks one line from a worker, the answer to operation op.
func (d *Decoder) Response(line []byte, op string) (Response, error) {
	var r Response
	if err := d.decode(line, &r); err != nil {
		return Response{}, err
	}
	return r, r.check(op)
}

func (d *Decoder) decode(line []byte, into any) error {
	line = bytes.TrimSpace(line)
	// Objects only: null would leave the message empty without an error, and numbers need an end of input to end.
	if len(line) == 0 || line[0] != '{' {
		return errors.New("not a JSON object")
	}
	if d.json == nil {
		d.json = json.NewDecoder(&d.source)
		d.json.DisallowUnknownFields()
		d.fed = 0
	}
	d.source.Reset(line)
	err := d.json.Decode(into)
	if err == nil && d.json.InputOffset()-d.fed != int64(len(line)) {
		err = errors.New("more than one JSON value on the line")
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = errors.New("the JSON object is cut off")
	}
	if err != nil {
		d.json = nil // a json.Decoder keeps its error and what it has buffered
		return err
	}
	d.fed += int64(len(line))
	return nil
}

// LooseID finds the id in a line that is not a valid request, so that the refusal can carry it; 0 where there is none.
func LooseID(line []byte) int {
	var r struct {
		ID int `json:"id"`
	}
	if json.Unmarshal(line, &r) != nil {
		return 0
	}
	return r.ID
}

// check holds a request to its form: an id and exactly the field of its operation.
func (r *Request) check() error {
	if r.ID < 1 {
		return fmt.Errorf("id is %d: ids start at 1", r.ID)
	}
	want := ""
	switch r.Op {
	case OpHello, OpSnapshot:
	case OpOpen:
		want = "open"
	case OpPlant:
		want = "plant"
	case OpWarm, OpBatch, OpSteady, OpHash:
		want = "batch"
	case OpProfile:
		want = "profile"
	case OpClose:
		if r.Cell != nil {
			want = "cell"
		}
	default:
		return fmt.Errorf("unknown op %q: this worker knows hello, open, plant, warm, batch, steady, hash, snapshot, profile and close", r.Op)
	}
	return exactly(r.Op, want, []field{
		{"open", r.Open != nil}, {"plant", r.Plant != nil}, {"batch", r.Batch != nil}, {"cell", r.Cell != nil}, {"profile", r.Profile != nil},
	})
}

// check holds an answer to its form: an error, or exactly the field of the operation it answers.
func (r *Response) check(op string) error {
	want := ""
	if r.Sent != nil && (r.Error == "" || op != OpOpen) {
		return fmt.Errorf("field \"sent\" goes with the error of an open, not with %q", op)
	}
	switch {
	case r.Error != "": // an error comes alone, but for what an open had sent
	case op == OpHello:
		want = "hello"
	case op == OpOpen:
		want = "opened"
	case op == OpWarm || op == OpBatch:
		want = "batched"
	case op == OpSteady:
		want = "steadied"
	case op == OpHash:
		want = "hashed"
	case op == OpSnapshot:
		want = "snapshot"
	case op == OpProfile:
		want = "profiled"
	}
	return exactly(op, want, []field{
		{"hello", r.Hello != nil}, {"opened", r.Opened != nil}, {"batched", r.Batched != nil},
		{"steadied", r.Steadied != nil}, {"hashed", r.Hashed != nil}, {"snapshot", r.Snapshot != nil}, {"profiled", r.Profiled != nil},
	})
}

type field struct {
	name string
	set  bool
}

func exactly(op, want string, fields []field) error {
	for _, f := range fields {
		switch {
		case f.set && f.name != want:
			return fmt.Errorf("field %q does not belong to op %q", f.name, op)
		case !f.set && f.name == want:
			return fmt.Errorf("op %q without its field %q", op, want)
		}
	}
	return nil
}
