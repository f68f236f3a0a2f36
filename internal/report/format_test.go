package report

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

// rowSections are the record's rows by the heading that FORMAT.md gives them.
var rowSections = map[string]reflect.Type{
	"`header`": reflect.TypeFor[record.Header](), "`broker`": reflect.TypeFor[record.Broker](), "`plan`": reflect.TypeFor[record.Plan](),
	"`scope`": reflect.TypeFor[record.Scope](), "`control`": reflect.TypeFor[record.Control](), "`family`": reflect.TypeFor[record.Family](), "`block`": reflect.TypeFor[record.Block](),
	"`cell`": reflect.TypeFor[record.Cell](), "`batch`": reflect.TypeFor[record.Batch](), "`steady`": reflect.TypeFor[record.Steady](),
	"`evidence`": reflect.TypeFor[record.Evidence](), "`fault`": reflect.TypeFor[record.Fault](), "`host`": reflect.TypeFor[record.Host](),
	"`look`": reflect.TypeFor[record.Look](), "`round`": reflect.TypeFor[record.HostRound](), "`profile`": reflect.TypeFor[record.Profile](), "`trailer`": reflect.TypeFor[record.Trailer](), "verdict.Verdict": reflect.TypeFor[verdict.Verdict](), "verdict.Comparison": reflect.TypeFor[verdict.Comparison](),
}

func formatSections(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string][]string{}
	heading := ""
	for _, line := range strings.Split(string(text), "\n") {
		if title, isHeading := strings.CutPrefix(line, "### "); isHeading {
			heading = title
			sections[heading] = []string{}
		} else if strings.HasPrefix(line, "## ") {
			heading = ""
		} else if field, isField := strings.CutPrefix(line, "| `"); isField && heading != "" {
			sections[heading] = append(sections[heading], field[:strings.Index(field, "`")])
		}
	}
	return sections
}

// Every field of every row and of verdict.json stands in FORMAT.md, in the section of its type, in order; and nothing stands there that isn't.
func TestFormatNamesEveryField(t *testing.T) {
	sections := formatSections(t)
	described := map[string]bool{}
	var walk func(reflect.Type, string)
	walk = func(typ reflect.Type, heading string) {
		if described[heading] {
			return
		}
		described[heading] = true
		var want []string
		for i := range typ.NumField() {
			field := typ.Field(i)
			if nested := structIn(field.Type); nested != nil {
				walk(nested, headingOf(nested))
			}
			if !field.Anonymous {
				name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				want = append(want, name)
			}
		}
		got, there := sections[heading]
		if !there {
			t.Errorf("FORMAT.md has no section %q for %s", heading, typ)
		} else if !slices.Equal(got, want) {
			t.Errorf("section %q has the fields\n%v\n%s has\n%v", heading, got, typ, want)
		}
	}
	for heading, typ := range rowSections {
		walk(typ, heading)
	}
	for heading := range sections {
		if !described[heading] {
			t.Errorf("FORMAT.md describes %q, which is nowhere in a record or verdict", heading)
		}
	}
}

// structIn gives the struct of ours behind pointers, lists and maps.
func structIn(typ reflect.Type) reflect.Type {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || typ == reflect.TypeFor[time.Time]() {
		return nil
	}
	return typ
}

func headingOf(typ reflect.Type) string {
	if strings.HasSuffix(typ.PkgPath(), "/verdict") {
		return "verdict." + typ.Name()
	}
	for heading, row := range rowSections {
		if row == typ { // a row within a row
			return heading
		}
	}
	return typ.Name()
}

// rowSections has to have every kind that a record can have.
func TestFormatHasEveryKind(t *testing.T) {
	golden, err := os.ReadFile("../record/testdata/schema3.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(golden)), "\n") {
		kind := strings.Split(line, `"`)[3]
		if _, there := rowSections["`"+kind+"`"]; !there {
			t.Errorf("no section of FORMAT.md is checked for kind %q", kind)
		}
	}
}
