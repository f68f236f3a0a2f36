package synthetic

import (
	"math"
	"slices"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
)

// block makes one fork of some of the family's cells.
func (w World) block(r Source, f record.Family, cells []record.FamilyCell, draw, fork int, orders [][]int) record.BlockRun {
	where := record.Where{Family: f.Name, Draw: draw, Fork: fork}
	if w.FixedOrder {
		orders = fixed(orders)
	}
	b := record.BlockRun{Block: record.Block{Kind: record.KindBlock, Where: where, Warm: true, Orders: orders}}
	level := map[int]float64{}
	requests := map[int]int{}
	for _, c := range cells {
		ns := w.RequestNs * w.Cost(c.Version) * w.Draw(c.Version, draw)
		requests[c.Cell] = f.RequestsPerBatch
		if w.RequestsOf != nil {
			requests[c.Cell] = w.RequestsOf(c.Version)
		}
		ns += w.BatchNs / float64(requests[c.Cell])
		if c.Role == record.RoleCanary {
			ns += w.Planted * float64(f.PlantNsPerRequest)
		}
		level[c.Cell] = math.Log(ns) + w.state(c.Version)*r.NormFloat64()
	}
	b.Open, b.Close = evidence(where, cells, record.WhenOpen, 10), evidence(where, cells, record.WhenClose, 110)
	weather := w.weather(r)
	b.Batches = make([]record.Batch, 0, len(orders)*len(cells))
	for round, order := range orders {
		weather.nextRound()
		for position, cell := range order {
			ns := math.Exp(level[cell]+weather.nextBatch()+w.Noise*r.NormFloat64()) * w.Position(position)
			b.Batches = append(b.Batches, BatchOf(where, f, round, position, cell, requests[cell], ns))
		}
	}
	for _, c := range cells {
		b.Steadies = append(b.Steadies, record.Steady{Where: where, Cell: c.Cell, Steadied: driver.Steadied{Requests: 46, Records: 26680, Allocs: 53360, AllocBytes: 266800}})
	}
	return b
}

func (w World) state(version int) float64 {
	if w.StateOf != nil {
		return w.StateOf(version)
	}
	return w.State
}

// fixed has every round in one order.
func fixed(orders [][]int) [][]int {
	same := make([][]int, len(orders))
	for i, order := range orders {
		same[i] = slices.Sorted(slices.Values(order))
	}
	return same
}

func evidence(where record.Where, cells []record.FamilyCell, when string, requests int64) *record.Evidence {
	e := &record.Evidence{Kind: record.KindEvidence, Where: where, When: when, Worker: driver.Snapshot{HeapLiveBytes: 1 << 20, Goroutines: 30, OpenFiles: 40}}
	for _, c := range cells {
		e.Worker.Cells = append(e.Worker.Cells, driver.CellSnapshot{Cell: c.Cell, ConnectionsOpened: 2, ConnectionsOpen: 2, DataSegsIn: 5 + 3*requests,
			Frames: []driver.Frames{{Key: 1, Version: int16(c.Version), Count: requests}, {Key: 3, Version: 12, Count: 2}}})
	}
	return e
}

// BatchOf is the row of a batch, from what one of its requests costs.
func BatchOf(where record.Where, f record.Family, round, position, cell, requests int, requestNs float64) record.Batch {
	n := int64(requests)
	return record.Batch{Kind: record.KindBatch, Where: where, Round: round, Position: position, Cell: cell, BrokerCPUNs: 1000 * n, OutsideCPUNs: -1,
		Batched: driver.Batched{CPUNs: int64(requestNs) * n, WallNs: 2 * int64(requestNs) * n, Requests: requests,
			Records: requests * f.RecordsPerRequest, WireRequests: requests, WireBytesIn: 65536 * n, WireBytesOut: 100 * n,
			RequestP50Ns: 200e3, RequestP99Ns: 400e3, LongestGapNs: 900e3, HeapLiveBytes: 1 << 20}}
}
