// Package franz is the franz-go worker: it opens franz-go clients that speak exactly one version of one API and drives them
// one request at a time. It is the only place that knows franz-go as the client under test; it compiles against releases
// back to v1.19, so that those can be measured, too (package build sets a tag for what they lack).
//
// Records that are produced are kgo.Record values made once per cell and handed over again in every batch: the client keeps
// a record only until its promise has been called, and making them inside the clock would measure the allocator.
package franz

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"protocolbench/internal/bank"
	"protocolbench/internal/driver"
	"protocolbench/internal/shape"
	"protocolbench/internal/wire"
	"protocolbench/internal/worker"
)

const (
	keyProduce     int16 = 0
	keyFetch       int16 = 1
	keyAPIVersions int16 = 18

	apiProduce = "Produce"
	apiFetch   = "Fetch"
)

// preflightLimit is how long a broker has for its first answer to a pinned version. Kafka 4.x advertises Produce v0-v2 and
// drops the connection when one arrives, which a client may see as silence.
const preflightLimit = 3 * time.Second

// batchLimit ends a batch whose answers don't come: franz-go itself would go on asking for ever. Batches take some 10 ms.
const batchLimit = 15 * time.Second

// Engine implements worker.Engine.
type Engine struct {
	mu       sync.Mutex
	checker  *checker
	payloads shared[payloadKey, *payload]
	banks    shared[bankKey, *responses]
}

// New makes the engine of a franz-go worker.
func New() worker.Engine {
	return &Engine{}
}

// Checking gives the counts of the connection that reads log end offsets.
func (e *Engine) Checking() driver.CellSnapshot {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.checker == nil {
		return wire.NewCounter().Snapshot(-1)
	}
	return e.checker.counter.Snapshot(-1)
}

// Open connects, pins and preflights one cell.
func (e *Engine) Open(ctx context.Context, open driver.Open) (worker.Cell, driver.Opened, error) {
	if open.Message != nil {
		return openMessage(open)
	}
	if err := check(open); err != nil {
		return nil, driver.Opened{}, err
	}
	switch {
	case open.Tier == 0 && open.API == apiFetch && open.Shape.ReadBytes > 0:
		return e.openDeliver(ctx, open)
	case open.Tier == 0 && open.API == apiFetch:
		return e.openDecode(open)
	case open.Tier == 0:
		return e.openEncode(ctx, open)
	case open.API == apiFetch:
		return openFetch(ctx, open)
	default:
		return e.openProduce(ctx, open)
	}
}

// check refuses what no cell of this worker can be.
func check(open driver.Open) error {
	implemented, ok := implementedOf(open.API)
	if !ok {
		return fmt.Errorf("unknown API %q: this worker has %s and %s", open.API, apiProduce, apiFetch)
	}
	if open.Version != driver.Unpinned && (open.Version < int(implemented.Min) || open.Version > int(implemented.Max)) {
		return fmt.Errorf("this franz-go implements %s v%d to v%d, not v%d", open.API, implemented.Min, implemented.Max, open.Version)
	}
	switch open.Mode {
	case driver.ModeBare, driver.ModeGC, driver.ModeShipped:
	case driver.ModeFraming:
		if open.Tier != 0 || open.API != apiFetch {
			return fmt.Errorf("mode %q goes with tier 0's Fetch: elsewhere the client has no response that can be read without its records", open.Mode)
		}
	default:
		return fmt.Errorf("unknown mode %q: this worker has %s, %s and %s", open.Mode, driver.ModeBare, driver.ModeGC, driver.ModeShipped)
	}
	if open.MaxRequests < 1 {
		return fmt.Errorf("maxRequests is %d: a cell has to be able to send one", open.MaxRequests)
	}
	if open.API == apiProduce && open.Shape.BatchesPerPartition != 1 {
		return fmt.Errorf("shape %s has %d batches per partition: a Produce request carries one, use more partitions", open.Shape.Name, open.Shape.BatchesPerPartition)
	}
	if open.Tier == 0 {
		if open.Version == driver.Unpinned {
			return errors.New("tier 0 has no broker to negotiate with: a codec cell needs a version")
		}
		return checkCodec(open)
	}
	if s := open.Shape; s.TopicNameBytes != 0 || s.Aborted != 0 || s.Answer != "" || s.ReadBytes != 0 || s.Transactional {
		return fmt.Errorf("shape %s has what only tier 0 can make: names of topics, transactions, answers without records or reads of a given length", s.Name)
	}
	if len(open.Brokers) == 0 || open.Topic == "" {
		return fmt.Errorf("a live cell needs a broker's address and a topic, got %q and %q", open.Brokers, open.Topic)
	}
	if open.Shape.Topics != 1 {
		return fmt.Errorf("shape %s has %d topics: a live cell has one", open.Shape.Name, open.Shape.Topics)
	}
	if open.API == apiFetch && open.Shape.Partitions != 1 {
		return fmt.Errorf("shape %s has %d partitions: a live Fetch cell reads partition 0", open.Shape.Name, open.Shape.Partitions)
	}
	if open.API == apiProduce {
		return carriesZstd(open)
	}
	return nil
}

// checkCodec refuses what no codec cell can be.
func checkCodec(open driver.Open) error {
	s := open.Shape
	if s.Transactional && (open.API == apiFetch || open.Mode == driver.ModeShipped) {
		return fmt.Errorf("shape %s in mode %q of %s: transactions are Produce's, and a client as shipped has none", s.Name, open.Mode, open.API)
	}
	if open.API == apiFetch {
		if open.Mode == driver.ModeFraming && (s.ReadBytes > 0 || s.Polls()) {
			return fmt.Errorf("shape %s in mode %q: what is framed alone is a response with records that lies in memory", s.Name, open.Mode)
		}
		return nil // the bank says what it can't make
	}
	switch {
	case s.RequiredAcks != -1:
		return fmt.Errorf("shape %s has acks %d: tier 0 encodes requests that are answered (acks -1)", s.Name, s.RequiredAcks)
	case s.Aborted != 0 || s.Answer != "" || s.ReadBytes != 0:
		return fmt.Errorf("shape %s is of responses (aborted transactions, answers without records, reads): Produce has none of them", s.Name)
	}
	return carriesZstd(open)
}

// carriesZstd refuses zstd in a Produce version that can't have it.
func carriesZstd(open driver.Open) error {
	s := open.Shape
	if s.Compression == shape.CompressionZstd && open.Version != driver.Unpinned && open.Version < bank.ZstdProduce {
		return fmt.Errorf("shape %s in Produce v%d: no request before v%d may carry zstd (KIP-110), and franz-go sends such records as they are without a word", s.Name, open.Version, bank.ZstdProduce)
	}
	return nil
}

// keyOf is the API key that wire counts go by.
func keyOf(api string) int16 {
	if api == apiFetch {
		return keyFetch
	}
	return keyProduce
}

// dialTCP is the dialer that franz-go has by default.
func dialTCP() wire.DialFunc {
	d := &net.Dialer{Timeout: 10 * time.Second}
	return d.DialContext
}

// newClient makes a client whose connections are counted.
func newClient(counter *wire.Counter, dial wire.DialFunc, opts ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(append(opts, kgo.Dialer(counter.Dialer(dial)))...)
}

// shaped is a record of the client's as package shape hashes it.
func shaped(r *kgo.Record, baseTimestampMs int64) *shape.Record {
	into := &shape.Record{Key: r.Key, Value: r.Value, TimestampDelta: r.Timestamp.UnixMilli() - baseTimestampMs}
	for _, h := range r.Headers {
		into.Headers = append(into.Headers, shape.Header{Key: h.Key, Value: h.Value})
	}
	return into
}
