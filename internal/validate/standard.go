package validate

import (
	"protocolbench/guards"
	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
	"protocolbench/internal/shape"
	"protocolbench/internal/synthetic"
	"protocolbench/internal/verdict"
	"protocolbench/seed"
)

// standardFamily is a family of the standard profile as recorded runs show it: its margin, what a request costs, and what it is disturbed by. It is written down here and
// not taken from package tiers, because a simulation must not change with what it is to check.
type standardFamily struct {
	tier     int
	name     string
	api      string
	margin   float64
	shown    bool // doesn't decide
	us       float64
	requests int // per batch
	records  int // per request
	shape    shape.Shape
	noise    float64 // sd of ln cost of a batch
	state    float64 // sd of ln cost of a client, for as long as it lives
	oldState float64 // that of Fetch v4-v11, where it is another
}

func codecShape(topics, batches, records int) shape.Shape {
	return shape.Shape{Topics: topics, Partitions: 1, BatchesPerPartition: batches, RecordsPerBatch: records}
}

func fetchShape(bytes int) shape.Shape {
	return shape.Shape{Topics: 1, Partitions: 1, BatchesPerPartition: 1, RecordsPerBatch: 10, FetchBytes: bytes}
}

func produceShape(records, acks int) shape.Shape {
	return shape.Shape{Topics: 1, Partitions: 1, BatchesPerPartition: 1, RecordsPerBatch: records, RequiredAcks: acks}
}

// standardFamilies have the batch noise of two recorded runs, rounded up, and the states of METHOD.md section 6; where that says "under 1 %", what makes levels spread from
// fork to fork as they did in the records.
var standardFamilies = []standardFamily{
	{0, "tier0/fetch/records=1/bare", "Fetch", 0.05, false, 0.5, 14754, 1, codecShape(1, 1, 1), 0.025, 0.005, 0},
	{0, "tier0/fetch/records=100/bare", "Fetch", 0.05, false, 7.6, 954, 100, codecShape(1, 1, 100), 0.022, 0.006, 0},
	{0, "tier0/fetch/records=10000/bare", "Fetch", 0.05, false, 633, 11, 10000, codecShape(1, 1, 10000), 0.030, 0.008, 0},
	{0, "tier0/fetch/batches=1000x10/bare", "Fetch", 0.05, false, 1007, 10, 10000, codecShape(1, 1000, 10), 0.023, 0.005, 0},
	{0, "tier0/fetch/topics=100/bare", "Fetch", 0.05, false, 118, 88, 1000, codecShape(100, 1, 10), 0.022, 0.006, 0},
	{0, "tier0/produce/records=1/bare", "Produce", 0.05, false, 10.6, 955, 1, codecShape(1, 1, 1), 0.020, 0.008, 0},
	{0, "tier0/produce/records=100/bare", "Produce", 0.05, false, 28.7, 354, 100, codecShape(1, 1, 100), 0.015, 0.004, 0},
	{0, "tier0/produce/records=10000/bare", "Produce", 0.05, false, 1930, 6, 10000, codecShape(1, 1, 10000), 0.018, 0.010, 0},
	{0, "tier0/produce/batches=1000x10/bare", "Produce", 0.05, false, 2879, 4, 10000, codecShape(1, 1000, 10), 0.020, 0.005, 0},
	{0, "tier0/produce/topics=100/bare", "Produce", 0.05, false, 332, 31, 1000, codecShape(100, 1, 10), 0.018, 0.006, 0},
	{1, "tier1/fetch/size=4KiB/bare", "Fetch", 0.10, false, 89, 46, 30, fetchShape(4 << 10), 0.045, 0.010, 0.030},
	{1, "tier1/fetch/size=64KiB/bare", "Fetch", 0.05, false, 183, 61, 580, fetchShape(64 << 10), 0.030, 0.008, 0},
	{1, "tier1/fetch/size=1MiB/bare", "Fetch", 0.07, false, 1928, 6, 9430, fetchShape(1 << 20), 0.070, 0.010, 0},
	{1, "tier1/produce/records=1,acks=all/bare", "Produce", 0.05, false, 82, 118, 1, produceShape(1, -1), 0.040, 0.008, 0},
	{1, "tier1/produce/records=100,acks=all/bare", "Produce", 0.05, false, 98, 120, 100, produceShape(100, -1), 0.040, 0.008, 0},
	{1, "tier1/produce/records=1000,acks=all/bare", "Produce", 0.05, false, 311, 31, 1000, produceShape(1000, -1), 0.032, 0.006, 0},
	{1, "tier1/produce/records=1,acks=0/bare", "Produce", 0.15, true, 14.7, 390, 1, produceShape(1, 0), 0.075, 0.030, 0},
	{1, "tier1/produce/records=100,acks=0/bare", "Produce", 0.15, true, 58, 30, 100, produceShape(100, 0), 0.060, 0.016, 0},
	{1, "tier1/produce/records=1000,acks=0/bare", "Produce", 0.15, true, 259, 14, 1000, produceShape(1000, 0), 0.050, 0.016, 0},
}

// usualMachine is the one that METHODOLOGY.md's figures are from ("What limits it here").
var usualMachine = synthetic.Machine{Drift: 0.02, DriftBatches: 200, BurstsLow: 0.10, BurstsHigh: 0.30, BatchesLow: 2, BatchesHigh: 20, CostLow: 1.2, CostHigh: 1.6, Spared: 0.1}

// world makes the family with equal versions.
func (f standardFamily) world(seedValue uint64) synthetic.World {
	w := synthetic.Clean(seedValue)
	w.Tier, w.Name, w.API, w.Shown, w.Margin = f.tier, f.name, f.api, f.shown, f.margin
	w.Shape, w.Looks, w.Profile = f.shape, 2, schedule.Standard
	w.RequestNs, w.RequestsPerBatch, w.RecordsPerRequest = f.us*1e3, f.requests, f.records
	w.Noise, w.State = f.noise, f.state
	if f.api == "Produce" {
		w.Versions = synthetic.Span(3, 13)
	}
	if f.oldState > 0 {
		w.StateOf = func(version int) float64 {
			if version <= 11 {
				return f.oldState
			}
			return f.state
		}
	}
	machine := usualMachine
	w.Machine = &machine
	return w
}

func named(name string) standardFamily {
	for _, f := range standardFamilies {
		if f.name == name {
			return f
		}
	}
	panic("validate: no family " + name + " in the table of this package") // a slip of this package's own
}

// made is a made-up run and the worlds that its families come from.
type made struct {
	run    *record.Run
	worlds []synthetic.World
}

func makeRun(seedValue uint64, worlds ...synthetic.World) made {
	m := made{synthetic.Record(seedValue, schedule.Standard), worlds}
	m.run.Header.Budget.Looks = 2
	for _, w := range worlds {
		// Live families are judged as those of tier 0: what tier 1 has beside is the verdict on wall time, which is not simulated here.
		w.Tier = 0
		m.run.Families = append(m.run.Families, w.Family(seed.Stream(w.Seed, w.Name), 0))
	}
	return m
}

// judge has every guard pass: what they guard against doesn't happen here.
func judge(run *record.Run) verdict.Verdict {
	var findings []guards.Finding
	for _, f := range run.Families {
		for _, guard := range guards.Due(run, f.Family) {
			findings = append(findings, guards.Finding{Guard: guard, Tier: f.Tier, Family: f.Name, Version: guards.AllVersions, Outcome: guards.Pass})
		}
	}
	return verdict.Judge(run, findings, verdict.Options{})
}

// lookAgain takes the second look at what wanted says of a family; false where there was nothing to look at.
func (m made) lookAgain(v verdict.Verdict, wanted func(verdict.Family) []int) bool {
	looked := false
	for i, f := range v.Families {
		if versions := wanted(f); len(versions) > 0 {
			w := m.worlds[i]
			w.LookAgain(&m.run.Families[i], versions, f.LeftPlateau)
			looked = true
		}
	}
	return looked
}
