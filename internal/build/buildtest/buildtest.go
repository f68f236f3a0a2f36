// Package buildtest makes checkouts of the client for tests, and plants faults in them.
package buildtest

import (
	"os"
	"strings"
	"testing"

	"protocolbench/internal/planted"
)

// Checkout makes a folder a checkout of the client's release in go.mod: with its kmsg where a checkout has it, and writable.
func Checkout(t testing.TB, dir string) {
	t.Helper()
	if err := planted.Checkout(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
}

// Edit replaces a text in a file that has it exactly once.
func Edit(t testing.TB, file, old, replacement string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(content), old); n != 1 {
		t.Fatalf("%s has %q %d times, want once", file, old, n)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(content), old, replacement, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}
