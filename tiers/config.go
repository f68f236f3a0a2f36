// Package tiers has the three tiers as values and the one procedure that runs any of them:
//
//	seed -> shape -> (broker, worker) -> rounds -> record -> stats -> guards -> report
package tiers

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"protocolbench/internal/schedule"
	"protocolbench/internal/worker"
	"protocolbench/pin"
)

// Config is everything a run is asked for.
type Config struct {
	Tiers   []int  // ascending, of 0, 1, 2
	Profile string // schedule.Quick, ...
	Seed    uint64
	Out     string   // the folder that gets a folder per run
	Only    []string // prefixes or globs over family names; empty: all
	// Broker is "" (choose), "jvm", "embedded", or HOST:PORT[,HOST:PORT] of a cluster that the user runs.
	Broker        string
	Jolokia       string // of an attached cluster
	Kafka, Legacy string // releases
	AnyBroker     bool   // a broker that is not what its tier is for is not refused
	// Versions narrows an API by lower-case name: "fetch" -> {4, 18}.
	Versions map[string][2]int
	Margin   float64 // 0: as each family declares
	// Profiled are the CPU profiles that are asked for; ProfileSlower: of versions that are called slower they are taken unasked.
	Profiled      []Profiled
	ProfileSlower bool
	Plants        []Plant // slowdowns that are planted on purpose, to see whether they are found
	CacheDir      string
	// Client is the build under test. With a Baseline the run is one of two builds, and Client is the candidate.
	Client    Client
	Baseline  *Client
	Deadlines worker.Deadlines // zero: worker.DefaultDeadlines()
	Command   []string
	Replay    string
	Tool      string // revision of this program
	// SharedHost: other runs may be at work beside this one, so the host is not looked at.
	SharedHost bool
	// Seams is where a selftest takes hold; nil in every other run.
	Seams    *Seams
	Now      func() time.Time
	Progress Progress
	Standing io.Writer // gets the standing after each draw
}

// Progress is told how far a run is. It is called between blocks, never while a batch is measured.
type Progress interface {
	Expect(total time.Duration)
	// Step says that so much of the expected time is behind, and what is next.
	Step(done time.Duration, text string)
	Say(text string)
}

// UsageError is what the user asked for and can't have: exit code 2.
type UsageError struct{ Faults []string }

func (e *UsageError) Error() string { return strings.Join(e.Faults, "; ") }

// Attached tells whether the run uses a cluster that the user runs.
func (c Config) Attached() bool {
	return c.Broker != "" && c.Broker != "jvm" && c.Broker != "embedded"
}

// Validate reports every fault of the request at once, as a *UsageError.
func (c Config) Validate() error {
	var faults []string
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if _, err := schedule.BudgetOf(c.Profile); err != nil {
		add("%v", err)
	}
	if len(c.Tiers) == 0 {
		add("no tier is asked for; there are 0, 1 and 2")
	}
	for _, t := range c.Tiers {
		if t < 0 || t > 2 {
			add("unknown tier %d; there are 0, 1 and 2", t)
		}
	}
	for name, r := range c.Versions {
		if name != "produce" && name != "fetch" {
			add("unknown API %q in --versions; there are produce and fetch", name)
		}
		if r[0] < 0 || r[1] < r[0] {
			add("--versions %s=%d-%d is no range; give it as %s=LOW-HIGH", name, r[0], r[1], name)
		}
	}
	if c.Margin < 0 || c.Margin >= 1 {
		add("margin %g is out of range; give it as 3%% or 0.03", c.Margin)
	}
	if c.Baseline != nil && len(c.Tiers) == 1 && c.Tiers[0] == 2 {
		add("--baseline goes with tier 0 or 1; tier 2 compares nothing, so it has nothing for a second build")
	}
	if c.Jolokia != "" && !c.Attached() {
		add("--jolokia goes with --broker HOST:PORT; brokers that are started here bring their own")
	}
	faults = append(faults, c.onlyFaults()...)
	if faults != nil {
		return &UsageError{faults}
	}
	return nil
}

func (c Config) onlyFaults() []string {
	var faults []string
	for _, pattern := range c.Only {
		if _, err := path.Match(pattern, ""); err != nil {
			faults = append(faults, fmt.Sprintf("--only %q is no pattern: %v", pattern, err))
			continue
		}
		if !c.matchesAny(pattern) {
			faults = append(faults, fmt.Sprintf("unknown family: --only %q matches none; see --list", pattern))
		} else if why := c.unreached(pattern); why != "" {
			faults = append(faults, why)
		}
	}
	return append(append(faults, c.plantFaults()...), c.profileFaults()...)
}

// plantFaults are plants that would plant nothing: a run that is called planted and isn't would show that a slow version is not seen. Whether the client has the version only it
// can say.
func (c Config) plantFaults() []string {
	var faults []string
	for _, p := range c.Plants {
		matched := slices.DeleteFunc(everything(), func(f family) bool { return !matches(p.Families, f.name()) })
		chosen := slices.DeleteFunc(c.chosen(false), func(f family) bool { return !matches(p.Families, f.name()) })
		compared := slices.DeleteFunc(slices.Clone(chosen), func(f family) bool { return f.tier == 2 })
		pinned := slices.ContainsFunc(compared, func(f family) bool {
			asked := c.asked(f.api)
			return p.Version >= f.api.Floor && f.takes(p.Version) && (asked == pin.None || asked[0] <= p.Version && p.Version <= asked[1])
		})
		switch {
		case len(matched) == 0:
			faults = append(faults, fmt.Sprintf("unknown family: --plant %q matches none; see --list", p.Families))
		case len(chosen) == 0:
			faults = append(faults, fmt.Sprintf("--plant %s would plant nothing: --tier, --profile and --only leave none of its families", p))
		case len(compared) == 0:
			faults = append(faults, fmt.Sprintf("--plant %s would plant nothing: tier 2 compares no versions", p))
		case !pinned:
			faults = append(faults, fmt.Sprintf("--plant %s would plant nothing: version %d is pinned in none of its families", p, p.Version))
		}
	}
	return faults
}

func (c Config) matchesAny(pattern string) bool {
	return slices.ContainsFunc(everything(), func(f family) bool { return matches(pattern, f.name()) })
}

// matches tells whether a family's name begins with the pattern, or fits it as a glob whose * crosses slashes. A number isn't the beginning of a longer one: records=100
// is not records=1000.
func matches(pattern, name string) bool {
	if rest, begins := strings.CutPrefix(name, pattern); begins && !(endsInDigit(pattern) && startsWithDigit(rest)) {
		return true
	}
	flat := strings.NewReplacer("/", "\x00")
	ok, err := path.Match(flat.Replace(pattern), flat.Replace(name))
	return err == nil && ok
}

func endsInDigit(s string) bool { return s != "" && startsWithDigit(s[len(s)-1:]) }

func startsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

func (c Config) asked(api pin.API) [2]int {
	if r, ok := c.Versions[strings.ToLower(api.Name)]; ok {
		return r
	}
	return pin.None
}

func (c Config) has(tier int) bool { return slices.Contains(c.Tiers, tier) }
