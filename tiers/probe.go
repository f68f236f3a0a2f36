package tiers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/shape"
	"protocolbench/internal/worker"
	"protocolbench/pin"
	"protocolbench/seed"
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

// probe tries every version that both sides name with one real request of the client under test.
func (s *session) probe(ctx context.Context, l *live, tier int, api pin.API) (record.Plan, error) {
	q := pin.Question{Tier: tier, API: api, Implemented: s.sides[0].implemented(api), Advertised: pin.None, Negotiated: driver.Unpinned, Asked: s.asked(api)}
	for _, side := range s.sidesOf(tier)[1:] {
		has := side.implemented(api)
		q.Baseline = &has
	}
	if m, ok := messageOf(api); ok {
		q.Written = &[2]int{0, m.Newest}
	}
	if l == nil {
		return pin.Build(q), nil
	}
	low, high, err := l.admin.Advertised(ctx, api.Key)
	if err != nil {
		return record.Plan{}, fmt.Errorf("asking the broker which versions of %s it takes: %w", api.Name, err)
	}
	q.Advertised, q.Accepted = [2]int{low, high}, map[int]error{}
	topic, err := s.newTopic(ctx, l)
	if err != nil {
		return record.Plan{}, err
	}
	defer l.dropTopic(context.WithoutCancel(ctx), topic)
	for i, side := range s.sidesOf(tier) {
		negotiated, err := s.probeSide(ctx, l, side, &q, topic)
		if err != nil {
			return record.Plan{}, s.blame(side, ifDead(l.broker, err))
		}
		if i == 0 {
			q.Negotiated = negotiated
		}
	}
	return pin.Build(q), nil
}

// probeSide tries the versions with one build's worker. What one of two builds is refused neither can be measured on.
func (s *session) probeSide(ctx context.Context, l *live, side *side, q *pin.Question, topic string) (negotiated int, err error) {
	try, err := s.preflighter(ctx, l, side, q.Tier, q.API, topic)
	if err != nil {
		return 0, err
	}
	defer try.close(ctx)
	has := side.implemented(q.API)
	for v := max(q.Advertised[0], has[0]); v <= min(q.Advertised[1], has[1]); v++ {
		_, refusal, err := try.open(ctx, v)
		if err != nil {
			return 0, err
		}
		if tried, before := q.Accepted[v]; !before || tried == nil {
			q.Accepted[v] = s.blame(side, refusal)
		}
	}
	opened, refusal, err := try.open(ctx, driver.Unpinned)
	if err = errors.Join(refusal, err); err != nil {
		return 0, fmt.Errorf("the client left alone can't use %s on this broker: %w", q.API.Name, err)
	}
	return opened.AnswerVersion, nil
}

// preflights opens cells one after the other in one worker, only for their preflight.
type preflights struct {
	process *worker.Process
	open_   driver.Open
}

// preflighter fills a topic with one batch, since a fetch preflight has to find records.
func (s *session) preflighter(ctx context.Context, l *live, side *side, tier int, api pin.API, topic string) (*preflights, error) {
	sh := flat("probe", 10, 1, 1, 1)
	sh.FetchBytes = 4 << 10
	contentSeed := seed.Derive(s.Seed, "content/probe")
	if api == pin.Fetch {
		if err := l.admin.Fill(ctx, topic, shape.NewContent(sh, contentSeed), sh.RecordsPerBatch, 8, s.baseMs); err != nil {
			return nil, err
		}
	}
	p, err := s.start(ctx, side, ownLayout)
	if err != nil {
		return nil, err
	}
	return &preflights{p, driver.Open{Tier: tier, API: api.Name, Shape: sh, Mode: driver.ModeBare, Brokers: l.broker.Addresses(), Topic: topic,
		ContentSeed: contentSeed, BaseTimestampMs: s.baseMs, MaxRequests: 1}}, nil
}

// open tries one version: refusal is the worker's word that it can't be had, err is a fault of the worker.
func (p *preflights) open(ctx context.Context, version int) (opened driver.Opened, refusal, err error) {
	request := p.open_
	request.Version = version
	opened, err = p.process.Open(ctx, request)
	var refused *worker.Refused
	if errors.As(err, &refused) {
		return opened, errors.New(refused.Text), nil
	}
	if err != nil {
		return opened, nil, err
	}
	return opened, nil, p.process.CloseCell(ctx, request.Cell)
}

func (p *preflights) close(ctx context.Context) { p.process.Close(context.WithoutCancel(ctx)) }

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
	try, err := s.preflighter(ctx, l, s.sides[0], tier, pin.Fetch, topic)
	if err != nil {
		return control, err
	}
	defer try.close(ctx)
	_, before := l.counts(ctx, pin.Fetch, topic)
	request := try.open_
	request.Version = driver.Unpinned
	if _, err := try.process.Open(ctx, request); err != nil {
		return control, ifDead(l.broker, err)
	}
	snapshot, err := try.process.Snapshot(ctx)
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
