package driver

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestRequestsAreHeldToTheirForm(t *testing.T) {
	for _, c := range []struct{ line, fault string }{
		{`{"id":1,"op":"hello"}`, ""},
		{`{"id":1,"op":"snapshot"}`, ""},
		{`{"id":1,"op":"close"}`, ""},
		{`{"id":1,"op":"close","cell":0}`, ""},
		{`{"id":1,"op":"batch","batch":{"cell":0,"requests":3,"placement":"18446744073709551615"}}`, ""},
		{`{"id":1,"op":"plant","plant":{"cell":0,"cpuNsPerRequest":5}}`, ""},
		{`{"id":0,"op":"hello"}`, "ids start at 1"},
		{`{"id":1,"op":"dance"}`, `unknown op "dance"`},
		{`{"id":1}`, `unknown op ""`},
		{`{"id":1,"op":"batch"}`, `without its field "batch"`},
		{`{"id":1,"op":"hello","cell":1}`, `"cell" does not belong`},
		{`{"id":1,"op":"hash","batch":{"cell":0},"open":{}}`, `"open" does not belong`},
		{`{"id":1,"op":"hello","colour":1}`, "unknown field"},
		{`{"id":1,"op":"batch","batch":{"cell":0,"request":3}}`, "unknown field"},
		{`{"id":1,"op":"batch","batch":{"cell":0,"placement":7}}`, "unquoted"},
		{`{"id":1,"op":"hello"}{"id":2,"op":"hello"}`, "more than one"},
		{`{"id":1,"op":"hello"} x`, "more than one"},
		{`{"id":1,"op":"hello"`, "cut off"},
		{`null`, "not a JSON object"},
		{`12`, "not a JSON object"},
		{``, "not a JSON object"},
		{`connected!`, "not a JSON object"},
	} {
		var d Decoder
		for range 2 { // again after a fault or a success: the decoder is reused
			_, err := d.Request([]byte(c.line))
			checkFault(t, c.line, c.fault, err)
		}
		if r, err := d.Request([]byte(`{"id":7,"op":"hello"}`)); err != nil || r.ID != 7 {
			t.Errorf("after %s the decoder reads a good line as %+v, %v", c.line, r, err)
		}
	}
}

func TestAnswersAreHeldToTheirForm(t *testing.T) {
	for _, c := range []struct{ op, line, fault string }{
		{OpPlant, `{"id":1}`, ""},
		{OpClose, `{"id":1}`, ""},
		{OpBatch, `{"id":1,"error":"no such cell"}`, ""},
		{OpBatch, `{"id":1,"batched":{"cpuNs":1}}`, ""},
		{OpWarm, `{"id":1,"batched":{"cpuNs":1}}`, ""},
		{OpHash, `{"id":1,"hashed":{"records":1,"hash":"18446744073709551615","requests":1}}`, ""},
		{OpBatch, `{"id":1}`, `without its field "batched"`},
		{OpBatch, `{"id":1,"error":"x","batched":{}}`, "does not belong"},
		{OpPlant, `{"id":1,"snapshot":{"cells":[]}}`, "does not belong"},
		{OpBatch, `{"id":1,"batched":{"cpuns_":1}}`, "unknown field"},
		{OpHash, `{"id":1,"hashed":{"records":1,"hash":18446744073709551615,"requests":1}}`, "unquoted"},
		{OpBatch, `{"id":1,"batched":{}} {}`, "more than one"},
	} {
		var d Decoder
		_, err := d.Response([]byte(c.line), c.op)
		checkFault(t, c.op+" "+c.line, c.fault, err)
	}
}

func checkFault(t *testing.T, line, fault string, err error) {
	t.Helper()
	switch {
	case fault == "" && err != nil:
		t.Errorf("%s is refused: %v", line, err)
	case fault != "" && err == nil:
		t.Errorf("%s is taken, wanted a fault with %q", line, fault)
	case fault != "" && !strings.Contains(err.Error(), fault):
		t.Errorf("%s: fault %q, wanted one with %q", line, err, fault)
	}
}

func TestLooseID(t *testing.T) {
	for line, want := range map[string]int{
		`{"id":5,"op":"x","y":1}`: 5, `{"id":"five"}`: 0, `not json`: 0, `{}`: 0, `null`: 0,
	} {
		if got := LooseID([]byte(line)); got != want {
			t.Errorf("LooseID(%s) = %d, want %d", line, got, want)
		}
	}
}

// FuzzRequest: whatever is taken has its form, survives a round trip, and the decoder is not left in a state.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"id":1,"op":"open","open":{"cell":1,"tier":0,"api":"Fetch","version":12,"contentSeed":"9","maxRequests":3}}`))
	f.Add([]byte(`{"id":1,"op":"batch","batch":{"cell":0,"requests":3,"placement":"1"}}`))
	f.Add([]byte(`{"id":1,"op":"close","cell":3} {`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var d Decoder
		r, err := d.Request(line)
		if err == nil {
			again := encode(t, r)
			back, err := d.Request(again)
			if err != nil || !reflect.DeepEqual(r, back) {
				t.Fatalf("%q reads as %+v, and written again as %s reads as %+v, %v", line, r, again, back, err)
			}
		}
		if r, err := d.Request([]byte(`{"id":7,"op":"hello"}`)); err != nil || r.ID != 7 {
			t.Fatalf("after %q a good line reads as %+v, %v", line, r, err)
		}
		LooseID(line)
	})
}

// FuzzResponse is the same for the parent's side.
func FuzzResponse(f *testing.F) {
	f.Add([]byte(`{"id":1,"hello":{"protocol":1,"build":{"go":"1"},"implemented":[{"api":"Fetch"}]}}`), OpHello)
	f.Add([]byte(`{"id":1,"snapshot":{"cells":[{"cell":-1,"frames":[{"key":1}]}]}}`), OpSnapshot)
	f.Add([]byte(`{"id":1,"hashed":{"hash":"1"}}`), OpHash)
	f.Add([]byte(`{"id":1,"error":"x"}`), OpBatch)
	f.Fuzz(func(t *testing.T, line []byte, op string) {
		var d Decoder
		r, err := d.Response(line, op)
		if err == nil {
			again := encode(t, r)
			back, err := d.Response(again, op)
			if err != nil || string(encode(t, back)) != string(again) {
				t.Fatalf("%q reads as %+v, and written again as %s reads as %+v, %v", line, r, again, back, err)
			}
		}
		if r, err := d.Response([]byte(`{"id":7,"error":"x"}`), op); err != nil || r.ID != 7 {
			t.Fatalf("after %q a good line reads as %+v, %v", line, r, err)
		}
	})
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	line, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return line
}
