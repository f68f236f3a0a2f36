package tiers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"protocolbench/guards"
	"protocolbench/internal/broker"
	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/report"
	"protocolbench/internal/schedule"
	"protocolbench/internal/verdict"
	"protocolbench/pin"
)

// familyState is a family on its way through a run.
type familyState struct {
	family
	row      record.Family
	declared bool
	faults   int
	expected time.Duration // of one block
	took     time.Duration // by the blocks so far
	blocks   int           // so far
	// second is the layout of a second look; nil in the first.
	second *schedule.SecondLook
}

// declareOnce writes the family's row before the first row that refers to it.
func (f *familyState) declareOnce(w *record.Writer) error {
	if f.declared {
		return nil
	}
	f.declared = true
	return w.Write(f.row)
}

// A family whose worker dies again and again is not tried to the end: two faults are a result.
const faultsEnough = 2

// tier runs one tier: broker, plan, controls, then draw by draw and fork by fork every family once, so that the machine's slow drift meets
// all families alike.
func (s *session) tier(ctx context.Context, tier int) error {
	if len(s.states(tier)) == 0 {
		return nil // --only left nothing, or no worker can measure it, as the scope says: no broker is needed
	}
	var l *live
	if tier > 0 {
		var err error
		if l, err = s.connect(ctx, tier); err != nil {
			return err
		}
		defer s.stopLater(ctx, l)
		s.stopped() // the broker of the tier before; this one took longer to start
		if err := s.CheckBroker(l.row()); err != nil {
			return err
		}
		unfit := s.rehearse(ctx, l, s.states(tier))
		if err := s.writer.Write(l.row()); err != nil {
			return err
		}
		if unfit != nil {
			return s.endTier(ctx, l, tier, unfit)
		}
	}
	families := s.states(tier)
	plans, err := s.plans(ctx, l, tier)
	if err != nil {
		return s.endTier(ctx, l, tier, err)
	}
	for _, api := range s.apisOf(tier) {
		if err := s.writer.Write(plans[api.Name]); err != nil {
			return err
		}
	}
	scope := s.scope(tier, plans)
	if err := s.writeScope(scope); err != nil {
		return err
	}
	families = measurable(families, scope)
	if err := s.controls(ctx, l, tier, plans); err != nil {
		return s.endTier(ctx, l, tier, err)
	}
	for _, f := range families {
		if err := s.declare(f, plans[f.api.Name]); err != nil {
			return err
		}
	}
	draws, forks := s.repeats(tier)
	for draw := range draws {
		for fork := range forks {
			for _, f := range families {
				if own, _ := s.repeatsOf(f.family); draw >= own {
					continue
				}
				if err := s.oneBlock(ctx, l, f, families, draw, fork); err != nil {
					return s.endTier(ctx, l, tier, err)
				}
			}
		}
		if l != nil {
			if err := l.dropFetchTopic(ctx, draw); err != nil {
				return s.endTier(ctx, l, tier, err)
			}
		}
		s.standing(tier, draw, draws)
	}
	if err := s.secondLooks(ctx, l, tier, families); err != nil {
		return s.endTier(ctx, l, tier, err)
	}
	if err := s.profiles(ctx, l, tier, families); err != nil {
		return s.endTier(ctx, l, tier, err)
	}
	return nil
}

// repeats gives the draws and forks of a tier. Tier 2 is a check, not a measurement: one draw, and a second fork where there is time.
func (s *session) repeats(tier int) (draws, forks int) {
	if tier == 2 && s.Profile == schedule.Quick {
		return 1, 1
	}
	if tier == 2 {
		return 1, 2
	}
	if s.Baseline != nil { // each fork has another pair of layouts
		return s.budget.Draws, max(s.budget.Forks, (schedule.LeastLayouts+s.budget.Draws-1)/s.budget.Draws)
	}
	return s.budget.Draws, s.budget.Forks
}

func (s *session) states(tier int) []*familyState {
	var states []*familyState
	for _, f := range s.able() {
		if f.tier == tier {
			states = append(states, &familyState{family: f})
		}
	}
	return states
}

// declare fills the part of a family's row that is known before its first block.
func (s *session) declare(f *familyState, plan record.Plan) error {
	draws, forks := s.repeatsOf(f.family)
	f.row = record.Family{Tier: f.tier, Name: f.name(), API: f.api.Name, Key: f.api.Key, Shape: f.shape, Mode: f.mode, Margin: f.margin,
		Deciding: f.deciding, Reference: driver.Unpinned, Blocks: draws * forks}
	if f.message != nil {
		f.row.Message, f.row.Group = f.message.Direction, f.message.Group
	}
	all := len(plan.Pinned)
	f.row.Left = f.leftVersions(plan.Pinned)
	if plan.Pinned = f.some(plan.Pinned); len(plan.Pinned) < all {
		f.row.LeftOut = f.whySome()
	}
	f.row.Cells = cells(f.tier, plan, s.sidesOf(f.tier))
	if f.tier < 2 {
		f.row.Reference = plan.Pinned[len(plan.Pinned)-1]
		if s.Baseline != nil {
			f.row.BuildMargin = max(verdict.LeastBuildMargin, f.margin)
		}
	}
	f.row.Rounds = s.rounds(f.family, len(f.row.Cells))
	f.expected = s.blockExpected(f.family, len(f.row.Cells))
	return nil
}

// cells are, of each build, the versions, two more clients of the reference (the twins: the reference is the mean of three), and the canary.
func cells(tier int, plan record.Plan, sides []*side) []record.FamilyCell {
	if tier == 2 {
		return []record.FamilyCell{{Cell: 0, Version: driver.Unpinned, Role: record.RoleAlone}}
	}
	var list []record.FamilyCell
	for _, side := range sides {
		add := func(version int, role string) {
			list = append(list, record.FamilyCell{Cell: len(list), Version: version, Role: role, Build: side.name})
		}
		for _, v := range plan.Pinned {
			add(v, record.RoleVersion)
		}
		if len(plan.Pinned) > 0 {
			reference := plan.Pinned[len(plan.Pinned)-1]
			add(reference, record.RoleTwin)
			add(reference, record.RoleTwin)
			add(reference, record.RoleCanary)
		}
	}
	return list
}

// oneBlock runs a block. A worker's fault ends the block only; an error that comes back ends the tier or the run.
func (s *session) oneBlock(ctx context.Context, l *live, f *familyState, families []*familyState, draw, fork int) error {
	if f.faults >= faultsEnough {
		return nil
	}
	s.Progress.Step(0, fmt.Sprintf("%s, draw %d, fork %d", f.name(), draw+1, fork+1))
	s.measured = true
	b := &block{session: s, live: l, f: f, where: record.Where{Family: f.name(), Draw: draw, Fork: fork}, sides: s.sidesOf(f.tier)}
	began := s.Now()
	err := b.run(ctx, families)
	f.took += s.Now().Sub(began)
	f.blocks++
	s.Progress.Step(f.expected, "")
	if err == nil {
		return s.writer.Sync()
	}
	var died *brokerDied
	if ctx.Err() != nil || errors.As(err, &died) || !isWorkers(err) {
		return err
	}
	if !f.declared {
		f.faults = faultsEnough // no batch size was found: there is nothing that later blocks could repeat
	}
	if err := f.declareOnce(s.writer); err != nil {
		return err
	}
	f.faults++
	return s.fault(b.where, f.tier, err)
}

// endTier writes why a tier ended early. Interruption and a dead broker leave a record that is judged; the rest goes up as it is.
func (s *session) endTier(ctx context.Context, l *live, tier int, cause error) error {
	usage := new(UsageError)
	if errors.As(cause, &usage) {
		return cause
	}
	if ctx.Err() != nil {
		cause = ctx.Err()
	} else if l != nil {
		cause = ifDead(l.broker, cause)
	}
	if err := s.fault(record.Where{}, tier, cause); err != nil {
		return err
	}
	return fmt.Errorf("%w: %w", errTierOver, cause)
}

// standing prints what is known after a draw, so that a person who stops a long run still has it.
func (s *session) standing(tier, draw, draws int) {
	if s.Standing == nil || tier == 2 || draws == 1 {
		return
	}
	run, err := record.Read(s.recordPath())
	if err != nil {
		s.Progress.Say("no standing: " + err.Error())
		return
	}
	v := verdict.Judge(run, guards.Check(run), verdict.Options{Margin: s.Margin})
	fmt.Fprintf(s.Standing, "standing after draw %d of %d of tier %d:\n", draw+1, draws, tier)
	printStanding(s.Standing, v, tier)
}

func printStanding(w io.Writer, v verdict.Verdict, tier int) {
	for _, f := range v.Families {
		if f.Tier == tier && f.Message == "" { // those have one draw, and are hundreds
			fmt.Fprintf(w, "  %s\n", report.FamilyLine(f))
		}
	}
}

// apis are the APIs under test.
var apis = []pin.API{pin.Produce, pin.Fetch}

// plans asks worker and broker what can be pinned.
func (s *session) plans(ctx context.Context, l *live, tier int) (map[string]record.Plan, error) {
	plans := map[string]record.Plan{}
	var refused []string
	for _, api := range s.apisOf(tier) {
		plan, err := s.probe(ctx, l, tier, api)
		if err != nil {
			return nil, err
		}
		if tier < 2 {
			refused = append(refused, pin.Refused(plan, s.asked(api))...)
			refused = append(refused, nothingLeft(plan)...)
		}
		plans[api.Name] = plan
	}
	if refused != nil {
		return nil, &UsageError{refused}
	}
	return plans, nil
}

// nothingLeft: no version was to be compared at all. Where some were, and the client failed at them, that is a result, and no fault of the request.
func nothingLeft(plan record.Plan) []string {
	if len(plan.Pinned) > 0 || slices.ContainsFunc(plan.Answers, func(a record.PlanAnswer) bool { return a.Reason == "" }) {
		return nil
	}
	return []string{fmt.Sprintf("no version of %s is left for tier %d; protocolbench probe shows why", plan.API, plan.Tier)}
}

// writeScope writes a tier's scope, where it has anything in it.
func (s *session) writeScope(scope record.Scope) error {
	if len(scope.Families) == 0 {
		return nil
	}
	return s.writer.Write(scope)
}

// controls plants the faults that show that the tier's guards could have failed.
func (s *session) controls(ctx context.Context, l *live, tier int, plans map[string]record.Plan) error {
	if l == nil || l.row().Provider == broker.ProviderEmbedded {
		return nil
	}
	rows := []record.Control{l.observer.Recompression(ctx), l.observer.OldFetch(ctx), l.observer.DeletedRecords(ctx)}
	missing, err := s.missingRecord(ctx, l, tier, plans[pin.Fetch.Name])
	if err != nil {
		return err
	}
	unpinned, err := s.unpinnedControl(ctx, l, tier, plans[pin.Fetch.Name])
	if err != nil {
		return err
	}
	for _, row := range append(rows, missing, unpinned) {
		row.Tier = tier
		if err := s.writer.Write(row); err != nil {
			return err
		}
	}
	return ctx.Err()
}
