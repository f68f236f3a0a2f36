package tiers

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"protocolbench/guards"
	"protocolbench/internal/broker"
	"protocolbench/internal/measure"
	"protocolbench/internal/record"
	"protocolbench/internal/report"
	"protocolbench/internal/schedule"
	"protocolbench/internal/verdict"
	"protocolbench/internal/worker"
)

// session is one run under way.
type session struct {
	Config
	budget     schedule.Budget
	sides      []*side // one or two builds
	writer     *record.Writer
	dir        string
	started    time.Time
	stopping   chan struct{} // closed when the broker of the tier before has stopped; nil: none is stopping
	baseMs     int64
	dropped    []int // tiers that were asked for and can't be run with this broker
	workerCPUs []int
	brokerCPUs []int
	embedded   bool
	measured   bool // a block was begun
	// promised is the expected time of second looks that were decided on and not yet begun.
	promised       time.Duration
	profiledCalled int // versions whose CPU was profiled because they were called
}

// errTierOver ends a tier whose reason is in the record already: a broker that died, an interruption.
var errTierOver = errors.New("the tier ended early")

// Run does everything that c asks for, and judges it. The folder and the verdict are there also when the run was interrupted or a broker
// died; an error means that there is nothing to judge.
func Run(ctx context.Context, c Config) (dir string, v verdict.Verdict, err error) {
	s, err := begin(ctx, c)
	if err != nil {
		return "", verdict.Verdict{}, err
	}
	defer s.writer.Close()
	undo, err := measure.StayOn(s.brokerCPUs)
	if err != nil {
		return s.dir, verdict.Verdict{}, err
	}
	defer undo()
	runErr := s.tiers(ctx)
	usage := new(UsageError)
	if errors.As(runErr, &usage) && !s.measured {
		// Only a broker could tell that this can't be done. Nothing was measured, so nothing stays.
		return "", verdict.Verdict{}, errors.Join(runErr, record.Discard(s.dir))
	}
	if runErr != nil && !errors.Is(runErr, errTierOver) {
		if err := s.fault(record.Where{}, -1, runErr); err != nil {
			return s.dir, verdict.Verdict{}, err
		}
	}
	trailer := record.Trailer{Complete: runErr == nil, WallNs: int64(s.Now().Sub(s.started)), Changed: s.changed()}
	if runErr != nil {
		trailer.Reason = runErr.Error()
	}
	if err := s.writer.Write(trailer); err != nil {
		return s.dir, verdict.Verdict{}, err
	}
	v, err = Judge(s.dir, verdict.Options{Margin: c.Margin})
	if errors.As(runErr, &usage) {
		err = errors.Join(runErr, err) // what the tiers before measured is kept
	}
	return s.dir, v, err
}

// Judge reads a result folder's record, judges it and writes what is made from it beside it.
func Judge(dir string, options verdict.Options) (verdict.Verdict, error) {
	run, err := record.Read(filepath.Join(dir, "run.jsonl"))
	if err != nil {
		return verdict.Verdict{}, err
	}
	v := verdict.Judge(run, guards.Check(run), options)
	return v, report.WriteAll(dir, v, run)
}

// begin prepares a run and opens its record.
func begin(ctx context.Context, c Config) (*session, error) {
	s, err := prepare(ctx, c)
	if err != nil {
		return nil, err
	}
	if len(s.chosen(false)) == 0 {
		return nil, &UsageError{[]string{"nothing to run: --only, --tier and --profile leave no family; see --list"}}
	}
	if len(s.able()) == 0 {
		return nil, &UsageError{[]string{"nothing to run: the worker lacks the ability that the families of --only need; its hello lists what it has"}}
	}
	if err := s.link(ctx); err != nil {
		return nil, err
	}
	return s, s.openRecord()
}

// prepare checks the request and asks a worker who it is.
func prepare(ctx context.Context, c Config) (*session, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	var dropped []int
	if c.Attached() && c.has(1) && c.has(2) {
		c.Progress.Say("tier 2 wants a broker of its own kind: with an attached one it runs by itself (--tier 2 --broker ...), so it is left out here")
		c.Tiers = without(c.Tiers, 2)
		dropped = append(dropped, 2)
	}
	if c.Deadlines == (worker.Deadlines{}) {
		c.Deadlines = worker.DefaultDeadlines()
	}
	s := &session{Config: c, dropped: dropped, started: c.Now()}
	s.budget, _ = schedule.BudgetOf(c.Profile)
	s.baseMs = s.started.UnixMilli()
	s.seams()
	s.workerCPUs, s.brokerCPUs = measure.SplitCPUs(measure.AllowedCPUs())
	if err := s.meet(ctx); err != nil {
		return nil, err
	}
	return s, s.askedVersionsExist()
}

func (s *session) openRecord() error {
	var err error
	if s.dir, err = record.NewDir(s.Out, s.started, s.Seed); err != nil {
		return err
	}
	if s.writer, err = record.Create(s.dir); err != nil {
		return err
	}
	m := measure.Machine()
	draws, forks := s.repeats(0)
	header := record.Header{
		Schema: record.Schema, Tool: s.Tool, Command: s.Command, Replay: s.Replay, Seed: s.Seed, Profile: s.Profile, Tiers: s.Tiers,
		Started: s.started, BaseTimestampMs: s.baseMs, Client: s.sides[0].hello, ClientBuild: &s.sides[0].Build, Margin: s.Margin,
		Machine: record.Machine{OS: m.OS, Arch: m.Arch, Kernel: m.Kernel, CPUModel: m.CPUModel, CPUs: m.CPUs, MemoryBytes: m.MemoryBytes,
			GoVersion: m.GoVersion, Missing: m.Missing, Siblings: measure.Siblings(s.workerCPUs), WorkerCPUs: s.workerCPUs, BrokerCPUs: s.brokerCPUs},
		Budget: record.Budget{Draws: draws, Forks: forks, Squares: s.budget.Squares, BatchTargetNs: schedule.BatchTarget.Nanoseconds(),
			Looks: s.looks(), LimitNs: s.budget.Limit.Nanoseconds()},
		Controls: record.NegativeControls(), AnyBroker: s.AnyBroker,
	}
	header.SharedHost = s.SharedHost
	header.NotCovered = s.notCovered(s.embedded)
	for _, p := range s.Plants {
		header.Plants = append(header.Plants, p.String())
	}
	if s.Seams != nil && s.Seams.Fault != "" {
		header.Plants = append(header.Plants, "fault: "+s.Seams.Fault)
	}
	if s.Baseline != nil {
		header.Baseline, header.BaselineBuild = &s.sides[1].hello, &s.sides[1].Build
	}
	if err := s.writer.Write(header); err != nil {
		return err
	}
	return s.writeScopes()
}

// writeScopes says before anything is done what is to be done: a run that ends early is held against all of it.
func (s *session) writeScopes() error {
	for _, tier := range s.Tiers {
		if err := s.writeScope(s.scope(tier, nil)); err != nil {
			return err
		}
	}
	for _, tier := range s.dropped {
		all := s.Config
		all.Tiers = []int{tier}
		row := record.Scope{Tier: tier}
		for _, f := range all.families() {
			row.Families = append(row.Families, record.ScopeFamily{Name: f.name(), API: f.api.Name, Reason: record.LeftOtherBroker,
				Why: "an attached broker is that of one tier: run tier 2 by itself (--tier 2 --broker ...)"})
		}
		if err := s.writeScope(row); err != nil {
			return err
		}
	}
	return nil
}

// tiers runs the tiers in order. A tier whose broker died leaves the others their chance.
func (s *session) tiers(ctx context.Context) error {
	defer s.stopped()
	s.expect()
	s.Progress.Say(fmt.Sprintf("%s, seed %d, results in %s", s.who(), s.Seed, s.dir))
	var early error
	for _, tier := range s.Tiers {
		err := s.tier(ctx, tier)
		if errors.Is(err, errTierOver) && ctx.Err() == nil {
			early = err
			continue
		}
		if err != nil {
			return err
		}
	}
	return early
}

// who names the builds of the run.
func (s *session) who() string {
	hello := s.sides[0].hello
	if s.Baseline == nil {
		return fmt.Sprintf("client %s %s", hello.Client, hello.Version)
	}
	baseline := s.sides[1].hello
	return fmt.Sprintf("candidate %s %s against baseline %s %s", hello.Client, hello.Version, baseline.Client, baseline.Version)
}

// fault writes what stopped a block, a tier or the run, with the last log lines where the error has some.
func (s *session) fault(where record.Where, tier int, cause error) error {
	f := record.Fault{Where: where, Tier: tier, What: record.FaultTool, Text: cause.Error()}
	if blame := new(blamed); errors.As(cause, &blame) {
		f.Build = blame.build
	}
	var dead *worker.Dead
	var hung *worker.Hung
	var junk *worker.Junk
	var refused *worker.Refused
	var died *brokerDied
	var unfit *unfitBroker
	switch {
	case errors.Is(cause, context.Canceled):
		f.What, f.Text = record.FaultUser, "interrupted"
	case errors.As(cause, &died):
		f.What, f.Log = record.FaultBroker, died.log
	case errors.As(cause, &unfit):
		f.What = record.FaultBroker
	case errors.As(cause, &dead):
		f.What, f.Log = record.FaultWorker, dead.Log
	case errors.As(cause, &hung):
		f.What, f.Log = record.FaultWorker, hung.Log
	case errors.As(cause, &junk):
		f.What, f.Log = record.FaultWorker, junk.Log
	case errors.As(cause, &refused):
		f.What = record.FaultWorker
	}
	s.Progress.Say(fmt.Sprintf("%s fault: %s", f.What, f.Text))
	return s.writer.Write(f)
}

// brokerDied says that a broker's process ended while it was needed.
type brokerDied struct {
	row record.Broker
	log []string
}

func (e *brokerDied) Error() string {
	return fmt.Sprintf("the broker (%s, Kafka %s, process %d) ended in the middle of tier %d; its last log lines are in the record", e.row.Provider, e.row.Release, e.row.PID, e.row.Tier)
}

// ifDead puts a dead broker before whatever else went wrong: it is the cause of the rest.
func ifDead(b broker.Broker, err error) error {
	if b == nil || err == nil {
		return err
	}
	select {
	case <-b.Exited():
		return &brokerDied{b.Row(), b.LogTail(20)}
	case <-time.After(200 * time.Millisecond):
		return err
	}
}

func without(tiers []int, drop int) []int {
	var kept []int
	for _, t := range tiers {
		if t != drop {
			kept = append(kept, t)
		}
	}
	return kept
}
