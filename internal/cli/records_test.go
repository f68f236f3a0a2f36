package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

// recordsDir has real runs, one for every word and exit code; its README says how each was made.
var recordsDir = filepath.Join("..", "..", "testdata", "records")

// judgedRecord is a committed record, and what the judge has to say of it.
type judgedRecord struct {
	folder string
	margin string // "": the record's own
	words  string // per version, oldest first
	run    string
	code   int
	reason string // a regular expression: its gist
}

// The words are those of real runs, so a change of the statistics may turn one that lies near a border; then look whether it is better, and take another record if it is.
var judgedRecords = []judgedRecord{
	{"not-slower", "", "v12 not slower, v13 not slower", verdict.Pass, verdict.ExitPass, `^no version is materially slower.* every guard passed$`},
	{"slower", "", "v16 slower, v17 not slower, v18 not slower", verdict.Fail, verdict.ExitFail, `v16 is slower by 30\.\d % .*margin 10\.0 %$`},
	{"differs", "", "v17 not slower (differs), v18 not slower", verdict.Pass, verdict.ExitPass, `^no version is materially slower`},
	{"unresolved", "", "v17 unresolved, v18 not slower", verdict.Inconclusive, verdict.ExitInconclusive, `v17 is unresolved: the upper bound of .* is not below the margin of 20\.0 %; about .* times the rounds would settle it`},
	{"unresolvable", "", "v17 unresolvable, v18 unresolvable", verdict.Inconclusive, verdict.ExitInconclusive, `is unresolvable: the canary of 1\.0 % was missed`},
	{"interrupted", "", "v17 not slower, v18 not slower", verdict.Inconclusive, verdict.ExitInconclusive, `^the run was interrupted`},
	{"worker-killed", "", "v17 unresolved, v18 unresolved", verdict.Fail, verdict.ExitFail, `^the completeness guard failed in tier0/fetch/.*the worker ended \(signal: killed\)`},
	{"harness-fault", "", "v17 unresolved, v18 unresolved", verdict.Inconclusive, verdict.ExitHarness, `^broker fault: the broker .* ended in the middle of tier 1; .*mend that and run again$`},

	// a narrower margin turns a word, and the run's with it
	{"differs", "3%", "v17 slower, v18 not slower", verdict.Fail, verdict.ExitFail, `v17 is slower by 15\.\d % .*margin 3\.0 %$`},
	{"unresolved", "10%", "v17 slower, v18 not slower", verdict.Fail, verdict.ExitFail, `v17 is slower by 19\.\d % .*margin 10\.0 %$`},
	// a wider one excuses nothing
	{"slower", "60%", "v16 slower, v17 not slower, v18 not slower", verdict.Fail, verdict.ExitFail, `margin 10\.0 %$`},
	{"unresolved", "60%", "v17 unresolved, v18 not slower", verdict.Inconclusive, verdict.ExitInconclusive, `not below the margin of 20\.0 %`},
}

func TestCommittedRecords(t *testing.T) {
	for _, test := range judgedRecords {
		t.Run(strings.TrimSuffix(test.folder+" "+test.margin, " "), func(t *testing.T) {
			dir := copiedRecord(t, test.folder)
			args := []string{"judge", dir}
			if test.margin != "" {
				args = append(args, "--margin", test.margin)
			}
			code, stdout, v, whole := judgeAgain(t, dir, args)
			if code != test.code || v.ExitCode != test.code || v.Verdict != test.run {
				t.Errorf("exit code %d, verdict.json has %d and %q; want %d and %q", code, v.ExitCode, v.Verdict, test.code, test.run)
			}
			if words := wordsOf(v); words != test.words {
				t.Errorf("words: %s\n want: %s", words, test.words)
			}
			if !regexp.MustCompile(test.reason).MatchString(v.Reason) {
				t.Errorf("reason: %s\nwants: %s", v.Reason, test.reason)
			}
			if last := lastLine(stdout); last != fmt.Sprintf("verdict: %s (%s)", v.Verdict, v.Reason) {
				t.Errorf("the last line is %q", last)
			}
			if refused := bytes.Contains(whole, []byte("is wider than a declared one, which is kept")); refused != (test.margin == "60%") {
				t.Errorf("says that the margin is too wide: %v", refused)
			}
			if _, _, _, again := judgeAgain(t, dir, args); !bytes.Equal(whole, again) {
				t.Error("verdict.json made again is another")
			}
		})
	}
}

// Every word and every exit code that judging a record can have is in the list above, by the record's own margin.
func TestCommittedRecordsAreComplete(t *testing.T) {
	var words, codes []string
	for _, test := range judgedRecords {
		if test.margin == "" {
			words, codes = append(words, test.words), append(codes, fmt.Sprint(test.code))
		}
	}
	for _, word := range []string{"v16 " + verdict.Slower, verdict.NotSlower, verdict.NotSlower + " (differs)", verdict.Unresolved, verdict.Unresolvable} {
		if !strings.Contains(strings.Join(words, "\n"), word) {
			t.Errorf("no record for the word %q", word)
		}
	}
	for _, code := range []int{verdict.ExitPass, verdict.ExitHarness, verdict.ExitFail, verdict.ExitInconclusive} {
		if !strings.Contains(strings.Join(codes, " "), fmt.Sprint(code)) {
			t.Errorf("no record for exit code %d", code)
		}
	}
	folders, err := filepath.Glob(filepath.Join(recordsDir, "*", record.FileName))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range folders {
		folder := filepath.Base(filepath.Dir(path))
		if !strings.Contains(fmt.Sprintf("%v", judgedRecords), "{"+folder+" ") {
			t.Errorf("nobody judges %s", folder)
		}
	}
}

// Exit code 2 is for what can't be understood; the record is not even opened, so nothing is written beside it.
func TestJudgeUsage(t *testing.T) {
	dir := copiedRecord(t, "differs")
	for _, test := range []struct {
		args   []string
		stderr string
	}{
		{[]string{"judge"}, "a result folder is missing"},
		{[]string{"judge", dir, dir}, "unexpected argument"},
		{[]string{"judge", dir, "--margin", "3"}, `margin "3" is not between 0 and 100 %`},
		{[]string{"judge", dir, "--tier", "0"}, "unknown flag --tier"},
	} {
		var stdout, stderr bytes.Buffer
		if code := Main(test.args, nil, strings.NewReader(""), &stdout, &stderr); code != verdict.ExitUsage || !strings.Contains(stderr.String(), test.stderr) || stdout.Len() > 0 {
			t.Errorf("%q: exit code %d, stdout %q, stderr %q", test.args, code, &stdout, &stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "verdict.json")); err == nil {
		t.Error("a verdict was written")
	}
}

// Committed records are read by strangers: they name no path or host of the machine they come from.
func TestCommittedRecordsNameNoMachine(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(recordsDir, "*", record.FileName))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d records, %v", len(paths), err)
	}
	total := 0
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		total += len(content)
		if found := regexp.MustCompile(`/(tmp|root|home|work|var|Users)/`).Find(content); found != nil {
			t.Errorf("%s has a path: %s", path, found)
		}
		if len(content) > 100<<10 {
			t.Errorf("%s is %d KiB long", path, len(content)>>10)
		}
	}
	if total > 700<<10 {
		t.Errorf("the records are %d KiB long", total>>10)
	}
}

func copiedRecord(t *testing.T, folder string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(recordsDir, folder, record.FileName))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, record.FileName), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// judgeAgain runs the command line and reads what it wrote.
func judgeAgain(t *testing.T, dir string, args []string) (code int, stdout string, v verdict.Verdict, whole []byte) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = Main(args, nil, strings.NewReader(""), &out, &errOut)
	if errOut.Len() > 0 {
		t.Errorf("stderr: %s", &errOut)
	}
	path := filepath.Join(dir, "verdict.json")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(whole, &v); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil { // the next one has to be made anew
		t.Fatal(err)
	}
	return code, out.String(), v, whole
}

func wordsOf(v verdict.Verdict) string {
	var words []string
	for _, f := range v.Families {
		for _, c := range f.Cells {
			word := fmt.Sprintf("v%d %s", c.Version, c.Verdict)
			if c.Differs {
				word += " (differs)"
			}
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
