package tiers

import (
	"protocolbench/internal/measure"
	"protocolbench/internal/record"
)

// host says what the machine did besides in a block.
func (b *block) host(before, after measure.HostSample, stalled stall, parentNs, batchWallNs int64) error {
	row := record.Host{Where: b.where, WallNs: after.WallNs - before.WallNs, StealNs: after.StealNs - before.StealNs,
		Load1: after.Load1, ParentCPUNs: parentNs, BatchWallNs: batchWallNs}
	now := b.stall()
	if stalled.known && now.known {
		waitedNs := now.memoryNs - stalled.memoryNs
		row.MemoryStallNs = &waitedNs
	}
	if stalled.frequencyKHz > 0 && now.frequencyKHz > 0 {
		row.FrequencyKHz = []int64{stalled.frequencyKHz, now.frequencyKHz}
	}
	return b.writer.Write(row)
}

// stall is what the kernel says of memory and frequency at one moment.
type stall struct {
	memoryNs, frequencyKHz int64
	known                  bool
}

func (b *block) stall() (s stall) {
	s.memoryNs, s.known = measure.MemoryStallNs()
	if len(b.workerCPUs) > 0 {
		s.frequencyKHz = measure.FrequencyKHz(b.workerCPUs[0])
	}
	return s
}

// hostMoment is what the worker's CPUs and the workers on them have used so far.
type hostMoment struct {
	cpus      measure.CPUSample
	workersNs int64
	known     bool
}

// hostNow reads between two rounds, never within one. Everything in it is the parent's: a worker can't raise or lower it by what it says.
func (b *block) hostNow() (m hostMoment) {
	if len(b.workerCPUs) == 0 {
		m.cpus.WallNs = measure.SampleCPUs(nil).WallNs
		return m // not pinned: everybody is everywhere
	}
	m.cpus = measure.SampleCPUs(b.workerCPUs)
	m.known = m.cpus.OK
	for _, w := range b.workers {
		ns, ok := w.CPUNs()
		m.workersNs += ns
		m.known = m.known && ok
	}
	return m
}

func (b *block) hostSince(before hostMoment, round int) record.HostRound {
	now := b.hostNow()
	row := record.HostRound{Where: b.where, Round: round, WallNs: now.cpus.WallNs - before.cpus.WallNs, OthersCPUNs: -1, StealNs: -1}
	if before.known && now.known {
		row.OthersCPUNs = max(0, now.cpus.BusyNs-before.cpus.BusyNs-(now.workersNs-before.workersNs))
		row.StealNs = now.cpus.StealNs - before.cpus.StealNs
	}
	return row
}
