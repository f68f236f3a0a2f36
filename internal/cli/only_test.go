package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"protocolbench/internal/verdict"
)

// What is asked for by --only and --tier, wherever it was said: the tiers of the families that are listed, or a word about what can't be.
func TestOnlyAndTierInTheCommandLine(t *testing.T) {
	for _, test := range []struct {
		args, environ []string
		tiers         []string // of the listed families
		stderr        string
	}{
		{[]string{"--only", "tier1/fetch/size=64KiB/bare"}, nil, []string{"tier1"}, ""},
		{[]string{"--tier", "all", "--only", "tier1/fetch/size=64KiB/bare"}, nil, []string{"tier1"}, ""},
		{nil, []string{"PROTOCOL_BENCH_ONLY=tier2/fetch"}, []string{"tier2"}, ""},
		{[]string{"--only", "*/fetch/size=64KiB/*"}, nil, []string{"tier1", "tier2"}, ""},
		{[]string{"--tier", "1", "--only", "*/fetch/size=64KiB/*"}, nil, []string{"tier1"}, ""},
		{[]string{"--only", "tier1/fetch", "--only", "tier0/fetch/records=1/bare"}, nil, []string{"tier0", "tier1"}, ""},
		{[]string{"--tier", "0", "--only", "tier1/fetch"}, nil, nil, `--only "tier1/fetch" names no family of tier 0`},
		{[]string{"--only", "tier1/fetch"}, []string{"PROTOCOL_BENCH_TIER=2"}, nil, `--only "tier1/fetch" names no family of tier 2`},
		{[]string{"--only", "tier2/", "--baseline", "franz-go@v1.19.0"}, nil, nil, "--baseline goes with tier 0 or 1"},
		{[]string{"--only", "tier1/fetch/size=64KiB/bare", "--baseline", "franz-go@v1.19.0"}, nil, []string{"tier1"}, ""},
	} {
		var stdout, stderr bytes.Buffer
		code := Main(append([]string{"run", "--list", "--profile", "standard"}, test.args...), test.environ, strings.NewReader(""), &stdout, &stderr)
		var tiers []string
		for line := range strings.Lines(stdout.String()) {
			if name, _, ok := strings.Cut(line, "/"); ok && strings.HasPrefix(name, "tier") && !slices.Contains(tiers, name) {
				tiers = append(tiers, name)
			}
		}
		want := 0
		if test.stderr != "" {
			want = verdict.ExitUsage
		}
		if code != want || !slices.Equal(tiers, test.tiers) || !strings.Contains(stderr.String(), test.stderr) {
			t.Errorf("%q %q: exit code %d, tiers %v, stderr %q; want %v, %q", test.args, test.environ, code, tiers, &stderr, test.tiers, test.stderr)
		}
	}
}
