package tiers

import (
	"context"
	"errors"
	"slices"

	"protocolbench/internal/codec"
	"protocolbench/internal/driver"
	"protocolbench/internal/measure"
	"protocolbench/internal/record"
	"protocolbench/internal/shape"
	"protocolbench/internal/worker"
	"protocolbench/pin"
	"protocolbench/seed"
)

const (
	lackingBatch   = 10 // records
	lackingBatches = 2  // in one response
)

// noCounter stands in the row of a control that is about no counter.
var noCounter = measure.Counter{State: measure.Unreadable, Why: "not tried"}

// missingRecord has the worker under test read one batch of a topic that lacks one record of the seed's. The fault lies in the topic, not in the worker: a flag of ours
// would prove something about our worker alone. Whether that would have been objected to is for the data guard to say.
func (s *session) missingRecord(ctx context.Context, l *live, tier int, plan record.Plan) (record.Control, error) {
	control := record.Control{Control: record.ControlMissingRecord, Applies: true, Expected: 1, Observed: noCounter, TopicObserved: noCounter}
	topic, err := s.newTopic(ctx, l)
	if err != nil {
		return control, err
	}
	defer l.dropTopic(context.WithoutCancel(ctx), topic)
	sh := flat("control", lackingBatch, 1, 1, 1)
	contentSeed := seed.Derive(s.Seed, "content/control")
	content := shape.NewContent(sh, contentSeed)
	// The half batch is for what doesn't fit: brokers send whole batches, or a part that clients leave alone.
	whole := len(codec.AppendBatch(nil, content, 0, lackingBatch, 0, s.baseMs))
	sh.FetchBytes = lackingBatches*whole + whole/2
	if err := s.fillLacking(ctx, l, topic, content); err != nil {
		return control, err
	}
	open := driver.Open{Tier: tier, API: pin.Fetch.Name, Version: driver.Unpinned, Shape: sh, Mode: driver.ModeBare, Brokers: l.broker.Addresses(), Topic: topic,
		ContentSeed: contentSeed, BaseTimestampMs: s.baseMs, MaxRequests: 1}
	if tier < 2 && len(plan.Pinned) > 0 {
		open.Version = plan.Pinned[len(plan.Pinned)-1]
	}
	err = s.readLacking(ctx, open, content, &control)
	var refused *worker.Refused
	if errors.As(err, &refused) {
		control.Why = "the worker read nothing of it: " + refused.Text
		return control, nil
	}
	return control, ifDead(l.broker, err)
}

// fillLacking leaves out the last record of the first batch, so that the first key is right and everything after it is one too early.
func (s *session) fillLacking(ctx context.Context, l *live, topic string, content *shape.Content) error {
	if err := l.admin.Fill(ctx, topic, content, lackingBatch-1, 1, s.baseMs); err != nil {
		return err
	}
	return l.admin.FillFrom(ctx, topic, content, lackingBatch, lackingBatch, 2*lackingBatches, s.baseMs)
}

// readLacking takes one batch and one full hash, and puts beside them what the seed says.
func (s *session) readLacking(ctx context.Context, open driver.Open, content *shape.Content, control *record.Control) error {
	p, err := s.start(ctx, s.sides[0], ownLayout)
	if err != nil {
		return err
	}
	defer p.Close(context.WithoutCancel(ctx))
	opened, err := p.Open(ctx, open)
	if err != nil {
		return err
	}
	want := truth{expectation: content.Expect(lackingBatch * lackingBatches), repeats: 1}
	batch := driver.Batch{Cell: open.Cell, Requests: 1}
	got, err := p.Batch(ctx, batch)
	if err != nil {
		return err
	}
	control.Batch = &record.Batch{Kind: record.KindBatch, Batched: got, OutsideCPUNs: -1, BrokerCPUNs: -1}
	want.state(control.Batch, open.Version)
	if !slices.Contains(s.sides[0].hello.Abilities, "hash") {
		return nil
	}
	hashed, err := p.Hash(ctx, batch)
	if err != nil {
		return err
	}
	control.Cell = &record.Cell{Kind: record.KindCell, AnswerVersion: opened.AnswerVersion, RecordsPerRequest: opened.RecordsPerRequest,
		Hash: hashed.Hash, HashRecords: hashed.Records, ExpectedHash: want.expectation.Hash}
	return nil
}
