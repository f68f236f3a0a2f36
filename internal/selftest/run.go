package selftest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"protocolbench/guards"
	"protocolbench/internal/broker"
	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
	"protocolbench/internal/verdict"
	"protocolbench/internal/worker"
	"protocolbench/tiers"
)

// Options are what a selftest is asked for.
type Options struct {
	// Config has the brokers, the seed, the clock and the folder of results; clients and families are the selftest's.
	Config tiers.Config
	// Worker is the command of the built-in client with a fault, "" for none.
	Worker func(fault string) worker.Command
	Build  record.Build
	// Check asks the guards.
	Check func(*record.Run) []guards.Finding
	Say   func(string)
	// Each is called with every result as it comes.
	Each   func(Result)
	Faults []Fault
}

// Objection is one guard's, or one of the statistics'.
type Objection struct {
	Guard    string         `json:"guard"`
	Outcome  guards.Outcome `json:"outcome"`
	Why      string         `json:"why"`
	Family   string         `json:"family,omitempty"`
	Version  int            `json:"version"`
	Evidence map[string]any `json:"evidence,omitempty"`
}

// Result is what came of one fault, or of a run without one.
type Result struct {
	Fault
	By        []Objection // of the fault's own guard
	Besides   []Objection // of those that may object, too
	Strangers []Objection // of others: then a guard objects to what is none of its business
	Untried   string      // why it could not be planted here
	Dir       string
	Took      time.Duration
}

// Caught tells whether the fault's own guard objected, and nobody whose business it isn't. Of a run without a fault: whether nobody did.
func (r Result) Caught() bool {
	return r.Untried == "" && len(r.Strangers) == 0 && (r.Guard == "" || len(r.By) > 0)
}

// Clean are the runs in which everything has to stay silent.
func Clean() []Fault {
	return []Fault{
		{Name: "nothing, tier 1", Planted: "nothing", Tier: 1, Only: []string{fetch, produce}, see: ofStatistics},
		{Name: "nothing, tier 2", Planted: "nothing", Tier: 2, Only: []string{alone}},
	}
}

// Run plants one fault after the other. An error means that it could not go on; what was tried before is there.
func Run(ctx context.Context, o Options) (results []Result, err error) {
	s := &stage{options: o, brokers: map[int]broker.Broker{}}
	defer func() { err = errors.Join(err, s.stop()) }()
	for _, fault := range o.Faults {
		began := o.Config.Now()
		r, err := s.plant(ctx, fault)
		s.clean()
		r.Took = o.Config.Now().Sub(began)
		if err != nil {
			return results, fmt.Errorf("planting %q: %w", fault.Name, err)
		}
		results = append(results, r)
		o.Each(r)
	}
	return results, nil
}

// budget is enough for the guards, and for statistics with a margin of a quarter.
var budget = schedule.Budget{Profile: schedule.Quick, Draws: 1, Forks: 4, Squares: 0.5, Looks: 1, Limit: 2 * time.Minute}

const margin = 0.25

// plant makes one run with the fault in it, and asks who objects.
func (s *stage) plant(ctx context.Context, fault Fault) (Result, error) {
	r := Result{Fault: fault}
	if s.options.Config.Attached() && (fault.twoBrokers || !slices.Contains(s.options.Config.Tiers, fault.Tier)) {
		r.Untried = "it needs a broker of another kind than the attached one"
		return r, nil
	}
	c := s.options.Config
	c.Profile, c.Tiers, c.Only, c.Margin = schedule.Quick, []int{fault.Tier}, fault.Only, margin
	c.Versions = map[string][2]int{"fetch": {4, 6}, "produce": {3, 5}}
	if fault.Tier == 2 {
		c.Versions = nil
	}
	c.Out = filepath.Join(s.options.Config.Out, strings.NewReplacer(" ", "-", ",", "", "=", "-").Replace(fault.Name))
	command := s.options.Worker(fault.worker)
	c.Client = tiers.Client{Build: s.options.Build, Worker: func(context.Context, int) (worker.Command, error) { return command, nil }}
	var seams tiers.Seams
	if fault.seams != nil {
		seams = fault.seams(s)
	}
	if seams.Broker == nil {
		seams.Broker = s.broker
	}
	seams.Budget = budget
	if fault.squares > 0 {
		seams.Budget.Squares = fault.squares
	}
	if fault.Guard != "" {
		seams.Fault = fault.Name
	}
	c.Seams = &seams
	if fault.change != nil {
		fault.change(s, &c)
	}
	dir, _, err := tiers.Run(ctx, c)
	r.Dir = dir
	var refused *tiers.UsageError
	if errors.As(err, &refused) && ctx.Err() == nil {
		r.sort([]Objection{{Guard: Refusal, Outcome: guards.Fail, Why: refused.Error(), Version: guards.AllVersions}})
		return r, nil
	}
	if err != nil {
		return r, err
	}
	run, err := record.Read(filepath.Join(dir, record.FileName))
	if err != nil {
		return r, err
	}
	findings := s.options.Check(run)
	r.sort(objections(fault, run, findings))
	return r, nil
}

// objections are what is no pass, and what the statistics have to say where they are asked.
func objections(fault Fault, run *record.Run, findings []guards.Finding) []Objection {
	var all []Objection
	for _, f := range findings {
		if f.Outcome == guards.Fail || f.Outcome == guards.Blind {
			all = append(all, Objection{f.Guard, f.Outcome, f.Why, f.Family, f.Version, f.Evidence})
		}
	}
	if fault.see != nil {
		all = append(all, fault.see(run, verdict.Judge(run, findings, verdict.Options{}))...)
	}
	return all
}

// sort puts objections where they belong.
func (r *Result) sort(all []Objection) {
	for _, o := range all {
		switch {
		case o.Guard == r.Guard:
			r.By = append(r.By, o)
		case slices.Contains(r.Also, o.Guard):
			r.Besides = append(r.Besides, o)
		default:
			r.Strangers = append(r.Strangers, o)
		}
	}
}

// ofStatistics is what the families' own controls say, and versions that are called slower.
func ofStatistics(_ *record.Run, v verdict.Verdict) []Objection {
	var all []Objection
	for _, f := range v.Families {
		say := func(who, why string, version int) {
			all = append(all, Objection{Guard: who, Outcome: guards.Fail, Why: why, Family: f.Name, Version: version})
		}
		if f.Tier > 1 {
			continue
		}
		if !f.Canary.Seen {
			say(Canary, fmt.Sprintf("planted %.1f %%, found %.1f %% [%.1f, %.1f]", 100*f.Canary.Planted, 100*f.Canary.Found, 100*f.Canary.Low, 100*f.Canary.High), guards.AllVersions)
		}
		if d := f.Dearer; d != nil {
			say(Dearer, fmt.Sprintf("%.1f %% more than v%d", 100*d.Difference, d.Than), f.Reference)
		}
		for _, c := range f.Cells {
			switch {
			case c.Verdict == verdict.Slower:
				say(Slower, c.Why, c.Version)
			case strings.Contains(c.Why, "clients of the same version differ"):
				say(Twins, c.Why, c.Version)
			}
		}
	}
	return all
}

func splitAddresses(text string) []string { return strings.Split(text, ",") }

// Choose gives the runs whose names or guards begin with one of the words; all of them, and those without a fault, where there is no word.
func Choose(words []string) ([]Fault, error) {
	all := slices.Concat(Clean(), Faults())
	if len(words) == 0 {
		return all, nil
	}
	var chosen []Fault
	for _, word := range words {
		fits := func(f Fault) bool { return strings.HasPrefix(f.Name, word) || strings.HasPrefix(f.Guard, word) }
		if !slices.ContainsFunc(all, fits) {
			var known []string
			for _, f := range all {
				known = append(known, f.Name)
			}
			return nil, fmt.Errorf("unknown fault %q; there are: %s", word, strings.Join(known, "; "))
		}
		for _, f := range all {
			if fits(f) && !slices.ContainsFunc(chosen, func(o Fault) bool { return o.Name == f.Name }) {
				chosen = append(chosen, f)
			}
		}
	}
	return chosen, nil
}
