package tiers

import (
	"context"
	"fmt"
	"slices"

	"protocolbench/internal/admin"
	"protocolbench/internal/broker"
	"protocolbench/internal/shape"
	"protocolbench/pin"
	"protocolbench/seed"
)

// rehearsedBytes are moved each way: enough that a quota of a few MB/s, which lets ten seconds' worth pass, begins to throttle.
const rehearsedBytes = 32 << 20

// rehearseProduce sends batches of each size that a family sends, the smallest first, and of the largest enough to meet a quota.
func (s *session) rehearseProduce(ctx context.Context, l *live, r admin.Rehearsal, families []*familyState) error {
	shapes := map[int]shape.Shape{}
	for _, f := range families {
		if f.api == pin.Produce {
			shapes[f.shape.RecordsPerBatch] = f.shape
		}
	}
	var sizes []int
	for size := range shapes {
		sizes = append(sizes, size)
	}
	slices.Sort(sizes)
	for i, records := range sizes {
		batches := 1
		if i == len(sizes)-1 {
			batches = s.rehearsed(l, records*(keyBytes+valueBytes))
		}
		content := shape.NewContent(shapes[records], s.rehearsalSeed())
		if err := l.admin.Produce(ctx, r, content, records, batches); err != nil {
			return fmt.Errorf("this program's own Produce of batches of %d records failed: %w", records, err)
		}
	}
	return s.readRehearsed(ctx, l, r, sizes, shapes)
}

// readRehearsed holds the first batch against what was sent: a broker that changes records changes them for every client.
func (s *session) readRehearsed(ctx context.Context, l *live, r admin.Rehearsal, sizes []int, shapes map[int]shape.Shape) error {
	if len(sizes) == 0 {
		return nil
	}
	want := shape.NewContent(shapes[sizes[0]], s.rehearsalSeed()).Expect(sizes[0])
	stored, err := l.admin.ReadBack(ctx, r.Topic, admin.Span{Records: sizes[0], Partitions: 1, PerBatch: sizes[0]}, s.baseMs)
	if err != nil {
		return fmt.Errorf("this program's own records can't be read back: %w", err)
	}
	if stored.Hash != want.Hash {
		return &unfitBroker{"records that this program sent itself were changed by the broker", "look for a proxy or an interceptor, and at compression.type and log.message.timestamp.type"}
	}
	return nil
}

// rehearseFetch reads what the largest fetch family asks for in one response: fetch.max.bytes may allow less, and then every version gets less.
func (s *session) rehearseFetch(ctx context.Context, l *live, r admin.Rehearsal, families []*familyState) error {
	var largest shape.Shape
	for _, f := range families {
		if f.api == pin.Fetch && f.shape.FetchBytes > largest.FetchBytes {
			largest = f.shape
		}
	}
	size := largest.FetchBytes
	if size == 0 {
		return nil
	}
	content := shape.NewContent(largest, s.rehearsalSeed())
	batchBytes := largest.RecordsPerBatch * (keyBytes + valueBytes)
	if err := l.admin.Produce(ctx, r, content, largest.RecordsPerBatch, size/batchBytes+1); err != nil {
		return fmt.Errorf("this program's own Produce of batches of %d records, which are to be fetched, failed: %w", largest.RecordsPerBatch, err)
	}
	got, err := l.admin.Consume(ctx, r, int32(size), s.rehearsed(l, size))
	if err != nil {
		return fmt.Errorf("this program's own Fetch of %d bytes failed: %w", size, err)
	}
	if got < size*9/10 && l.row().Provider != broker.ProviderEmbedded { // batches are never cut by kfake
		return &unfitBroker{fmt.Sprintf("this program's own Fetch for %d bytes got %d, of a log that holds more", size, got),
			fmt.Sprintf("fetch.max.bytes of the broker allows less%s: set it to %d or more", l.hasSetting(ctx, r.Topic, "fetch.max.bytes"), 2*size)}
	}
	return nil
}

// hasSetting gives the value of a setting of the broker that leads a topic, where the broker tells it.
func (l *live) hasSetting(ctx context.Context, topic, name string) string {
	id, err := l.admin.Leader(ctx, topic)
	if err != nil {
		return ""
	}
	settings, err := l.admin.BrokerSettings(ctx, id)
	if value, there := settings[name]; err == nil && there {
		return " (it is " + value + ")"
	}
	return ""
}

// rehearsed is how many times so many bytes are moved. The embedded broker has no quotas, and keeps its log in memory.
func (s *session) rehearsed(l *live, bytes int) int {
	if l.row().Provider == broker.ProviderEmbedded {
		return 1
	}
	return rehearsedBytes/bytes + 1
}

func (s *session) rehearsalSeed() uint64 { return seed.Derive(s.Seed, "content/rehearsal") }
