package tiers

import (
	"context"
	"fmt"

	"protocolbench/internal/broker"
	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
)

// Seams are where a selftest takes hold of a run: on the broker's side, beside the worker. Everything that measures, counts and judges is the same as without, and the record
// says what was planted.
type Seams struct {
	// Fault names what is planted, for the record; "" in a clean run.
	Fault string
	// Budget is in the place of the profile's.
	Budget schedule.Budget
	// Broker gives a tier's broker, which outlives the run.
	Broker func(ctx context.Context, tier int) (broker.Broker, error)
	// TopicConfig is added to the topics of Produce blocks.
	TopicConfig map[string]string
	// BaseTimestampMs stamps the records; 0: with the time of the run.
	BaseTimestampMs int64
	// MidBlock is called in the middle of every block's rounds, between two of them.
	MidBlock func(ctx context.Context, at Moment) error
}

// Moment is where a run is.
type Moment struct {
	record.Where
	Tier      int
	Topic     string
	WorkerPID int
	Addresses []string // of the broker
}

// lent is a broker that others go on with.
type lent struct{ broker.Broker }

// Stop leaves it running.
func (lent) Stop(context.Context) error { return nil }

// seams puts those of a selftest into a session.
func (s *session) seams() {
	if s.Seams == nil {
		return
	}
	s.budget = s.Seams.Budget
	if s.Seams.BaseTimestampMs != 0 {
		s.baseMs = s.Seams.BaseTimestampMs
	}
}

// topicConfig is what a selftest adds to the configuration of a block's topic.
func (b *block) topicConfig() map[string]string {
	if b.Seams == nil {
		return nil
	}
	return b.Seams.TopicConfig
}

// midBlock gives a selftest its moment before a round.
func (b *block) midBlock(ctx context.Context, round int) error {
	if b.Seams == nil || b.Seams.MidBlock == nil || round != len(b.order)/2 {
		return nil
	}
	at := Moment{Where: b.where, Tier: b.f.tier, Topic: b.topic, WorkerPID: b.row.WorkerPID}
	if b.live != nil {
		at.Addresses = b.live.broker.Addresses()
	}
	if err := b.Seams.MidBlock(ctx, at); err != nil {
		return fmt.Errorf("planting %s: %w", b.Seams.Fault, err)
	}
	return nil
}
