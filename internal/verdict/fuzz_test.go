package verdict_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"protocolbench/guards"
	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

// FuzzJudge: whatever the reader takes for a record is judged without a panic and in a bounded time, and the verdict is JSON, which has no infinity and no NaN. One number of a
// real record is made another: bytes that are changed anywhere are mostly refused by the reader, whose own fuzz target that is for. Records are small, so that a minute is spent on
// many of them: a block and its first rows of the real ones.
func FuzzJudge(f *testing.F) {
	var records [][][]byte
	for _, path := range recordPaths(f) {
		records = append(records, beginOf(readRecord(f, path)))
	}
	for _, value := range []int64{0, -1, math.MaxInt64} {
		f.Add(uint8(0), uint8(2), uint8(9), value)
	}
	f.Add(uint8(1), uint8(2), uint8(2), int64(math.MaxInt64)) // a plan with so many versions that looking at each would never end
	f.Fuzz(func(t *testing.T, which, row, number uint8, value int64) {
		judgeChanged(t, records[int(which)%len(records)], int(row), int(number), value)
	})
}

// recordPaths are records of every word and exit code, and that of a clean run of three tiers.
func recordPaths(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", "testdata", "records", "*", record.FileName))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d records, %v", len(paths), err)
	}
	return append(paths, filepath.Join("..", "..", "guards", "testdata", "recorded.jsonl.gz"))
}

func readRecord(t testing.TB, path string) []byte {
	t.Helper()
	file, err := os.ReadFile(path)
	if err == nil && filepath.Ext(path) == ".gz" {
		var lines *gzip.Reader
		if lines, err = gzip.NewReader(bytes.NewReader(file)); err == nil {
			file, err = io.ReadAll(lines)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// aNumber is a number of a row, and not one within a text.
var aNumber = regexp.MustCompile(`[:\[,]"?-?[0-9]+[0-9.e+-]*`)

// judgeChanged judges a record in which one number of one row is another.
func judgeChanged(t *testing.T, rows [][]byte, row, number int, value int64) {
	t.Helper()
	rows = slices.Clone(rows)
	row %= len(rows)
	numbers := aNumber.FindAllIndex(rows[row], -1)
	if len(numbers) == 0 {
		return
	}
	at := numbers[number%len(numbers)]
	begin := at[0] + 1
	if rows[row][begin] == '"' {
		begin++
	}
	rows[row] = slices.Concat(rows[row][:begin], strconv.AppendInt(nil, value, 10), rows[row][at[1]:])
	run, err := record.ReadFrom(bytes.NewReader(bytes.Join(rows, nil)))
	if err != nil {
		return
	}
	if _, err := json.Marshal(verdict.Judge(run, guards.Check(run), verdict.Options{})); err != nil {
		t.Fatalf("%v\n%s", err, rows[row])
	}
}

// beginOf is a record's first rows of each kind, those of blocks by family, and its last row.
func beginOf(file []byte) [][]byte {
	lines := bytes.SplitAfter(bytes.TrimSuffix(file, []byte("\n")), []byte("\n"))
	rows := map[string]int{}
	var begin [][]byte
	for i, line := range lines {
		var row struct {
			Kind   string `json:"kind"`
			Family string `json:"family"`
			Fork   int    `json:"fork"`
		}
		if json.Unmarshal(line, &row) != nil {
			continue
		}
		rows[row.Kind+row.Family]++
		const each = 3
		if row.Fork == 0 && (rows[row.Kind+row.Family] <= each || row.Family == "") || i == len(lines)-1 {
			begin = append(begin, line)
		}
	}
	return begin
}
