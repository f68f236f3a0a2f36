package selftest

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"time"

	"protocolbench/internal/admin"
	"protocolbench/internal/broker"
	"protocolbench/internal/measure"
	"protocolbench/internal/record"
	"protocolbench/internal/worker"
	"protocolbench/tiers"
)

// stage has the brokers, for as long as the selftest lasts, and what a fault has set up beside them.
type stage struct {
	options Options
	brokers map[int]broker.Broker // by tier
	cleanup []func()              // of the fault at work
}

// retention makes the broker look for expired segments soon, where by itself it does so after half a minute and every five.
var retention = []string{"log.retention.check.interval.ms=300", "log.initial.task.delay.ms=300"}

// broker gives a tier's, and starts it the first time.
func (s *stage) broker(ctx context.Context, tier int) (broker.Broker, error) {
	if b, ok := s.brokers[tier]; ok {
		return b, nil
	}
	c := s.options.Config
	if c.Attached() {
		b, err := broker.Attach(ctx, splitAddresses(c.Broker), c.Jolokia, tier)
		if err == nil {
			s.brokers[tier] = b
		}
		return b, err
	}
	o := broker.JVMOptions{Release: c.Kafka, Tier: tier, CacheDir: c.CacheDir, Progress: s.options.Say, Properties: retention}
	if tier == 2 {
		o.Release, o.Properties = c.Legacy, nil
	}
	_, o.CPUs = measure.SplitCPUs(measure.AllowedCPUs())
	b, err := broker.StartJVM(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("the broker of tier %d: %w", tier, err)
	}
	s.brokers[tier] = b
	s.options.Say(fmt.Sprintf("tier %d: Kafka %s is ready", tier, b.Row().Release))
	return b, nil
}

// other gives the broker of tier 2 to tier 1.
func (s *stage) other(ctx context.Context, tier int) (broker.Broker, error) {
	b, err := s.broker(ctx, 2)
	if err != nil {
		return nil, err
	}
	row := b.Row()
	row.Tier = tier
	return posing{b, row}, nil
}

// posing is a broker that says something else of itself.
type posing struct {
	broker.Broker
	row record.Broker
}

func (p posing) Row() record.Broker { return p.row }

func (p posing) JolokiaURL() string { return p.row.JolokiaURL }

// clean takes down what a fault has set up.
func (s *stage) clean() {
	for _, undo := range s.cleanup {
		undo()
	}
	s.cleanup = nil
}

func (s *stage) stop() error {
	stopping, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var faults []error
	for _, b := range s.brokers {
		faults = append(faults, b.Stop(stopping))
	}
	return errors.Join(faults...)
}

// besideOneOf makes the run one of two builds, with a faulty client for the baseline.
func besideOneOf(fault string) func(*stage, *tiers.Config) {
	return func(s *stage, c *tiers.Config) {
		command := s.options.Worker(fault)
		c.Baseline = &tiers.Client{Build: s.options.Build, Worker: func(context.Context, int) (worker.Command, error) { return command, nil }}
	}
}

func besideARightOne(s *stage, c *tiers.Config) { besideOneOf("")(s, c) }

// deleteRecords deletes what a block has written first.
func deleteRecords(ctx context.Context, at tiers.Moment) error {
	a, err := admin.New(ctx, at.Addresses)
	if err != nil {
		return err
	}
	defer a.Close()
	return a.DeleteRecords(ctx, at.Topic, 5)
}

// killWorker ends the worker of one block.
func killWorker(_ context.Context, at tiers.Moment) error {
	if at.Fork != 1 {
		return nil
	}
	process, err := os.FindProcess(at.WorkerPID)
	if err != nil {
		return err
	}
	return process.Kill()
}

// stampedInThePast waits, in the middle of a block, until the broker has thrown the block's first records away by their age.
func stampedInThePast(*stage) tiers.Seams {
	november2023 := time.Date(2023, 11, 14, 22, 13, 20, 0, time.UTC)
	return tiers.Seams{
		BaseTimestampMs: november2023.UnixMilli(), TopicConfig: map[string]string{"retention.ms": "3600000"},
		MidBlock: func(ctx context.Context, at tiers.Moment) error {
			a, err := admin.New(ctx, at.Addresses)
			if err != nil {
				return err
			}
			defer a.Close()
			before, _, err := a.Offsets(ctx, at.Topic)
			for tries := 0; err == nil && tries < 100; tries++ {
				var now int64
				if now, _, err = a.Offsets(ctx, at.Topic); now > before {
					return nil
				}
				time.Sleep(100 * time.Millisecond)
			}
			return err // nothing was deleted in ten seconds: then no guard can object, and the row says so
		},
	}
}

// restarted puts a proxy before Jolokia that adds a second to the broker's start time from the middle of the first block on.
func restarted(s *stage) tiers.Seams {
	var agent *agent
	return tiers.Seams{
		Broker: func(ctx context.Context, tier int) (broker.Broker, error) {
			b, err := s.broker(ctx, tier)
			if err != nil {
				return nil, err
			}
			if agent, err = newAgent(b.JolokiaURL()); err != nil {
				return nil, err
			}
			server := httptest.NewServer(agent)
			s.cleanup = append(s.cleanup, server.Close)
			row := b.Row()
			row.JolokiaURL = server.URL + "/jolokia"
			return posing{b, row}, nil
		},
		MidBlock: func(context.Context, tiers.Moment) error {
			agent.later.Store(true)
			return nil
		},
	}
}
