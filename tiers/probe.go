package tiers

import (
	"context"
	"fmt"
	"slices"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/pin"
)

// Probe says for each live tier of c what client and broker can agree on. It writes no record.
func Probe(ctx context.Context, c Config) ([]record.Plan, []record.Broker, error) {
	if err := c.Validate(); err != nil {
		return nil, nil, err
	}
	s, err := prepare(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	var plans []record.Plan
	var brokers []record.Broker
	for _, tier := range s.Tiers {
		if tier == 0 {
			continue
		}
		found, row, err := s.probeTier(ctx, tier)
		if err != nil {
			return nil, nil, err
		}
		plans, brokers = append(plans, found...), append(brokers, row)
	}
	return plans, brokers, nil
}

func (s *session) probeTier(ctx context.Context, tier int) ([]record.Plan, record.Broker, error) {
	l, err := s.connect(ctx, tier)
	if err != nil {
		return nil, record.Broker{}, err
	}
	defer l.stop(ctx)
	found, err := s.plans(ctx, l, tier)
	if err != nil {
		return nil, record.Broker{}, err
	}
	return []record.Plan{found[pin.Produce.Name], found[pin.Fetch.Name]}, l.row(), nil
}

// askedVersionsExist refuses versions that no broker could help with, before one is started.
func (s *session) askedVersionsExist() error {
	var faults []string
	for _, api := range apis {
		asked := s.asked(api)
		for _, side := range s.sides {
			has := side.implemented(api)
			if asked != pin.None && (asked[0] < has[0] || asked[1] > has[1]) {
				faults = append(faults, fmt.Sprintf("--versions asks for %s v%d-v%d; %s %s implements v%d-v%d",
					api.Name, asked[0], asked[1], side.hello.Client, side.hello.Version, has[0], has[1]))
			}
		}
	}
	for _, p := range s.Plants {
		if !slices.ContainsFunc(s.able(), func(f family) bool { return s.pins(f, p.Version) && matches(p.Families, f.name()) }) {
			faults = append(faults, fmt.Sprintf("--plant %s would plant nothing: the client doesn't implement version %d in any of its families", p, p.Version))
		}
	}
	if faults != nil {
		return &UsageError{faults}
	}
	return nil
}

// pins tells whether every build implements a version of a family's API that is compared.
func (s *session) pins(f family, version int) bool {
	return f.tier < 2 && !slices.ContainsFunc(s.sides, func(of *side) bool {
		has := of.implemented(f.api)
		return has == pin.None || version < has[0] || version > has[1]
	})
}

// probe asks the broker which versions it takes, and tries each of them that is to be compared with one real request of every build.
func (s *session) probe(ctx context.Context, l *live, tier int, api pin.API) (record.Plan, error) {
	scope := pin.Scope{Tier: tier, API: api, Implemented: s.sides[0].implemented(api), Advertised: pin.None, Asked: s.asked(api)}
	for _, side := range s.sidesOf(tier)[1:] {
		has := side.implemented(api)
		scope.Baseline = &has
	}
	if m, ok := messageOf(api); ok {
		scope.Written = &[2]int{0, m.Newest}
	}
	if l == nil {
		return pin.Build(scope, driver.Unpinned, nil), nil
	}
	topic, err := s.newTopic(ctx, l)
	if err != nil {
		return record.Plan{}, err
	}
	defer l.dropTopic(context.WithoutCancel(ctx), topic)
	if err := l.takes(ctx, &scope, topic); err != nil {
		return record.Plan{}, ifDead(l.broker, err)
	}
	tries, err := s.tries(ctx, l, scope, topic)
	if err != nil {
		return record.Plan{}, ifDead(l.broker, err)
	}
	return pin.Build(scope, negotiated(tries), tries), nil
}

// takes fills in the broker's side of a scope, by requests of this program's own.
func (l *live) takes(ctx context.Context, scope *pin.Scope, topic string) error {
	low, high, err := l.admin.Advertised(ctx, scope.API.Key)
	if err != nil {
		return fmt.Errorf("asking the broker which versions of %s it takes: %w", scope.API.Name, err)
	}
	scope.Advertised, scope.Took = [2]int{low, high}, map[int]pin.Took{}
	for _, v := range scope.Ask() {
		if scope.Took[v], err = l.admin.Takes(ctx, scope.API.Key, v, topic); err != nil {
			return err
		}
	}
	return nil
}

// unpinnedControl runs a client left alone under a pinned label, on purpose: wire and broker must both object, else the pin guard could
// not have failed.
func (s *session) unpinnedControl(ctx context.Context, l *live, tier int, plan record.Plan) (record.Control, error) {
	control := record.Control{Control: record.ControlUnpinned, Expected: 1}
	labels := slices.DeleteFunc(slices.Clone(plan.Pinned), func(v int) bool { return v == plan.Negotiated })
	switch {
	case !l.row().VersionTags:
		control.Why = "impossible on this broker: its request counters carry no version"
		return control, nil
	case !l.jmx():
		control.Why = "no Jolokia: the broker can't object"
		return control, nil
	case len(labels) == 0:
		control.Why = "the only pinned version is the one that the client negotiates by itself"
		return control, nil
	}
	control.Applies = true
	label := labels[0]
	topic, err := s.newTopic(ctx, l)
	if err != nil {
		return control, err
	}
	defer l.dropTopic(context.WithoutCancel(ctx), topic)
	if err := s.fillProbe(ctx, l, topic); err != nil {
		return control, ifDead(l.broker, err)
	}
	alone := s.preflighter(l, s.sides[0], tier, pin.Fetch, topic)
	defer alone.close(ctx)
	process, err := alone.worker(ctx)
	if err != nil {
		return control, err
	}
	_, before := l.counts(ctx, pin.Fetch, topic)
	request := alone.open
	request.Version = driver.Unpinned
	if _, err := process.Open(ctx, request); err != nil {
		return control, ifDead(l.broker, err)
	}
	snapshot, err := process.Snapshot(ctx)
	if err != nil {
		return control, ifDead(l.broker, err)
	}
	sent := framesByVersion(snapshot, pin.Fetch.Key)
	after, waited := l.waitForCounts(ctx, pin.Fetch, topic, before, sent)
	control.WireObjected = sent[label] == 0 && total(sent) > 0
	control.BrokerObjected = waited.agreed && after[label].Value == before[label]
	control.Observed = after[plan.Negotiated]
	return control, nil
}
