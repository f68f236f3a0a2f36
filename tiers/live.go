package tiers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"protocolbench/guards"
	"protocolbench/internal/admin"
	"protocolbench/internal/broker"
	"protocolbench/internal/record"
	"protocolbench/internal/shape"
	"protocolbench/seed"
)

// live is one broker and what belongs to it, for the time of a tier.
type live struct {
	broker   broker.Broker
	admin    *admin.Admin
	observer *broker.Observer
	asked    string // release, "" where any of a kind will do
	// fetchTopics are the seeded topics of each draw: all fetch families of a draw read the same records, but those that are compressed, by each codec.
	fetchTopics map[fetchTopicKey]string
	topics      int // created so far, for their names
	// created are the topics that are still there: remembered before they are made, so that an interruption leaves none behind.
	created map[string]bool
	now     func() time.Time
	// told is what the broker said of its settings.
	told told
}

// connect gets the tier's broker in the way that was asked for, or in the best way there is.
func (s *session) connect(ctx context.Context, tier int) (*live, error) {
	b, err := s.startBroker(ctx, tier)
	if err != nil {
		return nil, err
	}
	row := b.Row()
	s.Progress.Say(fmt.Sprintf("tier %d: %s broker, Kafka %s at %s, ready in %.1f s", tier, row.Provider, cmp.Or(row.Release, "of unknown release"), strings.Join(row.Addresses, ","), time.Duration(row.ReadyNs).Seconds()))
	a, err := admin.New(ctx, b.Addresses())
	if err != nil {
		return nil, errors.Join(err, b.Stop(context.WithoutCancel(ctx)))
	}
	return &live{broker: b, admin: a, observer: broker.NewObserver(b, a), asked: s.asks(tier), fetchTopics: map[fetchTopicKey]string{}, created: map[string]bool{}, now: s.Now}, nil
}

func (s *session) startBroker(ctx context.Context, tier int) (broker.Broker, error) {
	release := s.Kafka
	if tier == 2 {
		release = s.Legacy
	}
	switch {
	case s.Seams != nil && s.Seams.Broker != nil:
		b, err := s.Seams.Broker(ctx, tier)
		return lent{b}, err
	case s.Attached():
		return broker.Attach(ctx, strings.Split(s.Broker, ","), s.Jolokia, tier)
	case s.Broker == broker.ProviderEmbedded || s.embedded:
		return broker.StartEmbedded(ctx, tier)
	}
	b, err := broker.StartJVM(ctx, broker.JVMOptions{Release: release, Tier: tier, CacheDir: s.CacheDir, CPUs: s.brokerCPUs, Progress: s.Progress.Say})
	var missing *broker.Missing
	if errors.As(err, &missing) && s.Broker == "" {
		s.Progress.Say(fmt.Sprintf("no real broker can be started: %v. Going on with the embedded one: one small family per live tier, no figure of a broker, verdict inconclusive", missing))
		s.embedded = true
		return broker.StartEmbedded(ctx, tier)
	}
	return b, err
}

func (l *live) stop(ctx context.Context) error {
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	if l.row().Provider == broker.ProviderAttached { // others go with all their data
		for name := range l.created {
			if l.dropTopic(stopping, name) != nil {
				break // the cluster is gone, or doesn't answer: each further topic would wait as long
			}
		}
	}
	l.admin.Close()
	return l.broker.Stop(stopping)
}

// dropTopic deletes a topic of this run.
func (l *live) dropTopic(ctx context.Context, name string) error {
	err := l.admin.DeleteTopic(ctx, name)
	if err == nil {
		delete(l.created, name)
	}
	return err
}

// newTopic creates a topic of this run. Names are of one length, since they travel in every request up to v12, and carry the run's start,
// so that a topic which an earlier run left on an attached cluster is never taken for this run's.
func (s *session) newTopic(ctx context.Context, l *live) (string, error) {
	return s.newTopicWith(ctx, l, 1, nil)
}

func (s *session) newTopicWith(ctx context.Context, l *live, partitions int, more map[string]string) (string, error) {
	l.topics++
	name := fmt.Sprintf("protocolbench-%x-%06d", s.baseMs, l.topics)
	l.created[name] = true
	return name, l.admin.CreateTopicOf(ctx, name, partitions, more)
}

// fetchSeed makes the records of a draw's fetch topic: one seed for all fetch shapes, which differ in the size of a response only.
func (s *session) fetchSeed(tier, draw int) uint64 {
	return seed.Derive(s.Seed, fmt.Sprintf("content/tier%d/fetch/draw=%d", tier, draw))
}

// fetchTopicKey tells seeded topics apart.
type fetchTopicKey struct {
	draw        int
	compression string
}

// fetchTopic gives the draw's seeded topic of a compression ("" in most families), long enough for the largest batch of every fetch family that reads it.
func (s *session) fetchTopic(ctx context.Context, l *live, tier, draw int, compression string, families []*familyState) (string, error) {
	key := fetchTopicKey{draw, compression}
	if name, ok := l.fetchTopics[key]; ok {
		return name, nil
	}
	var batches int
	var carried shape.Shape
	for _, f := range families {
		if f.fetchWhole > 0 && f.shape.Compression == compression {
			// one response more than the largest batch: the last poll of a batch must not meet the end of the log
			batches = max(batches, (f.maxRequests+1)*(f.fetchWhole/f.shape.RecordsPerBatch+1))
			carried = f.shape
		}
	}
	content := shape.NewContent(carried, s.fetchSeed(tier, draw))
	name, err := s.newTopic(ctx, l)
	if err != nil {
		return "", err
	}
	if err := l.admin.FillCompressed(ctx, name, content, carried.RecordsPerBatch, batches, s.baseMs, compression); err != nil {
		return "", fmt.Errorf("seeding topic %s with %d batches: %w", name, batches, err)
	}
	if compression != "" {
		if err := s.seededAs(ctx, l, name, carried, batches); err != nil {
			return "", err
		}
	}
	l.fetchTopics[key] = name
	return name, nil
}

// seededAs reads a compressed topic back: a broker that recompressed it would have its readers pay for another codec than is said.
func (s *session) seededAs(ctx context.Context, l *live, name string, carried shape.Shape, batches int) error {
	span := admin.Span{Records: batches * carried.RecordsPerBatch, Partitions: 1, PerBatch: carried.RecordsPerBatch}
	got, err := l.admin.ReadBack(ctx, name, span, s.baseMs)
	if err != nil {
		return err
	}
	if got.Batches != batches || !slices.Equal(got.Codecs, []string{carried.Compression}) {
		return fmt.Errorf("topic %s was seeded with %d batches of %s, and holds %d of %s: the broker writes them anew; look at its compression.type", name, batches, carried.Compression, got.Batches, strings.Join(got.Codecs, " and "))
	}
	return nil
}

// dropFetchTopic deletes a draw's topics once the draw is over.
func (l *live) dropFetchTopic(ctx context.Context, draw int) error {
	var failed error
	for key, name := range l.fetchTopics {
		if key.draw == draw {
			delete(l.fetchTopics, key)
			failed = errors.Join(failed, l.dropTopic(ctx, name))
		}
	}
	return failed
}

// isForeign tells whether others may use the broker.
func (l *live) isForeign() bool { return l.row().Provider == broker.ProviderAttached }

// jmx tells whether the broker's counters can be read at all.
func (l *live) jmx() bool { return l.broker.JolokiaURL() != "" }

func (l *live) row() record.Broker {
	row := l.broker.Row()
	row.Asked = l.asked
	row.TopicSettings, row.Quotas, row.Untold = l.told.topicSettings, l.told.quotas, l.told.untold
	return row
}

// asks is the one release that a tier is to run on, "" where there are many.
func (c Config) asks(tier int) string {
	if tier == 2 {
		return c.Legacy
	}
	return ""
}

// CheckBroker refuses a broker that is not what its tier is for, before anything is measured on it.
func (c Config) CheckBroker(row record.Broker) error {
	row.Asked = c.asks(row.Tier)
	wrong := guards.WrongKind(row)
	if wrong == "" || c.AnyBroker {
		return nil
	}
	return &UsageError{[]string{wrong + "; or give --any-broker, with which the run says so and is at best inconclusive"}}
}
