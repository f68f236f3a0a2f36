package cli

import (
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"protocolbench/compose"
)

func choose(t *testing.T, env environment, args ...string) choices {
	t.Helper()
	command := &cobra.Command{Use: "run"}
	var names []string
	for _, s := range settings {
		names = append(names, s.flag)
	}
	chosen := register(command, names...)
	if err := command.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	chosen.fill(env)
	return chosen
}

func TestFlagWinsOverEnvironment(t *testing.T) {
	env := readEnvironment([]string{"PROTOCOL_BENCH_SEED=1", "PROTOCOL_BENCH_PROFILE=quick", "PROTOCOL_BENCH_BROKERS=a:1,b:2", "PROTOCOL_BENCH_OUT=", "HOME=/x"})
	chosen := choose(t, env, "--seed", "2")
	for flag, want := range map[string]string{"seed": "2", "profile": "quick", "broker": "a:1,b:2", "out": "results", "tier": "all"} {
		if got := chosen[flag].text; got != want {
			t.Errorf("%s = %q, want %q", flag, got, want)
		}
	}
	if chosen["seed"].source() != "--seed" || chosen["profile"].source() != "PROTOCOL_BENCH_PROFILE" {
		t.Error("the source of a value is not the one that won")
	}
}

func TestUnknownVariable(t *testing.T) {
	if faults := readEnvironment([]string{"PROTOCOL_BENCH_SEED=1", "PROTOCOL_BENCH_LOCK=x", "PROTOCOL_BENCH_CACHE=x"}).unknown(); faults != nil {
		t.Errorf("known ones: %q", faults)
	}
	faults := readEnvironment([]string{"PROTOCOL_BENCH_SEEED=1"}).unknown()
	if len(faults) != 2 || !strings.Contains(faults[0], "SEEED") || !strings.Contains(faults[1], "PROTOCOL_BENCH_SEED,") {
		t.Errorf("%q", faults)
	}
}

func TestGivenTwice(t *testing.T) {
	command := &cobra.Command{Use: "run"}
	register(command, "seed", "only")
	if err := command.ParseFlags([]string{"--only", "a", "--only", "b"}); err != nil {
		t.Errorf("--only may repeat: %v", err)
	}
	if err := command.ParseFlags([]string{"--seed", "1", "--seed", "2"}); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("--seed twice: %v", err)
	}
}

// What the replay command says is what a shell hands on, and reads back as the same settings.
func TestReplayRoundTrip(t *testing.T) {
	env := environment{"PROTOCOL_BENCH_PROFILE": "quick", "PROTOCOL_BENCH_TIER": "1"}
	chosen := choose(t, env, "--only", "tier1/fetch/*", "--only", "it's;$HOME", "--margin", "3%", "--kafka", compose.DefaultRelease)
	replay := chosen.replay(7)
	want := `./scripts/run-protocol-load-test.sh 1 --profile quick --seed 7 --only 'tier1/fetch/* it'\''s;$HOME' --margin 3%`
	if replay != want {
		t.Errorf("replay\n%s\nwant\n%s", replay, want)
	}
	out, err := exec.Command("sh", "-c", "for a in "+strings.TrimPrefix(replay, script)+`; do printf '%s\n' "$a"; done`).Output()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	again := choose(t, nil, append([]string{"--tier"}, words...)...)
	for flag, g := range chosen {
		if text := again[flag].text; text != g.text && flag != "seed" {
			t.Errorf("%s: %q came back as %q", flag, g.text, text)
		}
	}
	if got := again["only"].list(); !reflect.DeepEqual(got, []string{"tier1/fetch/*", "it's;$HOME"}) {
		t.Errorf("only = %q", got)
	}
}

// A switch needs no value, and its replay has none: what follows it would be taken for an argument.
func TestSwitch(t *testing.T) {
	for _, test := range []struct {
		env    environment
		args   []string
		yes    bool
		replay string
	}{
		{nil, nil, false, ""},
		{nil, []string{"--any-broker"}, true, " --any-broker"},
		{nil, []string{"--any-broker=false"}, false, ""},
		{environment{"PROTOCOL_BENCH_ANYBROKER": "1"}, nil, true, " --any-broker"},
		{environment{"PROTOCOL_BENCH_ANYBROKER": "1"}, []string{"--any-broker=false"}, false, ""},
	} {
		chosen := choose(t, test.env, test.args...)
		yes, err := parseSwitch(chosen["any-broker"].text)
		if want := script + " --seed 7" + test.replay; yes != test.yes || err != nil || chosen.replay(7) != want {
			t.Errorf("%v %q: %v, %v, replay %q", test.env, test.args, yes, err, chosen.replay(7))
		}
	}
	if _, err := parseSwitch("perhaps"); err == nil {
		t.Error("perhaps is taken for an answer")
	}
}
