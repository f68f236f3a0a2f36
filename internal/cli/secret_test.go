package cli

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// A password in Jolokia's URL reaches Jolokia, and neither the record nor the command that repeats the run.
func TestPasswordStaysOut(t *testing.T) {
	const secret, shown = "http://user:pa55@host:8778/jolokia", "http://user:***@host:8778/jolokia"
	for name, test := range map[string]struct {
		args, environ, command []string
	}{
		"two words":   {args: []string{"--jolokia", secret}, command: []string{"--jolokia", shown}},
		"one word":    {args: []string{"--jolokia=" + secret}, command: []string{"--jolokia=" + shown}},
		"environment": {environ: []string{"PROTOCOL_BENCH_JOLOKIA=" + secret}},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"run", "--broker", "host:9092", "--seed", "7"}, test.args...)
			p := &program{env: readEnvironment(test.environ), environ: []string{"PROTOCOL_BENCH_CACHE=" + t.TempDir()}, now: time.Now, stderr: io.Discard, args: args}
			chosen := choose(t, p.env, args[1:]...)
			config, err := p.config(&cobra.Command{Use: "run"}, chosen)
			if err != nil {
				t.Fatal(err)
			}
			if config.Jolokia != secret {
				t.Errorf("Jolokia is asked at %s", config.Jolokia)
			}
			want := append([]string{"protocolbench", "run", "--broker", "host:9092", "--seed", "7"}, test.command...)
			if !slices.Equal(config.Command, want) {
				t.Errorf("the record's command is %q, want %q", config.Command, want)
			}
			if !strings.Contains(config.Replay, "--jolokia '"+shown+"'") || !strings.HasSuffix(config.Replay, "  # put the password back in place of ***") {
				t.Errorf("replay: %s", config.Replay)
			}
		})
	}
}

func TestReplayWithoutPasswordHasNoNote(t *testing.T) {
	chosen := choose(t, nil, "--jolokia", "http://host:8778/jolokia")
	if got := chosen.replay(7); got != script+" --seed 7 --jolokia http://host:8778/jolokia" {
		t.Errorf("replay: %s", got)
	}
}

func TestBadJolokiaIsNotRepeated(t *testing.T) {
	if _, err := parseJolokia("user:pa55@host/jolokia"); err == nil || strings.Contains(err.Error(), "pa55") {
		t.Errorf("got %v", err)
	}
}
