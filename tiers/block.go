package tiers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"protocolbench/internal/broker"
	"protocolbench/internal/codec"
	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
	"protocolbench/internal/shape"
	"protocolbench/internal/worker"
	"protocolbench/pin"
	"protocolbench/seed"
)

// block is one family in one fresh worker: the unit that guards bracket.
//
//	open cells (drawn order) -> find the batch size (first block) -> warm -> plant the canary -> one whole batch
//	-> bracket opens -> rounds -> bracket closes -> read-back, allocation counters, hashes
type block struct {
	*session
	live  *live // nil in tier 0
	f     *familyState
	where record.Where
	// sides are the builds that are measured, workers theirs: all alive at once, one working at a time.
	sides   []*side
	workers []*worker.Process
	row     record.Block
	topic   string
	content *shape.Content
	base    brokerCounts // before the worker existed
	opened  []driver.Opened
	bodies  map[int][]byte // of a message alone, by version
	// opening and order are those of the block's row, by the cells' indexes in the family's row.
	opening []int
	order   [][]int
	truth   truth
	// firstOffset is where the first counted batch of a Produce block began.
	firstOffset int64
}

// truth is what a batch has to deliver, by the content seed alone.
type truth struct {
	expectation shape.Expectation
	byVersion   map[int]shape.Expectation // of a message alone, whose bytes are those of its version
	repeats     int                       // a codec batch carries the same records again and again
	// partitions and errors are how many of them the answers of a whole batch have, where answers carry no records and this is all that there is to prove.
	partitions, errors int
}

func (t truth) of(version int) shape.Expectation {
	if t.byVersion != nil {
		return t.byVersion[version]
	}
	return t.expectation
}

// state puts beside what a worker says what it has to say at a version.
func (t truth) state(row *record.Batch, version int) {
	want, times := t.of(version), t.repeats
	row.ExpectedRecords, row.ExpectedBytes, row.ExpectedByteSum = want.Records*times, want.Bytes*int64(times), want.ByteSum*uint64(times)
	row.ExpectedFirstKey, row.ExpectedLastKey = want.FirstKey, want.LastKey
	row.ExpectedPartitions, row.ExpectedErrors = t.partitions, t.errors
}

// isWorkers tells whether an error is the worker's: it ends the block, and the run goes on.
func isWorkers(err error) bool {
	var dead *worker.Dead
	var hung *worker.Hung
	var junk *worker.Junk
	var refused *worker.Refused
	return errors.As(err, &dead) || errors.As(err, &hung) || errors.As(err, &junk) || errors.As(err, &refused)
}

func (b *block) run(ctx context.Context, families []*familyState) (err error) {
	defer func() {
		if b.live != nil {
			err = ifDead(b.live.broker, err)
		}
	}()
	defer b.end(ctx)
	if err := b.prepare(ctx, families); err != nil {
		return err
	}
	started := b.Now()
	if err := b.open(ctx); err != nil {
		return err
	}
	if err := b.size(ctx); err != nil {
		return err
	}
	warmErr := b.warm(ctx)
	if warmErr == nil {
		warmErr = b.plant(ctx)
	}
	if warmErr == nil {
		warmErr = b.stretch(ctx)
	}
	b.row.OpenNs = int64(b.Now().Sub(started))
	if err := b.f.declareOnce(b.writer); err != nil {
		return err
	}
	if err := b.writer.Write(b.row); err != nil {
		return err
	}
	if warmErr != nil {
		return warmErr
	}
	return b.measure(ctx)
}

// prepare makes topic and content and starts the worker.
func (b *block) prepare(ctx context.Context, families []*familyState) error {
	b.row = record.Block{Where: b.where}
	if err := b.prepareTopic(ctx, families); err != nil {
		return err
	}
	b.content = b.contentOf()
	if err := b.makeMessages(); err != nil {
		return err
	}
	b.row.Topic = b.topic
	_, forks := b.repeatsOf(b.f.family)
	cells := len(b.f.row.Cells)
	b.opening = schedule.Opening(b.Seed, b.where.Family, b.where.Draw, b.where.Fork, cells)
	b.order = b.orders(forks, cells)
	b.row.OpeningOrder = b.f.numbers(b.opening)
	for _, order := range b.order {
		b.row.Orders = append(b.row.Orders, b.f.numbers(order))
	}
	if b.f.second != nil {
		b.row.Look = record.SecondLook
	}
	if b.live != nil {
		_, b.base = b.live.counts(ctx, b.f.api, b.topic)
	}
	return b.startWorkers(ctx)
}

func (b *block) contentOf() *shape.Content { return shape.NewContent(b.f.shape, b.row.ContentSeed) }

func (b *block) startWorkers(ctx context.Context) error {
	for i, side := range b.sides {
		layout := b.layout(side, b.where, b.f.tier)
		p, err := b.start(ctx, side, layout)
		if err != nil {
			return err
		}
		b.workers = append(b.workers, p)
		if i == 0 {
			b.row.WorkerPID, b.row.Layout = p.PID(), layout
		} else {
			b.row.BaselinePID, b.row.BaselineLayout = p.PID(), layout
		}
	}
	return nil
}

// sideOf is the place in sides and workers of the build that a cell, by its index, belongs to.
func (b *block) sideOf(i int) int {
	if b.f.row.Cells[i].Build == record.BuildBaseline {
		return 1
	}
	return 0
}

func (b *block) worker(i int) *worker.Process { return b.workers[b.sideOf(i)] }

// blameCell says whose worker an error is of.
func (b *block) blameCell(i int, err error) error { return b.blame(b.sides[b.sideOf(i)], err) }

// warmUp runs a batch of a cell that is not counted.
func (b *block) warmUp(ctx context.Context, i, requests int, placement uint64) (driver.Batched, error) {
	got, err := b.worker(i).Warm(ctx, driver.Batch{Cell: b.f.row.Cells[i].Cell, Requests: requests, Placement: placement})
	return got, b.blameCell(i, err)
}

func (b *block) prepareTopic(ctx context.Context, families []*familyState) (err error) {
	b.row.ContentSeed = seed.Derive(b.Seed, fmt.Sprintf("content/%s/draw=%d", b.where.Family, b.where.Draw))
	if b.f.shape.Compressed() {
		// How long compressed records are is the contents' doing: the same in all draws, so that lengths can be compared. Their place in memory is still drawn.
		b.row.ContentSeed = seed.Derive(b.Seed, "content/"+b.where.Family)
	}
	if b.live == nil {
		return nil
	}
	if b.f.api == pin.Fetch {
		b.row.ContentSeed = b.fetchSeed(b.f.tier, b.where.Draw)
		b.topic, err = b.fetchTopic(ctx, b.live, b.f.tier, b.where.Draw, b.f.shape.Compression, families)
		return err
	}
	b.topic, err = b.newTopicWith(ctx, b.live, b.f.shape.Partitions, b.topicConfig())
	return err
}

// end takes down what prepare made, whatever happened in between.
func (b *block) end(ctx context.Context) {
	after := context.WithoutCancel(ctx)
	for _, p := range b.workers {
		p.Close(after)
	}
	if b.live != nil && b.f.api == pin.Produce && b.topic != "" {
		b.live.dropTopic(after, b.topic)
	}
}

// open opens the cells in drawn order: a client keeps a state of its own for as long as it lives, and the order of birth is part of it.
func (b *block) open(ctx context.Context) error {
	b.opened = make([]driver.Opened, len(b.f.row.Cells))
	for _, i := range b.opening {
		cell := b.f.row.Cells[i]
		request := driver.Open{Cell: cell.Cell, Tier: b.f.tier, API: b.f.api.Name, Version: cell.Version, Shape: b.f.shape, Mode: b.f.mode,
			Topic: b.topic, ContentSeed: b.row.ContentSeed, BaseTimestampMs: b.baseMs, MaxRequests: b.f.maxRequests}
		if b.live != nil {
			request.Brokers = b.live.broker.Addresses()
		}
		if b.f.message != nil {
			request.Message = &driver.Message{Key: b.f.message.Key, Direction: b.f.message.Direction, Bytes: b.bodies[cell.Version]}
		}
		var err error
		if b.opened[i], err = b.worker(i).Open(ctx, request); err != nil {
			return b.blameCell(i, err)
		}
	}
	return nil
}

// reference is the index of the cell that sizes batches and plants are taken from.
func (b *block) reference() int {
	for i, c := range b.f.row.Cells {
		if c.Role == record.RoleVersion && c.Version == b.f.row.Reference || c.Role == record.RoleAlone {
			return i
		}
	}
	return 0
}

// size finds, in the family's first block, how many requests make a batch: once, on the reference, for all cells. Sizing each version by itself
// gave false steps of up to 127 %.
func (b *block) size(ctx context.Context) error {
	if !b.f.declared {
		requests, err := b.findSize(ctx)
		if err != nil {
			return err
		}
		b.f.row.RecordsPerRequest = b.recordsPerRequest()
		b.f.row.RequestsPerBatch, b.f.row.FewestRequests = requests, requests
	}
	b.truth = b.expect(b.f.row.RequestsPerBatch)
	return nil
}

// recordsPerRequest is known without the client: the shape fixes it, and a fetch of so many bytes carries the whole batches that fit. What
// the client says it got is judged against it. Only the embedded broker's idea of a response's size is its own.
func (b *block) recordsPerRequest() int {
	if b.live == nil || b.f.api == pin.Produce {
		return b.f.shape.RecordsPerRequest()
	}
	if b.live.row().Provider == broker.ProviderEmbedded {
		return b.opened[b.reference()].RecordsPerRequest
	}
	if b.f.shape.Compression != "" {
		return b.f.shape.RecordsPerBatch // one batch a response (see shapesOfFetch)
	}
	batch := codec.AppendBatch(nil, b.content, 0, b.f.shape.RecordsPerBatch, 0, b.baseMs)
	return max(1, b.f.shape.FetchBytes/len(batch)) * b.f.shape.RecordsPerBatch
}

// findSize doubles a batch of the reference until it takes half the target, three times each for the caches.
func (b *block) findSize(ctx context.Context) (requests int, err error) {
	target := float64(b.f.batchTarget.Nanoseconds())
	for requests = 1; ; requests = min(requests*2, b.f.maxRequests) {
		var last driver.Batched
		for range 3 {
			if last, err = b.warmUp(ctx, b.reference(), requests, uint64(requests)); err != nil {
				return 0, err
			}
		}
		if float64(last.CPUNs) >= target/2 || requests == b.f.maxRequests {
			perRequest := float64(max(last.CPUNs, 1)) / float64(requests)
			return max(1, min(b.f.maxRequests, int(target/perRequest+0.5))), nil
		}
	}
}

// expect says what a batch of so many requests has to deliver.
func (b *block) expect(requests int) truth {
	perRequest := b.f.row.RecordsPerRequest
	switch {
	case b.f.message != nil:
		return truth{byVersion: b.expectMessages(), repeats: requests}
	case b.live == nil:
		t := truth{expectation: b.content.Expect(perRequest), repeats: requests}
		if s := b.f.shape; s.Polls() {
			t.partitions, t.errors = requests*s.Topics*s.Partitions, requests*s.ErrorsPerRequest()
		}
		return t
	}
	return truth{expectation: b.content.Expect(perRequest * requests), repeats: 1}
}

// plantBatches is how many batches of the warm reference say what the canary's plant is a share of.
const plantBatches = 5

// plant gives the canary its work: twice the margin of what the reference costs. It is sized in the family's first block, once that is warm: on a
// cold client it came out up to a half too large.
func (b *block) plant(ctx context.Context) error {
	if !b.f.declared {
		if err := b.sizePlant(ctx); err != nil {
			return err
		}
	}
	for i, c := range b.f.row.Cells {
		plantNs := c.PlantNsPerRequest
		if c.Role == record.RoleCanary {
			plantNs += b.f.row.PlantNsPerRequest
		}
		if plantNs == 0 {
			continue
		}
		if err := b.worker(i).Plant(ctx, driver.Plant{Cell: c.Cell, CPUNsPerRequest: plantNs}); err != nil {
			return b.blameCell(i, err)
		}
	}
	return nil
}

func (b *block) sizePlant(ctx context.Context) error {
	requests := b.f.row.RequestsPerBatch
	var took []int64
	for i := range plantBatches {
		got, err := b.warmUp(ctx, b.reference(), requests, uint64(i))
		if err != nil {
			return err
		}
		took = append(took, got.CPUNs)
	}
	slices.Sort(took)
	referenceNs := float64(took[plantBatches/2]) / float64(requests)
	b.f.row.PlantNsPerRequest = int64(2 * b.f.margin * referenceNs)
	for i := range b.f.row.Cells {
		c := &b.f.row.Cells[i]
		if c.Build == "" { // of two builds the candidate is slowed down
			c.PlantNsPerRequest = int64(b.planted(b.f.name(), c.Version) * referenceNs)
		}
	}
	return nil
}

// quickWarmLimit keeps the quick profile inside its two minutes on a machine that doesn't settle; the block is then flagged.
const quickWarmLimit = 3 * time.Second

// warm runs whole rounds of quarter batches of the same shape until two windows agree.
func (b *block) warm(ctx context.Context) error {
	stream := seed.Stream(b.Seed, fmt.Sprintf("warm/%s/%d/%d", b.where.Family, b.where.Draw, b.where.Fork))
	requests := max(1, b.f.row.RequestsPerBatch/4)
	var previous []float64
	limit := schedule.WarmLimit
	size := schedule.WarmWindow
	if b.f.message != nil {
		limit, size = apiWarmLimit, schedule.QuickWindow
	}
	if b.Profile == schedule.Quick && b.f.message == nil {
		requests, limit, size = max(1, requests/2), quickWarmLimit, schedule.QuickWindow
	}
	for started := b.Now(); b.Now().Sub(started) < limit; {
		var window []float64
		for range size {
			var roundNs int64
			for _, i := range seed.Permutation(stream, len(b.f.row.Cells)) {
				got, err := b.warmUp(ctx, i, requests, schedule.Placement(stream))
				if err != nil {
					return err
				}
				roundNs += got.CPUNs
			}
			window = append(window, float64(roundNs))
		}
		b.row.WarmRounds += size
		if previous != nil && schedule.WarmEnough(previous, window, schedule.WarmTolerance) {
			b.row.Warm = true
			break
		}
		previous = window
	}
	return nil
}

// stretch takes one batch of full length of each build right before the bracket: heap and buffers grow to their full size on it, which the first counted
// batch paid for otherwise, and which in tier 2 would look like a leak.
func (b *block) stretch(ctx context.Context) error {
	for i, c := range b.f.row.Cells {
		isReference := c.Role == record.RoleVersion && c.Version == b.f.row.Reference || c.Role == record.RoleAlone
		if !isReference {
			continue
		}
		if _, err := b.warmUp(ctx, i, b.f.row.RequestsPerBatch, 0); err != nil {
			return err
		}
	}
	return nil
}
