// Package synthetic makes records of made-up clients on made-up machines. What is true of them is known, so a judge can be judged by them. No clock is read: every
// figure comes from a seed.
package synthetic

import (
	"cmp"
	"fmt"
	"strings"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
	"protocolbench/internal/shape"
	"protocolbench/seed"
)

// Source is a stream of seed's, as far as made-up figures need it.
type Source interface {
	Float64() float64
	NormFloat64() float64
}

// World is a made-up client on a made-up machine: what is true of it, and how noisy it is.
type World struct {
	Seed      uint64
	Tier      int
	Families  int
	API       string // of the families; "" is Fetch
	Name      string // of the only family; "": they are numbered
	Shown     bool   // it doesn't decide
	Versions  []int  // oldest first; the last is the reference
	Profile   string
	Looks     int         // that the record says were planned; 0 is 1
	Shape     shape.Shape // of the only family; growth looks at it
	RequestNs float64
	// RequestsPerBatch and RecordsPerRequest; 0 is 46 and 580.
	RequestsPerBatch, RecordsPerRequest int
	Margin                              float64
	Noise                               float64 // sd of ln cost, per batch
	State                               float64 // sd of ln cost, per client, for as long as it lives
	// StateOf is State where it isn't one for all versions; nil: it is.
	StateOf func(version int) float64
	// Cost is the true factor of a version; Position of a place in the round; Draw of a version in a draw.
	Cost     func(version int) float64
	Position func(position int) float64
	Draw     func(version, draw int) float64
	Planted  float64 // what the canary really burns, as a part of its plant
	// Machine is what the machine does over time; nil: what the batches of one round have in common, and nothing else.
	Machine *Machine

	// What a badly designed run would do.

	// FixedOrder: every round is in the order of the cells.
	FixedOrder bool
	// RequestsOf are a version's requests per batch; nil: the same for all.
	RequestsOf func(version int) int
	// BatchNs is what a batch costs beside its requests.
	BatchNs float64
}

const (
	requestsPerBatch  = 46
	recordsPerRequest = 580
)

// Clean is a world of equal versions, quick profile, margin 10 %.
func Clean(seedValue uint64) World {
	return World{Seed: seedValue, Tier: 1, Families: 1, Versions: Span(4, 18), Profile: schedule.Quick, RequestNs: 228e3, Margin: 0.10,
		Noise: 0.01, State: 0.005, Planted: 1,
		Cost:     func(int) float64 { return 1 },
		Position: func(int) float64 { return 1 },
		Draw:     func(int, int) float64 { return 1 }}
}

// Span is all versions from low to high.
func Span(low, high int) []int {
	var vs []int
	for v := low; v <= high; v++ {
		vs = append(vs, v)
	}
	return vs
}

// Run is the record of a whole run.
func (w World) Run() *record.Run {
	run := Record(w.Seed, w.Profile)
	run.Header.Budget.Looks = w.Looks
	r := seed.Stream(w.Seed, "synthetic")
	for i := range w.Families {
		run.Families = append(run.Families, w.Family(r, i))
	}
	return run
}

// Record is a complete run of no families.
func Record(seedValue uint64, profile string) *record.Run {
	return &record.Run{
		Header: record.Header{Kind: record.KindHeader, Schema: record.Schema, Seed: seedValue, Profile: profile, Replay: "protocolbench run --seed 1",
			Client: driver.Hello{Client: "franz-go", Version: "v1.22.3"}},
		Brokers: []record.Broker{{Tier: 1, Provider: "jvm", Release: "4.4.0", JolokiaURL: "http://127.0.0.1:1/jolokia"}},
		Trailer: &record.Trailer{Kind: record.KindTrailer, Complete: true},
	}
}

// Declared is a family's row.
func (w World) Declared(number int) record.Family {
	budget, _ := schedule.BudgetOf(w.Profile)
	newest := w.Versions[len(w.Versions)-1]
	api, key := cmp.Or(w.API, "Fetch"), int16(1)
	if api == "Produce" {
		key = 0
	}
	name := cmp.Or(w.Name, fmt.Sprintf("tier%d/%s/size=%d/bare", w.Tier, strings.ToLower(api), number))
	f := record.Family{Kind: record.KindFamily, Tier: w.Tier, Name: name, API: api, Key: key, Mode: driver.ModeBare, Margin: w.Margin, Deciding: !w.Shown,
		Reference: newest, RequestsPerBatch: cmp.Or(w.RequestsPerBatch, requestsPerBatch), RecordsPerRequest: cmp.Or(w.RecordsPerRequest, recordsPerRequest),
		Shape: w.Shape, PlantNsPerRequest: int64(2 * w.Margin * w.RequestNs)}
	for _, v := range w.Versions {
		f.Cells = append(f.Cells, record.FamilyCell{Cell: len(f.Cells), Version: v, Role: record.RoleVersion})
	}
	for _, role := range []string{record.RoleTwin, record.RoleTwin, record.RoleCanary} {
		f.Cells = append(f.Cells, record.FamilyCell{Cell: len(f.Cells), Version: newest, Role: role})
	}
	f.Rounds, f.Blocks = schedule.Rounds(len(f.Cells), budget.Squares), budget.Blocks()
	return f
}

// Family is a family with its first look.
func (w World) Family(r Source, number int) record.FamilyRun {
	budget, _ := schedule.BudgetOf(w.Profile)
	f := record.FamilyRun{Family: w.Declared(number)}
	for draw := range budget.Draws {
		for fork := range budget.Forks {
			orders := schedule.Orders(w.Seed, f.Name, draw, fork, budget.Forks, len(f.Cells), budget.Squares)
			f.BlockRuns = append(f.BlockRuns, w.block(r, f.Family, f.Cells, draw, fork, orders))
		}
	}
	return f
}
