package report

import (
	"bytes"
	"flag"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

var update = flag.Bool("update", false, "write the golden reports in testdata anew")

func rendered(t *testing.T, render func(io.Writer, verdict.Verdict, *record.Run) error) string {
	t.Helper()
	var out bytes.Buffer
	if err := render(&out, exampleVerdict(), exampleRun()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestGoldenReports(t *testing.T) {
	for name, render := range map[string]func(io.Writer, verdict.Verdict, *record.Run) error{
		"report.txt": Text, MarkdownFile: Markdown, HTMLFile: HTML, BenchFile: Bench,
	} {
		got, path := rendered(t, render), "testdata/"+name
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s is not as in testdata; look at it, then go test ./internal/report -update\n%s", name, got)
		}
	}
}

func TestTextBeginsWithBrokersAndEndsWithTheVerdict(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(rendered(t, Text), "\n"), "\n")
	if want := "brokers: tier 1 Kafka 4.4.0 (jvm, Jolokia), tier 2 Kafka 1.1.0 (jvm, no Jolokia)"; lines[0] != want {
		t.Errorf("first line: %s", lines[0])
	}
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "verdict: fail (") {
		t.Errorf("last line: %s", last)
	}
	const tableWidth = 110
	for i, line := range lines[:len(lines)-1] {
		width := textWidth
		if strings.HasPrefix(line, "  v1") {
			width = tableWidth
		}
		if utf8.RuneCountInString(line) > width {
			t.Errorf("line %d has %d columns: %s", i+1, utf8.RuneCountInString(line), line)
		}
	}
}

func TestEveryReportShowsWhatMatters(t *testing.T) {
	for name, render := range map[string]func(io.Writer, verdict.Verdict, *record.Run) error{"text": Text, "Markdown": Markdown, "HTML": HTML} {
		got := strings.Join(strings.Fields(rendered(t, render)), " ")
		for _, want := range []string{
			"Kafka 4.4.0", "Example CPU", "franz-go v1.22.3", "no perf", "collector is off", "verdict: fail",
			"tier1/fetch/size=64KiB/bare", "228.0", "393.2", "2.05", "290/1412", "0.012", "margin 10.0 %", "floor 3.4 %", "canary of 20.0 % found as 19.5 %", "MISSED", "not slower, differs",
			"v17 not slower: immaterial: at most 0.40 us per request (13.1 %)", "v12-v13 slower", "v14 unresolved", "no version measured", "FAIL", "BLIND", "v10-v11", "moved from 0 to 3", "401", "be compared with those of tiers", "Fetch v7", "1280640", "412.7", "21.0 to 22.0",
			"[2]", "let the run complete", "--seed 7", "of a core while batches ran", "1m32.3s",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is not shown", name, want)
			}
		}
	}
}

func TestWarningsAreFootnotesOnce(t *testing.T) {
	got := rendered(t, Text)
	if n := strings.Count(got, "not warm when counting began"); n != 1 {
		t.Errorf("the same warning stands %d times", n)
	}
	flat := strings.Join(strings.Fields(got), " ")
	if !strings.Contains(got, "GROWS with records: v17 [2]") || !strings.Contains(flat, "STALLS: v10 [2] [3]") {
		t.Errorf("families don't point to their footnotes:\n%s", got)
	}
}

// What comes from outside (logs, keys, names) stays text.
func TestOutsideTextIsEscaped(t *testing.T) {
	html := rendered(t, HTML)
	if strings.Contains(html, "<script") {
		t.Error("HTML passes a script through")
	}
	if regexp.MustCompile(`(src|href)="[^#]`).MatchString(html) || strings.Contains(html, "@import") || strings.Contains(html, "url(") {
		t.Error("HTML refers to something outside itself")
	}
	markdown := rendered(t, Markdown)
	if strings.Contains(markdown, "<script") || !strings.Contains(markdown, `\| \`+"`x") {
		t.Error("Markdown passes markup through")
	}
}

func TestMarkdownTablesAreWhole(t *testing.T) {
	cell := regexp.MustCompile(`[^\\]\|`)
	columns := 0
	for _, line := range strings.Split(rendered(t, Markdown), "\n") {
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := len(cell.FindAllString(line, -1))
		if columns != 0 && n != columns {
			t.Errorf("%d columns where the table has %d: %s", n, columns, line)
		}
		columns = n
	}
}

// A line of the Go benchmark format: name, iterations, then pairs of number and unit.
var benchPattern = regexp.MustCompile(`^Benchmark[A-Z]\S*\t\d+(\t[0-9]+(\.[0-9]+)? \S+)+$`)

func TestBenchIsTheGoBenchmarkFormat(t *testing.T) {
	results := 0
	for _, line := range strings.Split(strings.TrimSuffix(rendered(t, Bench), "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "Benchmark"):
			results++
			if !benchPattern.MatchString(line) {
				t.Errorf("no benchmark line: %q", line)
			}
		case !regexp.MustCompile(`^([a-z][a-z0-9-]*: \S.*|Unit \S+ \S+=\S+)$`).MatchString(line):
			t.Errorf("neither configuration nor unit: %q", line)
		}
	}
	// Two forks of two versions: twin, canary and tier 2 are not there.
	if results != 4 {
		t.Errorf("%d results, want 4", results)
	}
	if want := "BenchmarkTier1/fetch/size=64KiB/bare/v=11\t230\t300000.00 ns/op\t228000.00 cpu-ns/request\t393.10 cpu-ns/record\t1234.50 B/op\t7.00 allocs/op\n"; !strings.Contains(rendered(t, Bench), want) {
		t.Errorf("not in bench.txt: %s", want)
	}
}

// An embedded broker's figures would be taken for a broker's: none of them is shown anywhere. Tier 0 needs no broker and stays.
func TestEmbeddedBrokerHasNoFigures(t *testing.T) {
	v := exampleVerdict()
	v.Reason, v.Guards, v.Families[0].Warnings = "the broker was the embedded one", nil, nil
	for i := range v.Brokers {
		v.Brokers[i].Provider = "embedded"
	}
	for i := range v.Families {
		v.Families[i].Embedded = v.Families[i].Tier == 1
	}
	v.Families[0].Cells = []verdict.Cell{{Version: 18, Verdict: verdict.NotSlower, CPUUsPerRequest: 77.7}}
	v.Warnings = nil
	for name, render := range map[string]func(io.Writer, verdict.Verdict, *record.Run) error{"text": Text, "Markdown": Markdown, "HTML": HTML, "bench": Bench} {
		var out bytes.Buffer
		if err := render(&out, v, exampleRun()); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		for _, figure := range []string{"228.0", "393.", "290/1412", "1.93 M", "floor 3.4", "12.4", "+0.2", "within 0.8", "412.7", "21.0 to", "only 3 forks", "slower by", "v12"} {
			if strings.Contains(got, figure) {
				t.Errorf("%s shows %q of an embedded broker", name, figure)
			}
		}
		if name == "bench" {
			if strings.Contains(got, "Benchmark") {
				t.Errorf("bench has lines of an embedded broker:\n%s", got)
			}
			continue
		}
		if n := strings.Count(got, "embedded broker: no figure"); n != 3 || !strings.Contains(got, exampleFamily) || !strings.Contains(got, "77.7") {
			t.Errorf("%s: %d families without figures, want 3, and tier 0 with its own:\n%s", name, n, got)
		}
	}
	if got := FamilyLine(v.Families[1]); got != exampleFamily+": embedded broker: no figure" {
		t.Error(got)
	}
}

func TestEmptyRunsCanBeShown(t *testing.T) {
	for _, render := range []func(io.Writer, verdict.Verdict, *record.Run) error{Text, Markdown, HTML, Bench} {
		if err := render(io.Discard, verdict.Verdict{Verdict: verdict.Inconclusive}, &record.Run{}); err != nil {
			t.Error(err)
		}
	}
}

func TestLongReasonsSayWhereAllOfThemIs(t *testing.T) {
	v := exampleVerdict()
	v.Reason = "the broker died; its last lines:\n" + strings.Repeat("INFO starting\n", 100) + "the cause"
	v.Guards[0].Outcome, v.Guards[0].Why = "blind", v.Reason
	var text, markdown bytes.Buffer
	if err := Text(&text, v, exampleRun()); err != nil {
		t.Fatal(err)
	}
	if err := Markdown(&markdown, v, exampleRun()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	if last := lines[len(lines)-1]; len(last) > 500 || !strings.HasPrefix(last, "verdict: fail (the broker died;") || !strings.HasSuffix(last, "in full in verdict.json)") {
		t.Errorf("last line: %s", last)
	}
	if strings.Contains(text.String(), "the cause") || !strings.Contains(text.String(), "in full in report.md") || !strings.Contains(markdown.String(), "the cause") {
		t.Error("the terminal gets the start and the file's name, the file gets all")
	}
}

func TestFamilyLine(t *testing.T) {
	families := exampleVerdict().Families
	for i, want := range []string{
		"tier0/fetch/records=100/bare: all 2 versions not slower; GROWS with records: v17; floor 2.1 %, margin 10.0 %",
		"tier1/fetch/size=64KiB/bare: v12-v13 slower, v14 unresolved, v10-v11, v18 not slower; SLOWER IN WALL TIME: v11; STALLS: v10; floor 3.4 %, margin 10.0 %",
		"tier1/produce/records=100,acks=0/bare: no version measured; floor none (too few samples), margin 15.0 %",
	} {
		if got := FamilyLine(families[i]); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestFigures(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{figure(0), "0.00"}, {figure(9.994), "9.99"}, {figure(13.42), "13.4"}, {figure(999.94), "999.9"}, {figure(2400.4), "2400"}, {figure(-1), "unknown"},
		{like(9.92, 10.2), "9.9"}, {like(9.92, 2000), "10"},
		{scaled(612), "612.0"}, {scaled(61234), "61.2 k"}, {scaled(4.876e6), "4.88 M"}, {allocations(0), "0"}, {allocations(0.0004), "<0.001"}, {allocations(2), "2.000"}, {allocations(120), "120.0"},
		{signed(-0.0123), "-1.2"}, {percent(0.05), "5.0 %"}, {versionList([]int{9, 3, 4, 5, 7, 8}), "v3-v5, v7-v9"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}
