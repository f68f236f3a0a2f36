package verdict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"protocolbench/guards"
	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
	"protocolbench/seed"
)

// world is a made-up client on a made-up machine: what is true of it, and how noisy it is.
type world struct {
	seed      uint64
	tier      int
	families  int
	versions  []int // oldest first; the last is the reference
	profile   string
	requestNs float64
	margin    float64
	noise     float64 // sd of ln cost, per batch
	state     float64 // sd of ln cost, per client, for as long as it lives
	// cost is the true factor of a version; position of a place in the round; draw of a version in a draw.
	cost     func(version int) float64
	position func(position int) float64
	draw     func(version, draw int) float64
	planted  float64 // what the canary really burns, as a part of its plant
}

func quickWorld(seedValue uint64) world {
	return world{seed: seedValue, tier: 1, families: 1, versions: span(4, 18), profile: schedule.Quick, requestNs: 228e3, margin: 0.10,
		noise: 0.01, state: 0.005, planted: 1,
		cost:     func(int) float64 { return 1 },
		position: func(int) float64 { return 1 },
		draw:     func(int, int) float64 { return 1 }}
}

func span(low, high int) []int {
	var vs []int
	for v := low; v <= high; v++ {
		vs = append(vs, v)
	}
	return vs
}

func (w world) run() *record.Run {
	run := &record.Run{
		Header: record.Header{Kind: record.KindHeader, Schema: record.Schema, Seed: w.seed, Profile: w.profile, Replay: "protocolbench run --seed 1",
			Client: driver.Hello{Client: "franz-go", Version: "v1.22.3"}},
		Brokers: []record.Broker{{Tier: 1, Provider: "jvm", Release: "4.4.0", JolokiaURL: "http://127.0.0.1:1/jolokia"}},
		Trailer: &record.Trailer{Kind: record.KindTrailer, Complete: true},
	}
	r := seed.Stream(w.seed, "synthetic")
	for i := range w.families {
		run.Families = append(run.Families, w.family(r, i))
	}
	return run
}

func (w world) family(r *rand.Rand, number int) record.FamilyRun {
	budget, _ := schedule.BudgetOf(w.profile)
	newest := w.versions[len(w.versions)-1]
	f := record.FamilyRun{Family: record.Family{Kind: record.KindFamily, Tier: w.tier, Name: fmt.Sprintf("tier%d/fetch/size=%d/bare", w.tier, number), API: "Fetch",
		Key: 1, Mode: driver.ModeBare, Margin: w.margin, Deciding: true, Reference: newest, RequestsPerBatch: 46, RecordsPerRequest: 580,
		PlantNsPerRequest: int64(2 * w.margin * w.requestNs)}}
	for _, v := range w.versions {
		f.Cells = append(f.Cells, record.FamilyCell{Cell: len(f.Cells), Version: v, Role: record.RoleVersion})
	}
	for _, role := range []string{record.RoleTwin, record.RoleTwin, record.RoleCanary} {
		f.Cells = append(f.Cells, record.FamilyCell{Cell: len(f.Cells), Version: newest, Role: role})
	}
	f.Rounds, f.Blocks = schedule.Rounds(len(f.Cells), budget.Squares), budget.Blocks()
	for draw := range budget.Draws {
		for fork := range budget.Forks {
			f.BlockRuns = append(f.BlockRuns, w.block(r, f.Family, budget, draw, fork))
		}
	}
	return f
}

func (w world) block(r *rand.Rand, f record.Family, budget schedule.Budget, draw, fork int) record.BlockRun {
	where := record.Where{Family: f.Name, Draw: draw, Fork: fork}
	b := record.BlockRun{Block: record.Block{Kind: record.KindBlock, Where: where, Warm: true,
		Orders: schedule.Orders(w.seed, f.Name, draw, fork, budget.Forks, len(f.Cells), budget.Squares)}}
	level := make([]float64, len(f.Cells))
	for i, c := range f.Cells {
		ns := w.requestNs * w.cost(c.Version) * w.draw(c.Version, draw)
		if c.Role == record.RoleCanary {
			ns += w.planted * float64(f.PlantNsPerRequest)
		}
		level[i] = math.Log(ns) + w.state*r.NormFloat64()
	}
	segments := func(when string, requests int64) *record.Evidence {
		e := &record.Evidence{Kind: record.KindEvidence, Where: where, When: when, Worker: driver.Snapshot{HeapLiveBytes: 1 << 20}}
		for _, c := range f.Cells {
			e.Worker.Cells = append(e.Worker.Cells, driver.CellSnapshot{Cell: c.Cell, DataSegsIn: 5 + 3*requests,
				Frames: []driver.Frames{{Key: 1, Version: int16(c.Version), Count: requests}, {Key: 3, Version: 12, Count: 2}}})
		}
		return e
	}
	b.Open, b.Close = segments(record.WhenOpen, 10), segments(record.WhenClose, 110)
	for round, order := range b.Orders {
		drift := 0.02 * r.NormFloat64() // what a whole round has in common
		for position, cell := range order {
			ns := math.Exp(level[cell]+drift+w.noise*r.NormFloat64()) * w.position(position)
			b.Batches = append(b.Batches, batchOf(where, f, round, position, cell, ns))
		}
	}
	for _, c := range f.Cells {
		b.Steadies = append(b.Steadies, record.Steady{Where: where, Cell: c.Cell, Steadied: driver.Steadied{Requests: 46, Records: 26680, Allocs: 53360, AllocBytes: 266800}})
	}
	return b
}

func batchOf(where record.Where, f record.Family, round, position, cell int, requestNs float64) record.Batch {
	requests := int64(f.RequestsPerBatch)
	return record.Batch{Kind: record.KindBatch, Where: where, Round: round, Position: position, Cell: cell, BrokerCPUNs: 1000 * requests, OutsideCPUNs: -1,
		Batched: driver.Batched{CPUNs: int64(requestNs) * requests, WallNs: 2 * int64(requestNs) * requests, Requests: int(requests),
			Records: f.RequestsPerBatch * f.RecordsPerRequest, WireRequests: int(requests), WireBytesIn: 65536 * requests, WireBytesOut: 100 * requests,
			RequestP50Ns: 200e3, RequestP99Ns: 400e3, LongestGapNs: 900e3}}
}

func goodGuards() []guards.Finding {
	return []guards.Finding{{Guard: guards.Pin, Tier: 1, Version: -1, Outcome: guards.Pass}, {Guard: guards.Conversions, Tier: 1, Version: -1, Outcome: guards.NotApplicable}}
}

// words is every version's word, "4:not slower ..." shortened to those that differ from usual.
func (f Family) unusual(usual string) string {
	var list []string
	for _, c := range f.Cells {
		if c.Verdict != usual {
			list = append(list, fmt.Sprintf("v%d %s", c.Version, c.Verdict))
		}
	}
	return strings.Join(list, ", ")
}

func cellOf(f Family, version int) Cell {
	return f.Cells[slices.IndexFunc(f.Cells, func(c Cell) bool { return c.Version == version })]
}
