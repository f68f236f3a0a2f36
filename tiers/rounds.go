package tiers

import (
	"context"

	"protocolbench/internal/admin"
	"protocolbench/internal/bank"
	"protocolbench/internal/driver"
	"protocolbench/internal/measure"
	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
	"protocolbench/internal/worker"
	"protocolbench/pin"
)

// measure takes the block's rounds between two readings of all evidence, then what needs no clock.
func (b *block) measure(ctx context.Context) error {
	open, err := b.evidence(ctx, record.WhenOpen)
	if err != nil {
		return err
	}
	if err := b.writer.Write(open); err != nil {
		return err
	}
	if open.Broker != nil {
		b.firstOffset = open.Broker.LogEndOffset
	}
	hostBefore, stallBefore, parentBefore := measure.SampleHost(), b.stall(), measure.SelfCPUNs()
	batchWallNs, err := b.rounds(ctx)
	if err != nil {
		return err
	}
	parentNs, hostAfter := measure.SelfCPUNs()-parentBefore, measure.SampleHost()
	closing, err := b.evidence(ctx, record.WhenClose)
	if err != nil {
		return err
	}
	if b.live != nil && b.f.api == pin.Produce {
		closing.Broker.ReadBack = b.readBack(ctx)
	}
	if err := b.writer.Write(closing); err != nil {
		return err
	}
	if err := b.host(hostBefore, hostAfter, stallBefore, parentNs, batchWallNs); err != nil {
		return err
	}
	return b.untimed(ctx)
}

// rounds sends every batch of the block in the order that the schedule drew.
func (b *block) rounds(ctx context.Context) (batchWallNs int64, err error) {
	placements := schedule.Placements(b.Seed, b.where.Family, b.where.Draw, b.where.Fork)
	atWork := -1 // the side whose batch was the last
	for round, order := range b.order {
		if err := b.midBlock(ctx, round); err != nil {
			return 0, err
		}
		var slots []slot
		for position, i := range order {
			if len(b.sides) > 1 && b.sideOf(i) != atWork {
				for range schedule.PrimesPerTurn {
					slots = append(slots, slot{i, -1, schedule.Placement(placements)})
				}
			}
			slots = append(slots, slot{i, position, schedule.Placement(placements)})
			atWork = b.sideOf(i)
		}
		before := b.hostNow()
		rows, err := b.round(ctx, slots)
		beside := b.hostSince(before, round)
		for _, row := range rows {
			row.Round = round
			batchWallNs += row.WallNs
			if err := b.writer.Write(row); err != nil {
				return 0, err
			}
		}
		if err != nil {
			return 0, err
		}
		if b.SharedHost {
			continue
		}
		if err := b.writer.Write(beside); err != nil {
			return 0, err
		}
	}
	return batchWallNs, nil
}

// slot is one batch of a round: whose (by the cell's index), at which position (-1: it primes), and where its payload lies.
type slot struct {
	cell, position int
	placement      uint64
}

// outsideClocks are read from outside the worker: it can't vouch for itself.
type outsideClocks struct {
	worker, idle, broker, parent  int64
	hasWorker, hasIdle, hasBroker bool
}

// clocks reads them around a batch of one side; the other side's worker, where there is one, is idle meanwhile.
func (b *block) clocks(side int) (c outsideClocks) {
	c.worker, c.hasWorker = b.workers[side].CPUNs()
	if len(b.workers) > 1 {
		c.idle, c.hasIdle = b.workers[1-side].CPUNs()
	}
	c.broker, c.hasBroker = b.brokerCPU()
	c.parent = measure.SelfCPUNs()
	return c
}

// round runs one round and makes its rows, also of a round that a fault cut short.
func (b *block) round(ctx context.Context, slots []slot) ([]record.Batch, error) {
	turns := make([]worker.Turn, len(slots))
	for i, s := range slots {
		turns[i] = worker.Turn{Process: b.worker(s.cell), Batch: driver.Batch{Cell: b.f.row.Cells[s.cell].Cell, Requests: b.f.row.RequestsPerBatch, Placement: s.placement}}
	}
	before, after := make([]outsideClocks, len(turns)), make([]outsideClocks, len(turns))
	done, err := worker.Round(ctx, turns, worker.Around{
		Before: func(i int) { before[i] = b.clocks(b.sideOf(slots[i].cell)) },
		After:  func(i int) { after[i] = b.clocks(b.sideOf(slots[i].cell)) },
	})
	if err != nil && len(done) < len(slots) {
		err = b.blameCell(slots[len(done)].cell, err)
	}
	rows := make([]record.Batch, len(done))
	for i := range done {
		rows[i] = record.Batch{Where: b.where, Position: slots[i].position, Primes: slots[i].position < 0, Cell: turns[i].Batch.Cell, Batched: done[i], OutsideCPUNs: -1, BrokerCPUNs: -1,
			ParentCPUNs: after[i].parent - before[i].parent}
		b.truth.state(&rows[i], b.f.row.Cells[slots[i].cell].Version)
		if before[i].hasWorker && after[i].hasWorker {
			rows[i].OutsideCPUNs = after[i].worker - before[i].worker
		}
		if before[i].hasIdle && after[i].hasIdle {
			idleNs := after[i].idle - before[i].idle
			rows[i].IdleCPUNs = &idleNs
		}
		if before[i].hasBroker && after[i].hasBroker {
			rows[i].BrokerCPUNs = after[i].broker - before[i].broker
		}
	}
	return rows, err
}

func (b *block) brokerCPU() (int64, bool) {
	if b.live == nil || b.live.broker.PID() == 0 {
		return 0, false
	}
	return measure.ProcessCPUNs(b.live.broker.PID())
}

// evidence reads every counter at one end of the bracket, after wire and broker agree.
func (b *block) evidence(ctx context.Context, when string) (record.Evidence, error) {
	e := record.Evidence{Where: b.where, When: when}
	var err error
	if e.Worker, e.OutsideCPUNs, err = b.snapshot(ctx, 0); err != nil {
		return record.Evidence{}, err
	}
	sent := framesByVersion(e.Worker, b.f.api.Key)
	if len(b.workers) > 1 {
		e.Baseline = &record.WorkerEvidence{}
		if e.Baseline.Worker, e.Baseline.OutsideCPUNs, err = b.snapshot(ctx, 1); err != nil {
			return record.Evidence{}, err
		}
		for version, n := range framesByVersion(e.Baseline.Worker, b.f.api.Key) {
			sent[version] += n
		}
	}
	if b.live == nil {
		return e, nil
	}
	_, settled := b.live.waitForCounts(ctx, b.f.api, b.topic, b.base, sent)
	e.WaitedNs, e.Unsettled = settled.waited.Nanoseconds(), b.live.jmx() && !settled.agreed
	broker := b.live.observer.Evidence(ctx, b.f.api, b.topic)
	e.Broker = &broker
	return e, ctx.Err()
}

func (b *block) snapshot(ctx context.Context, side int) (s driver.Snapshot, outsideCPUNs int64, err error) {
	s, err = b.workers[side].Snapshot(ctx)
	if now, ok := b.workers[side].CPUNs(); ok {
		return s, now, b.blame(b.sides[side], err)
	}
	return s, -1, b.blame(b.sides[side], err)
}

// readBack reads what the broker stored of the first counted batch. It comes after the closing evidence, since it fetches.
func (b *block) readBack(ctx context.Context) *record.ReadBack {
	want := b.truth.expectation
	return b.readSpan(ctx, b.firstOffset, want.Records, want.Hash)
}

func (b *block) readSpan(ctx context.Context, offset int64, records int, want uint64) *record.ReadBack {
	s := b.f.shape
	span := admin.Span{Offset: offset, Records: records, Partitions: s.Partitions, PerBatch: s.RecordsPerBatch}
	got, err := b.live.admin.ReadBack(ctx, b.topic, span, b.baseMs)
	row := &record.ReadBack{Records: got.Records, Hash: got.Hash, ExpectedHash: want, Batches: got.Batches, StoredBytes: got.Bytes, Codecs: got.Codecs}
	if err != nil {
		row.Why = err.Error()
	}
	return row
}

// readLast reads back what a cell's hashed batch, the newest of the topic, left in the log: the worker can only say what it handed to the client.
func (b *block) readLast(ctx context.Context, records int, want uint64) *record.ReadBack {
	_, end, err := b.live.admin.Offsets(ctx, b.topic)
	if err != nil {
		return &record.ReadBack{ExpectedHash: want, Why: err.Error()}
	}
	return b.readSpan(ctx, end-int64(records), records, want)
}

// untimed takes the allocation counters and the full hashes, outside the bracket.
func (b *block) untimed(ctx context.Context) error {
	requests := max(1, b.f.row.RequestsPerBatch/4)
	for i := range b.f.row.Cells {
		if err := b.steady(ctx, i, requests); err != nil {
			return b.blameCell(i, err)
		}
		if err := b.hash(ctx, i, requests); err != nil {
			return b.blameCell(i, err)
		}
	}
	return nil
}

// steady takes a cell's allocation counters. They hardly differ from fork to fork, so the quick profile takes them in the first one only.
func (b *block) steady(ctx context.Context, i, requests int) error {
	if b.Profile == schedule.Quick && b.where.Fork > 0 {
		return nil
	}
	cell := b.f.row.Cells[i].Cell
	got, err := b.worker(i).Steady(ctx, driver.Batch{Cell: cell, Requests: requests})
	if err != nil {
		return err
	}
	return b.writer.Write(record.Steady{Where: b.where, Cell: cell, Steadied: got})
}

// hash compares whole contents: one batch per cell and fork, in tier 2 as many as were counted, so that every record is looked at as a whole.
func (b *block) hash(ctx context.Context, i, requests int) error {
	c := b.f.row.Cells[i]
	times := 1
	if b.f.tier == 2 {
		times, requests = len(b.row.Orders), b.f.row.RequestsPerBatch
	}
	want := b.expect(requests).of(c.Version).Hash
	if b.f.shape.Polls() {
		_, want = bank.Said(b.f.shape)
	}
	for turn := range times {
		got, err := b.worker(i).Hash(ctx, driver.Batch{Cell: c.Cell, Requests: requests})
		if err != nil {
			return err
		}
		row := record.Cell{Where: b.where, Cell: c.Cell, AnswerVersion: b.opened[i].AnswerVersion, RecordsPerRequest: b.opened[i].RecordsPerRequest,
			Hash: got.Hash, HashRecords: got.Records, ExpectedHash: want}
		if b.live != nil && b.f.api == pin.Produce && turn == 0 {
			row.Stored = b.readLast(ctx, got.Records, want)
		}
		if err := b.writer.Write(row); err != nil {
			return err
		}
	}
	return nil
}
