package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"protocolbench/compose"
)

// A setting is a flag that has a name in the environment, too; the flag wins.
type setting struct {
	flag, fallback, usage string
	// separators part the items of a list, which may also be given by repeating the flag; "" where there is one value. Family names have commas.
	separators string
	// isSwitch: --flag alone says yes.
	isSwitch bool
}

// settings of all commands, in the order in which the help and the replay command show them.
var settings = []setting{
	{flag: "tier", fallback: "all", usage: "tier to run: all, 0, 1 or 2"},
	{flag: "profile", fallback: "standard", usage: "how much to measure: quick, standard or release"},
	{flag: "seed", usage: "decimal number that all randomness of the run comes from (default: drawn, and printed)"},
	{flag: "client", fallback: "franz-go", usage: "client under test: franz-go (the release that is built in), franz-go@VERSION (any that the module proxy has), or franz-go=DIR (a checkout)"},
	{flag: "baseline", usage: "a build to compare the client with, in the same rounds; as --client"},
	{flag: "only", usage: "families to run, and with them their tiers: prefix or glob over their names, several by spaces or by repeating the flag", separators: " "},
	{flag: "versions", usage: "versions to pin, e.g. fetch=4-18,produce=13 (default: all that client and broker have)", separators: ", "},
	{flag: "margin", usage: "what counts as slower in every family, e.g. 3% or 0.03 (default: as each family declares)"},
	{flag: "plant", usage: "CPU to plant on purpose, to see whether it is found: FAMILIES@VERSION=SHARE, e.g. tier0/fetch@9=3%", separators: " "},
	{flag: "profile-cpu", usage: "family whose CPU is profiled, after all blocks: FAMILY (its dearest version) or FAMILY@VERSION, against the reference", separators: " "},
	{flag: "no-profile-cpu", fallback: "false", usage: "take no CPU profile of a version because it was called slower", isSwitch: true},
	{flag: "broker", usage: "jvm, embedded, or HOST:PORT[,HOST:PORT] of a cluster that you run (default: jvm where Java and Maven are, else embedded)"},
	{flag: "jolokia", usage: "URL of the Jolokia agent of an attached broker, e.g. http://127.0.0.1:8778/jolokia; of several brokers all of theirs, separated by commas"},
	{flag: "kafka", fallback: compose.DefaultRelease, usage: "Kafka release of tier 1"},
	{flag: "legacy", fallback: compose.LegacyRelease, usage: "Kafka release of tier 2"},
	{flag: "any-broker", fallback: "false", usage: "run on a broker that is not what its tier is for; the run is at best inconclusive then", isSwitch: true},
	{flag: "out", fallback: "results", usage: "folder that gets a folder per run"},
}

// given is the value of one setting as a flag's value, and where it came from.
type given struct {
	setting
	text     string
	fromFlag bool
	fromEnv  bool
}

func (g *given) String() string { return g.text }

// Type is pflag's word for what the help shows behind the flag: nothing behind a bool.
func (g *given) Type() string {
	if g.isSwitch {
		return "bool"
	}
	return ""
}

// Set refuses a second value: which of two different answers was meant is not for us to guess.
func (g *given) Set(text string) error {
	if !g.fromFlag {
		g.text, g.fromFlag = text, true
		return nil
	}
	if g.separators == "" {
		return errors.New("it was given twice")
	}
	g.text += " " + text
	return nil
}

func (g *given) isSet() bool { return g.fromFlag || g.fromEnv }

// list gives the items of a list.
func (g *given) list() []string {
	return strings.FieldsFunc(g.text, func(r rune) bool { return strings.ContainsRune(g.separators, r) })
}

// source names where a value came from, for a fault about it.
func (g *given) source() string {
	if g.fromEnv {
		return envName(g.flag)
	}
	return "--" + g.flag
}

// choices are the settings of one command.
type choices map[string]*given

// register adds the named settings to a command's flags.
func register(command *cobra.Command, names ...string) choices {
	chosen := choices{}
	for _, s := range settings {
		if slices.Contains(names, s.flag) {
			chosen[s.flag] = &given{setting: s, text: s.fallback}
			command.Flags().Var(chosen[s.flag], s.flag, s.usage+" ["+envName(s.flag)+"]")
			if s.isSwitch {
				command.Flags().Lookup(s.flag).NoOptDefVal = "true"
			}
		}
	}
	return chosen
}

// fill takes from the environment what no flag said.
func (c choices) fill(env environment) {
	for flag, g := range c {
		if value, ok := env[envName(flag)]; ok && !g.fromFlag {
			g.text, g.fromEnv = value, true
		}
	}
}
