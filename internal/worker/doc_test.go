package worker_test

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"protocolbench/internal/driver"
	"protocolbench/internal/shape"
)

// DRIVER.md has two generated parts, between marks. `go test ./internal/worker -run DriverDocument -update` writes them again.
var update = flag.Bool("update", false, "write the generated parts of DRIVER.md again")

const driverDocument = "../../DRIVER.md"

func marked(part string) *regexp.Regexp {
	return regexp.MustCompile(`(?s)(<!-- begin ` + part + ` -->\n` + "```text\n)(.*?)(```\n" + `<!-- end ` + part + ` -->)`)
}

func readPart(t *testing.T, part string) string {
	t.Helper()
	document, err := os.ReadFile(driverDocument)
	if err != nil {
		t.Fatal(err)
	}
	found := marked(part).FindSubmatch(document)
	if found == nil {
		t.Fatalf("DRIVER.md has no part %q between its marks", part)
	}
	return string(found[2])
}

func writePart(t *testing.T, part, text string) {
	t.Helper()
	readPart(t, part)
	document, _ := os.ReadFile(driverDocument)
	changed := marked(part).ReplaceAllStringFunc(string(document), func(whole string) string {
		m := marked(part).FindStringSubmatch(whole)
		return m[1] + text + m[3]
	})
	if err := os.WriteFile(driverDocument, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
}

// vectorShape is small enough to print and has a rest in every field.
var vectorShape = shape.Shape{
	Name: "vector", RecordsPerBatch: 3, BatchesPerPartition: 1, Partitions: 1, Topics: 1,
	KeyBytes: 20, ValueBytes: 11, Headers: 2, RequiredAcks: -1,
}

const vectorSeed = 9876543210987654321

func TestDriverDocumentVector(t *testing.T) {
	content := shape.NewContent(vectorShape, vectorSeed)
	var b strings.Builder
	fmt.Fprintf(&b, "contentSeed %d, keyBytes %d, valueBytes %d, headers %d\n", uint64(vectorSeed), vectorShape.KeyBytes, vectorShape.ValueBytes, vectorShape.Headers)
	for _, i := range []int{0, 1, 1001} {
		var r shape.Record
		content.Record(i, &r)
		fmt.Fprintf(&b, "record %d: key %s, value (hex) %s, timestamp delta %d\n", i, r.Key, hex.EncodeToString(r.Value), r.TimestampDelta)
		for _, h := range r.Headers {
			fmt.Fprintf(&b, "  header %s = (hex) %s\n", h.Key, hex.EncodeToString(h.Value))
		}
	}
	for _, n := range []int{0, 1, 3} {
		e := content.Expect(n)
		fmt.Fprintf(&b, "the first %d records: %d bytes of values, sum of first bytes %d, hash %d\n", n, e.Bytes, e.ByteSum, e.Hash)
	}
	if *update {
		writePart(t, "vector", b.String())
	}
	if documented := readPart(t, "vector"); documented != b.String() {
		t.Errorf("DRIVER.md's test vector is\n%s\npackage shape makes\n%s", documented, b.String())
	}
}

// script is the transcript's requests. TOPIC and BROKER stand for what a test has; ids are given in order.
func script() []driver.Request {
	live := shape.Shape{
		Name: "records=10", RecordsPerBatch: 10, BatchesPerPartition: 1, Partitions: 1, Topics: 1,
		KeyBytes: 16, ValueBytes: 100, Headers: 0, RequiredAcks: -1,
	}
	fetch := live
	fetch.Name, fetch.FetchBytes = "size=4KiB", 4096
	open := func(cell, tier int, api string, version int, s shape.Shape) driver.Request {
		o := &driver.Open{
			Cell: cell, Tier: tier, API: api, Version: version, Shape: s, Mode: driver.ModeBare,
			ContentSeed: vectorSeed, BaseTimestampMs: 1_764_500_000_000, MaxRequests: 16,
		}
		if tier > 0 {
			o.Brokers, o.Topic = []string{"BROKER"}, "TOPIC"
		}
		return driver.Request{Op: driver.OpOpen, Open: o}
	}
	batch := func(op string, cell, requests int) driver.Request {
		return driver.Request{Op: op, Batch: &driver.Batch{Cell: cell, Requests: requests, Placement: 12345678901234567890}}
	}
	requests := []driver.Request{
		{Op: driver.OpHello},
		open(0, 0, "Fetch", 12, live),
		{Op: driver.OpPlant, Plant: &driver.Plant{Cell: 0, CPUNsPerRequest: 5000}},
		batch(driver.OpWarm, 0, 16),
		batch(driver.OpBatch, 0, 16),
		batch(driver.OpSteady, 0, 16),
		batch(driver.OpHash, 0, 1),
		open(1, 1, "Produce", 9, live),
		batch(driver.OpBatch, 1, 16),
		open(2, 1, "Fetch", 11, fetch),
		batch(driver.OpBatch, 2, 4),
		batch(driver.OpBatch, 2, 99),
		batch(driver.OpHash, 2, 1),
		{Op: driver.OpSnapshot},
		{Op: driver.OpClose, Cell: ptr(2)},
		{Op: driver.OpClose},
	}
	for i := range requests {
		requests[i].ID = i + 1
	}
	return requests
}

// The transcript's requests are sent to the real worker, and its answers have to have the documented fields, and the documented values
// where they do not depend on the machine.
func TestDriverDocumentTranscript(t *testing.T) {
	bench := embeddedBench(t)
	topic, err := bench.NewTopic(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	real := strings.NewReplacer("BROKER", bench.Brokers[0], "TOPIC", topic)
	shown := strings.NewReplacer(bench.Brokers[0], "127.0.0.1:9092", topic, "bench-1")
	cmd := exec.Command(franzWorker(t).Path)
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(out)
	var transcript strings.Builder
	for _, r := range script() {
		line, _ := json.Marshal(r)
		asked := real.Replace(string(line))
		if _, err := io.WriteString(in, asked+"\n"); err != nil {
			t.Fatal(err)
		}
		answer, err := answers.ReadString('\n')
		if err != nil {
			t.Fatalf("no answer to %s: %v", asked, err)
		}
		fmt.Fprintf(&transcript, "> %s\n< %s", shown.Replace(asked), shown.Replace(manyMessages.ReplaceAllString(answer, "$1]")))
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the worker ended with %v", err)
	}
	if *update {
		writePart(t, "transcript", transcript.String())
	}
	compareTranscripts(t, readPart(t, "transcript"), transcript.String())
}

// manyMessages: two of a hundred show what they look like.
var manyMessages = regexp.MustCompile(`("messages":\[\{[^}]*\},\{[^}]*\})[^\]]*\]`)

func compareTranscripts(t *testing.T, documented, got string) {
	t.Helper()
	was, is := strings.Split(documented, "\n"), strings.Split(got, "\n")
	if len(was) != len(is) {
		t.Fatalf("DRIVER.md's transcript has %d lines, the worker's %d; write it again with -update", len(was), len(is))
	}
	for i := range was {
		switch {
		case strings.HasPrefix(was[i], "> ") && was[i] != is[i]:
			t.Errorf("documented request\n%s\nis now\n%s", was[i], is[i])
		case strings.HasPrefix(was[i], "< "):
			before, after := flatten(t, was[i]), flatten(t, is[i])
			if !reflect.DeepEqual(before, after) {
				t.Errorf("documented answer\n%s\nis now\n%s\n(%v, %v)", was[i], is[i], before, after)
			}
		}
	}
}

// steadyFields have the same values on every machine and in every build of the client.
var steadyFields = []string{
	"id", "protocol", "client", "api", "key", "min", "records", "requests", "bytes", "byteSum", "firstKey", "lastKey", "hash",
	"recordsPerRequest", "answerVersion", "preflightRequests", "wireRequests", "startOffset", "endOffset", "cell", "error",
}

// flatten gives the field names of an answer, with the values of steady fields. Fields of maps (build) and of frames (what else a client
// sends) are left out.
func flatten(t *testing.T, line string) []string {
	t.Helper()
	var answer any
	if err := json.Unmarshal([]byte(line[2:]), &answer); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	found := map[string]bool{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, child := range v {
				if name == "build" || name == "frames" {
					found[path+"/"+name] = true
					continue
				}
				walk(path+"/"+name, child)
			}
		case []any:
			for _, child := range v {
				walk(path, child)
			}
		default:
			if name := path[strings.LastIndex(path, "/")+1:]; slices.Contains(steadyFields, name) {
				path = fmt.Sprintf("%s=%v", path, v)
			}
			found[path] = true
		}
	}
	walk("", answer)
	paths := []string{}
	for path := range found {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}

// Every line of the document that looks like a message is one, by the strict decoders that the two ends use, and every operation is
// shown.
func TestDriverDocumentLinesDecode(t *testing.T) {
	document, err := os.ReadFile(driverDocument)
	if err != nil {
		t.Fatal(err)
	}
	var decoder driver.Decoder
	shown := map[string]bool{}
	op := ""
	for _, line := range strings.Split(string(document), "\n") {
		if request, ok := strings.CutPrefix(line, "> {"); ok {
			r, err := decoder.Request([]byte("{" + request))
			if err != nil {
				t.Errorf("%s\n  is no request: %v", line, err)
			}
			op = r.Op
			shown[op] = true
		}
		if answer, ok := strings.CutPrefix(line, "< {"); ok {
			if _, err := decoder.Response([]byte("{"+answer), op); err != nil {
				t.Errorf("%s\n  is no answer to %q: %v", line, op, err)
			}
		}
	}
	for _, op := range []string{driver.OpHello, driver.OpOpen, driver.OpPlant, driver.OpWarm, driver.OpBatch, driver.OpSteady, driver.OpHash, driver.OpSnapshot, driver.OpProfile, driver.OpClose} {
		if !shown[op] {
			t.Errorf("DRIVER.md shows no request %q", op)
		}
	}
	for _, field := range fieldsOf(reflect.TypeFor[driver.Request](), reflect.TypeFor[driver.Response]()) {
		if !strings.Contains(string(document), "`"+field+"`") {
			t.Errorf("DRIVER.md does not explain the field `%s`", field)
		}
	}
}

// fieldsOf gives the JSON names of all fields of messages, those of structs in them among it.
func fieldsOf(types ...reflect.Type) []string {
	var names []string
	var walk func(reflect.Type)
	walk = func(t reflect.Type) {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice:
			walk(t.Elem())
		case reflect.Struct:
			for i := range t.NumField() {
				name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
				walk(t.Field(i).Type)
			}
		}
	}
	for _, t := range types {
		walk(t)
	}
	return names
}
