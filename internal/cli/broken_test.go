package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

// Ctrl-C excuses the error that it caused, and no other.
func TestInterruptionHidesNoOtherError(t *testing.T) {
	full := errors.New("no space left on device")
	stopped := fmt.Errorf("asking the broker: %w", context.Canceled)
	recorded, err := os.ReadFile(filepath.Join("..", "record", "testdata", "schema1.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, record.FileName), recorded, 0o600); err != nil {
		t.Fatal(err)
	}
	judged := verdict.Verdict{Verdict: verdict.Fail, Reason: "v4 is slower", ExitCode: verdict.ExitFail}
	for _, test := range []struct {
		name        string
		dir         string
		v           verdict.Verdict
		cause       error
		interrupted bool
		code        int
		out, err    string // begin and whole
	}{
		{"interrupted early", "", verdict.Verdict{}, stopped, true, 4, "verdict: inconclusive (interrupted before anything was measured)\n", ""},
		{"another error early", "", verdict.Verdict{}, full, true, 1, "", ""},
		{"a cancelled request without Ctrl-C", "", verdict.Verdict{}, stopped, false, 1, "", ""},
		{"with a folder", dir, verdict.Verdict{}, full, true, 1, "", "results: " + dir + "\n"},
		{"with a folder, the context's", dir, verdict.Verdict{}, stopped, true, 1, "", "results: " + dir + "\n"},
		{"with a verdict", dir, judged, full, false, 1, "verdict: fail", "results: " + dir + "\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			p := &program{stdout: &out, stderr: &errOut}
			code, text := exitCode(p.broken(test.dir, test.v, test.cause, test.interrupted))
			if code != test.code || errOut.String() != test.err || !strings.Contains(out.String(), test.out) || (test.out == "") != (out.Len() == 0) {
				t.Errorf("code %d, stdout %q, stderr %q", code, out.String(), errOut.String())
			}
			if code == 1 && text != test.cause.Error() {
				t.Errorf("says %q", text)
			}
		})
	}
}
