package build

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"protocolbench/internal/build/buildtest"
)

// Builds of one content are shared by the tests, as they are by runs.
var sharedCache, sharedCheckout string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "protocolbench-build-")
	if err != nil {
		panic(err)
	}
	sharedCache, sharedCheckout = filepath.Join(dir, "cache"), filepath.Join(dir, "franz-go")
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func builder(t *testing.T) Builder {
	return Builder{CacheDir: sharedCache, Env: os.Environ(), Now: time.Now, Say: func(text string) { t.Log(text) }}
}

// checkoutIn gives a checkout that a test may spoil.
func checkoutIn(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	buildtest.Checkout(t, dir)
	return dir
}

func mustPrepare(t *testing.T, b Builder, text string) *Build {
	t.Helper()
	spec, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	built, err := b.Prepare(context.Background(), spec)
	skipOffline(t, text, err)
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// skipOffline says loudly what could not be tested without a module proxy.
func skipOffline(t *testing.T, what string, err error) {
	t.Helper()
	for _, offline := range []string{"dial tcp", "no such host", "connection refused", "i/o timeout"} {
		if err != nil && strings.Contains(err.Error(), offline) {
			t.Skipf("NOT TESTED: the module proxy can't be reached, so %s can't be had: %v", what, err)
		}
	}
}

// wantFault expects a *Fault that says all of this.
func wantFault(t *testing.T, err error, wants ...string) {
	t.Helper()
	var fault *Fault
	if !errors.As(err, &fault) {
		t.Fatalf("got %v, want a fault that the user can mend", err)
	}
	for _, want := range wants {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q doesn't say %q", err, want)
		}
	}
}
