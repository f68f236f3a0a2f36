package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"protocolbench/internal/verdict"
)

func TestWriteAllReplacesWholeFiles(t *testing.T) {
	dir := t.TempDir()
	stale := filepath.Join(dir, VerdictFile)
	if err := os.WriteFile(stale, []byte(strings.Repeat("x", 1<<20)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WriteAll(dir, exampleVerdict(), exampleRun()); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{BenchFile, HTMLFile, MarkdownFile, VerdictFile}; !reflect.DeepEqual(names, want) {
		t.Errorf("the folder has %v, want %v", names, want)
	}
	content, err := os.ReadFile(stale)
	if err != nil {
		t.Fatal(err)
	}
	var back verdict.Verdict
	if err := json.Unmarshal(content, &back); err != nil {
		t.Fatal(err)
	}
	if back.Reason != exampleVerdict().Reason || len(back.Guards) != len(exampleVerdict().Guards) {
		t.Error("verdict.json doesn't have the verdict")
	}
}

func TestWriteAllSaysWhichFileAndWhatToDo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	if err := WriteAll(dir, exampleVerdict(), exampleRun()); err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "judge") {
		t.Errorf("%v", err)
	}
}
