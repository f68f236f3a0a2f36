package cli

import (
	"crypto/rand"
	"errors"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"protocolbench/compose"
	"protocolbench/internal/broker"
	"protocolbench/internal/build"
	"protocolbench/seed"
	"protocolbench/tiers"
)

// config reads all settings and reports every fault at once.
func (p *program) config(command *cobra.Command, chosen choices) (request, error) {
	chosen.fill(p.env)
	config := request{Config: tiers.Config{Profile: "quick", Now: p.now, Command: append([]string{"protocolbench"}, p.args...), Tool: revision()}}
	var faults []string
	read := func(flag string, take func(g *given) error) {
		g, ok := chosen[flag]
		if !ok {
			return
		}
		if err := take(g); err != nil {
			faults = append(faults, g.source()+": "+err.Error())
		}
	}
	read("tier", func(g *given) (err error) { config.Tiers, err = parseTiers(g.text); return })
	read("client", func(g *given) (err error) { config.client, err = build.Parse(g.text); return })
	read("baseline", func(g *given) error { return config.readBaseline(g) })
	read("versions", func(g *given) (err error) { config.Versions, err = parseVersions(g.list()); return })
	read("margin", func(g *given) (err error) {
		if g.isSet() {
			config.Margin, err = parseMargin(g.text)
		}
		return
	})
	read("plant", func(g *given) (err error) { config.Plants, err = parsePlants(g.list()); return })
	read("profile-cpu", func(g *given) (err error) { config.Profiled, err = parseProfiled(g.list()); return })
	read("no-profile-cpu", func(g *given) error {
		off, err := parseSwitch(g.text)
		config.ProfileSlower = !off
		return err
	})
	read("seed", func(g *given) (err error) { config.Seed, err = readSeed(g); return })
	read("kafka", func(g *given) (err error) { config.Kafka, err = parseRelease(g.text, compose.KRaft); return })
	read("legacy", func(g *given) (err error) { config.Legacy, err = parseRelease(g.text, compose.ZooKeeper); return })
	read("broker", func(g *given) (err error) { config.Broker, err = parseBroker(g.text); return })
	read("jolokia", func(g *given) (err error) { config.Jolokia, err = parseJolokia(g.text); return })
	read("any-broker", func(g *given) (err error) { config.AnyBroker, err = parseSwitch(g.text); return })
	read("profile", func(g *given) error { config.Profile = g.text; return nil })
	read("out", func(g *given) error { config.Out = g.text; return nil })
	read("only", func(g *given) error { config.Only = g.list(); return nil })
	if config.Tiers == nil {
		config.Tiers = []int{0, 1, 2} // it couldn't be read, which is one fault, not two
	}
	config.Config = config.Narrowed()
	if err := config.Validate(); err != nil {
		var refused *tiers.UsageError
		if !errors.As(err, &refused) {
			return config, err
		}
		faults = append(faults, refused.Faults...)
	}
	if faults != nil {
		return config, usage(command, faults...)
	}
	var err error
	if config.CacheDir, err = broker.CacheDir(p.environ); err != nil {
		return config, err
	}
	config.Replay = chosen.replay(config.Seed)
	if config.Jolokia != "" {
		for i, word := range config.Command { // --jolokia URL and --jolokia=URL
			config.Command[i] = strings.ReplaceAll(word, config.Jolokia, broker.Redacted(config.Jolokia))
		}
	}
	return config, err
}

func readSeed(g *given) (uint64, error) {
	if g.isSet() {
		return seed.Parse(g.text)
	}
	return seed.Draw(rand.Reader), nil
}

// readBaseline makes a run one of two builds. What they are is found out when they are built.
func (r *request) readBaseline(g *given) error {
	if !g.isSet() {
		return nil
	}
	spec, err := build.Parse(g.text)
	r.baseline, r.Baseline = &spec, &tiers.Client{}
	return err
}

// revision is what the record says of this program.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	found := map[string]string{}
	for _, s := range info.Settings {
		found[s.Key] = s.Value
	}
	switch {
	case found["vcs.revision"] == "":
		return "unknown"
	case found["vcs.modified"] == "true":
		return found["vcs.revision"] + "+modified"
	}
	return found["vcs.revision"]
}
