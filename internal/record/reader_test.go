package record

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"
)

func goldenLines(t testing.TB) []string {
	t.Helper()
	file, err := os.ReadFile(goldenPath)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(file), "\n"), "\n")
}

func TestReadRefusesWhatIsNotAsWritten(t *testing.T) {
	lines := goldenLines(t)
	line := func(kind string) string {
		for _, l := range lines {
			if strings.HasPrefix(l, `{"kind":"`+kind+`"`) {
				return l
			}
		}
		t.Fatalf("no %s row", kind)
		return ""
	}
	header, family, block, batch := line(KindHeader), line(KindFamily), line(KindBlock), line(KindBatch)
	changed := func(l, old, next string) string {
		if !strings.Contains(l, old) {
			t.Fatalf("%q is not in %s", old, l)
		}
		return strings.Replace(l, old, next, 1)
	}
	second, look := block, line(KindLook)
	block = changed(block, `,"look":2`, ``)
	for _, test := range []struct {
		name  string
		lines []string
		want  []string // all of them in the error
	}{
		{"empty file", nil, []string{"no record", "no header"}},
		{"no header", []string{family}, []string{"line 1", "family", "begins with a header"}},
		{"two headers", []string{header, header}, []string{"line 2", "header", "two records in one file"}},
		{"newer schema", []string{changed(header, `"schema":4`, `"schema":5`)}, []string{"line 1", "schema 5", "reads schemas 1 to 4", `"0123abc"`}},
		{"no JSON", []string{header, "Kafka Server started"}, []string{"line 2", "no row of a record"}},
		{"empty line", []string{header, "", family}, []string{"line 2", "no row of a record"}},
		{"no kind", []string{header, `{"tier":1}`}, []string{"line 2", "no kind"}},
		{"wrong type", []string{header, changed(family, `"rounds":9`, `"rounds":"nine"`)}, []string{"line 2", "family", "rounds", "string"}},
		{"number as text", []string{header, family, changed(block, `"contentSeed":"`, `"contentSeed":"x`)}, []string{"line 3", "block", "contentSeed"}},
		{"field missing", []string{header, family, block, changed(batch, `"cpuNs":10488000,`, ``)}, []string{"line 4", "batch", "cpuNs", "missing"}},
		{"field null", []string{header, family, block, changed(batch, `"cpuNs":10488000,`, `"cpuNs":null,`)}, []string{"line 4", "batch", "cpuNs", "null"}},
		{"field in a list missing", []string{header, changed(family, `"cell":3,`, ``)}, []string{"line 2", "family", "cells[0].cell", "missing"}},
		{"counter without a state", []string{header, family, block, changed(line(KindEvidence), `"4":{"state":"number",`, `"4":{`)}, []string{"line 4", "evidence", "broker.requestsByVersion.4.state", "missing"}},
		{"counter of an unknown state", []string{header, family, block, changed(line(KindEvidence), `"state":"absent"`, `"state":"gone"`)}, []string{"line 4", "evidence", "topicProduceConversions.state", `"gone"`}},
		{"unknown field", []string{header, changed(family, `"rounds":9`, `"rounds":9,"Rounds":10`)}, []string{"line 2", "family", "Rounds", "not a field"}},
		{"shape without end", []string{header, changed(family, `"partitions":1`, `"partitions":900000000000`)}, []string{"line 2", "family", "shape.partitions", "not between"}},
		{"shape larger than memory", []string{header, changed(changed(family, `"partitions":1`, `"partitions":100000`), `"topics":1`, `"topics":100000`)}, []string{"line 2", "family", "shape", "more than any run"}},
		{"shape below nothing", []string{header, changed(family, `"keyBytes":8`, `"keyBytes":-1`)}, []string{"line 2", "family", "shape.keyBytes", "-1"}},
		{"plan of versions without end", []string{header, changed(line(KindPlan), `"implemented":[4,`, `"implemented":[-2147483648,`)}, []string{"line 2", "plan", "implemented", "no version"}},
		{"plan of versions that nobody has", []string{header, changed(line(KindPlan), `"advertised":[4,`, `"advertised":[32768,`)}, []string{"line 2", "plan", "advertised", "no version"}},
		{"family twice", []string{header, family, family}, []string{"line 3", "family", "declared before"}},
		{"block of no family", []string{header, block}, []string{"line 2", "block", "family", "no row before"}},
		{"block twice", []string{header, family, block, block}, []string{"line 4", "block", "opened before"}},
		{"block of a look that nobody announced", []string{header, family, second}, []string{"line 3", "block", "look", "no row before"}},
		{"block of a look that was not taken", []string{header, family, changed(look, `"taken":true`, `"taken":false`), second}, []string{"line 4", "block", "look", "no row before"}},
		{"block of the first look after the second's row", []string{header, family, look, block}, []string{"line 4", "block", "look", "second look"}},
		{"batch of no block", []string{header, family, batch}, []string{"line 3", "batch", "no row before"}},
		{"batch of no cell", []string{header, family, block, changed(batch, `"cell":3`, `"cell":5`)}, []string{"line 4", "batch", "cell", "no cell 5"}},
		{"evidence of no end", []string{header, family, block, changed(line(KindEvidence), `"when":"open"`, `"when":"later"`)}, []string{"line 4", "evidence", "when", "later"}},
		{"evidence twice", []string{header, family, block, line(KindEvidence), line(KindEvidence)}, []string{"line 5", "evidence", "when"}},
		{"row after the trailer", []string{header, line(KindTrailer), family}, []string{"line 3", "family", "after the trailer"}},
		{"torn in the middle", []string{header, family[:len(family)/2], block}, []string{"line 2", "no row of a record"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := ""
			if len(test.lines) > 0 {
				file = strings.Join(test.lines, "\n") + "\n"
			}
			_, err := ReadFrom(strings.NewReader(file))
			if err == nil {
				t.Fatal("was read without an error")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error doesn't name %q: %v", want, err)
				}
			}
		})
	}
}

func TestReadBearsATornLastLine(t *testing.T) {
	lines := goldenLines(t)
	whole := strings.Join(lines, "\n") + "\n"
	want, err := ReadFrom(strings.NewReader(strings.Join(lines[:len(lines)-1], "\n") + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	last := lines[len(lines)-1]
	for cut := 1; cut < len(last); cut++ {
		run, err := ReadFrom(strings.NewReader(whole[:len(whole)-1-cut]))
		if err != nil {
			t.Fatalf("%d bytes cut off: %v", cut, err)
		}
		if len(run.Warnings) != 1 || !strings.Contains(run.Warnings[0], "torn") {
			t.Fatalf("%d bytes cut off: warnings %q", cut, run.Warnings)
		}
		run.Warnings = nil
		if !reflect.DeepEqual(run, want) {
			t.Fatalf("%d bytes cut off: not the rows before", cut)
		}
	}
	if run, err := ReadFrom(strings.NewReader(whole[:len(whole)-1])); err != nil || run.Trailer == nil || len(run.Warnings) != 0 {
		t.Errorf("a last row that lacks only its line end is whole: %v, %+v", err, run)
	}
	if _, err := ReadFrom(strings.NewReader(lines[0][:40])); err == nil || !strings.Contains(err.Error(), "no header") {
		t.Errorf("a torn header is no record: %v", err)
	}
}

func TestReadBearsUnknownKinds(t *testing.T) {
	lines := goldenLines(t)
	lines = append(lines[:2:2], append([]string{`{"kind":"weather","rain":true}`}, lines[2:]...)...)
	run, err := ReadFrom(strings.NewReader(strings.Join(lines, "\n") + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Warnings) != 1 || !strings.Contains(run.Warnings[0], "line 3") || !strings.Contains(run.Warnings[0], `"weather"`) {
		t.Errorf("warnings: %q", run.Warnings)
	}
	if run.Trailer == nil {
		t.Error("the rows after the unknown one are gone")
	}
}

func TestReadTakesLongLinesAndRefusesEndlessOnes(t *testing.T) {
	lines := goldenLines(t)
	long := strings.Replace(lines[0], `"replay":"`, `"replay":"`+strings.Repeat("x", 4<<20), 1)
	if _, err := ReadFrom(strings.NewReader(long + "\n")); err != nil {
		t.Errorf("a line of 4 MiB: %v", err)
	}
	_, err := ReadFrom(strings.NewReader(lines[0] + "\n" + strings.Repeat("x", maxLineBytes+1)))
	if err == nil || !strings.Contains(err.Error(), "line 2") || !strings.Contains(err.Error(), "longer") {
		t.Errorf("an endless line: %v", err)
	}
}

func TestReadNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), FileName) {
		t.Errorf("a folder without a record: %v", err)
	}
	if err := os.WriteFile(dir+"/"+FileName, []byte("junk\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a record of junk: %v", err)
	}
}

// FuzzReadFrom: no input makes the reader panic, and what it takes without a warning comes out of the writer as rows that read to the same run.
func FuzzReadFrom(f *testing.F) {
	lines := goldenLines(f)
	f.Add([]byte(strings.Join(lines, "\n") + "\n"))
	for _, line := range lines {
		f.Add([]byte(lines[0] + "\n" + line + "\n"))
	}
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"kind":"header","schema":99}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		run, err := ReadFrom(bytes.NewReader(file))
		if err != nil {
			return
		}
		var again bytes.Buffer
		for _, row := range rowsOf(run) {
			line, err := encode(row)
			if err != nil {
				t.Fatalf("a row that was read cannot be written: %v", err)
			}
			again.Write(line)
		}
		second, err := ReadFrom(&again)
		if err != nil {
			t.Fatalf("what was written is not read: %v\n%s", err, again.Bytes())
		}
		run.Warnings, second.Warnings = nil, nil
		stripBlockFaults(run)
		stripBlockFaults(second)
		one, two := encodeAll(t, run), encodeAll(t, second)
		if !bytes.Equal(one, two) {
			t.Fatalf("not the same run:\n%s\n%s", one, two)
		}
	})
}

// stripBlockFaults: faults are laid out once, with the run; whether a fault came before or after its block's row is not kept.
func stripBlockFaults(run *Run) {
	for f := range run.Families {
		for b := range run.Families[f].BlockRuns {
			run.Families[f].BlockRuns[b].Faults = nil
		}
	}
}

func encodeAll(t *testing.T, run *Run) []byte {
	t.Helper()
	var all bytes.Buffer
	for _, row := range rowsOf(run) {
		line, err := encode(row)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(line)
	}
	return all.Bytes()
}
