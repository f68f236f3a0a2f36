package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var dirTime = time.Date(2026, 11, 30, 23, 20, 1, 0, time.FixedZone("east", 3600))

func TestNewDirNamesTimeAndSeedAndPointsLatest(t *testing.T) {
	out := filepath.Join(t.TempDir(), "results")
	for i, test := range []struct {
		now  time.Time
		want string
	}{
		{dirTime, "20261130T222001Z-18446744073709551615"},
		{dirTime, "20261130T222001Z-18446744073709551615-2"},
		{dirTime.Add(time.Second), "20261130T222002Z-18446744073709551615"},
	} {
		dir, err := NewDir(out, test.now, 1<<64-1)
		if err != nil {
			t.Fatal(err)
		}
		if dir != filepath.Join(out, test.want) {
			t.Errorf("run %d: %s, want %s", i, dir, test.want)
		}
		// Relative, so that a copied results folder still points into itself.
		if link, err := os.Readlink(filepath.Join(out, Latest)); err != nil || link != test.want {
			t.Errorf("run %d: latest points to %q, %v", i, link, err)
		}
	}
	if entries, err := os.ReadDir(out); err != nil || len(entries) != 4 {
		t.Errorf("%d entries, want three runs and the link; %v", len(entries), err)
	}
}

func TestNewDirLeavesNothingWhenItCannot(t *testing.T) {
	out := t.TempDir()
	if err := os.Mkdir(filepath.Join(out, Latest), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := NewDir(out, dirTime, 7)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(out, Latest)) {
		t.Errorf("a folder where the link belongs: %v", err)
	}
	if entries, _ := os.ReadDir(out); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}

	file := filepath.Join(out, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := NewDir(file, dirTime, 7); err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "--out") {
		t.Errorf("a file where the folder belongs: %v", err)
	}
}

func TestDiscardLeavesTheRunBefore(t *testing.T) {
	out := t.TempDir()
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	latest := func() string {
		to, err := os.Readlink(filepath.Join(out, Latest))
		if err != nil {
			return ""
		}
		return to
	}
	var dirs []string
	for i := range 2 {
		dir, err := NewDir(out, at.Add(time.Duration(i)*time.Minute), 7)
		if err != nil {
			t.Fatal(err)
		}
		w, err := Create(dir)
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
		dirs = append(dirs, dir)
	}
	for _, step := range []struct{ discard, latest string }{{dirs[1], filepath.Base(dirs[0])}, {dirs[0], ""}} {
		if err := Discard(step.discard); err != nil {
			t.Fatal(err)
		}
		if got := latest(); got != step.latest {
			t.Errorf("after %s was discarded, latest is %q, want %q", filepath.Base(step.discard), got, step.latest)
		}
		if _, err := os.Stat(step.discard); !os.IsNotExist(err) {
			t.Errorf("%s is still there", step.discard)
		}
	}
}
