package report

import (
	"time"

	"protocolbench/guards"
	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

const exampleFamily = "tier1/fetch/size=64KiB/bare"

// exampleVerdict is a run as it may come out, with one of everything that a report has to show. It is written down rather than judged, so that
// these tests are about showing.
func exampleVerdict() verdict.Verdict {
	notWarm := verdict.Warning{Text: "2 of 4 blocks were not warm when counting began", Remedy: "close other programs and run again"}
	return verdict.Verdict{
		Schema: 1, Verdict: verdict.Fail, ExitCode: verdict.ExitFail, Seed: 7, Profile: "quick", Replay: "./scripts/run-protocol-load-test.sh all --profile quick --seed 7",
		Reason:  "tier1/fetch/size=64KiB/bare v12 is slower by 12.4 % [+11.0 %, +13.9 %] against the newest, margin 10.0 %; and 1 more",
		Client:  verdict.Client{Name: "franz-go", Version: "v1.22.3"},
		Brokers: []verdict.Broker{{Tier: 1, Provider: "jvm", Release: "4.4.0", ClusterID: "c", Jolokia: true}, {Tier: 2, Provider: "jvm", Release: "1.1.0", ClusterID: "d"}},
		Families: []verdict.Family{
			{Tier: 0, Name: "tier0/fetch/records=100/bare", API: "Fetch", Mode: driver.ModeBare, Reference: 18, Margin: 0.10, Floor: 0.021, Deciding: true, Rounds: 36, Forks: 4, Twin: 0.003,
				Canary:   verdict.Canary{Planted: 0.2, Found: 0.195, Low: 0.18, High: 0.21, Seen: true},
				Warnings: []verdict.Warning{notWarm}, Cells: []verdict.Cell{exampleImmaterial(17), exampleCell(18, verdict.NotSlower, -0.004)}, Growth: exampleGrowth()},
			{Tier: 1, Name: exampleFamily, API: "Fetch", Mode: driver.ModeBare, Reference: 18, Margin: 0.10, Floor: 0.034, Deciding: true, Rounds: 36, Forks: 4, Twin: 0.008,
				Canary:   verdict.Canary{Planted: 0.2, Found: 0.195, Low: 0.18, High: 0.21, Seen: true},
				Warnings: []verdict.Warning{notWarm, {Text: "only 3 forks", Remedy: "let the run complete"}},
				Looks:    2, Steps: exampleSteps(), WallMargin: verdict.WallMargin,
				Limits: &verdict.Limits{SmallestDifference: 0.124, SmallestShown: 0.05, Stalls: &verdict.StallLimit{OneIn: 69, Ms: 10}, NotCovered: []int{2, 3}},
				Cells: exampleWalls([]verdict.Cell{exampleCell(10, verdict.NotSlower, 0.031), exampleCell(11, verdict.NotSlower, 0.002), exampleSlower(12, "12.4 % [+11.0 %, +13.9 %] against the newest, margin 10.0 %"),
					exampleSlower(13, "12.4 % [+11.0 %, +13.9 %] against the newest, margin 10.0 %"), exampleUnbounded(14), exampleCell(18, verdict.NotSlower, -0.002)})},
			{Tier: 1, Name: "tier1/produce/records=100,acks=0/bare", API: "Produce", Mode: driver.ModeBare, Reference: 13, Margin: 0.15, Floor: verdict.Unbounded, Warnings: []verdict.Warning{},
				Canary: verdict.Canary{Planted: 0.3, Found: 0.02, Low: -0.1, High: 0.2}, Cells: []verdict.Cell{}},
		},
		Sanity: []verdict.Sanity{{Name: "tier2/fetch/size=64KiB/alone", API: "Fetch", Version: 7, Records: 1280640, SanityCPUNsPerRecord: 412.7, LiveHeapFirstBytes: 21 << 20, LiveHeapLastBytes: 22 << 20}},
		Guards: exampleGuards(),
		NotCovered: []record.Unmeasured{{Name: "tier1/fetch/size", Profile: "standard", Sizes: []string{"4KiB"}, Families: 1}, {Name: "tier0/fetch/topics", Profile: "release", Sizes: []string{"10", "100"}, Families: 4},
			{Name: "tier0/fetch/keys", Profile: "release", Families: 2}, {Name: "tier0/apis/group", Profile: "release", Families: 90}, {Name: "tier0/apis/metadata", Profile: "release", Families: 50}},
		Negotiated: []verdict.Negotiated{{Tier: 1, API: "Produce", Version: 13}, {Tier: 1, API: "Fetch", Version: 18}, {Tier: 2, API: "Produce", Version: 5}, {Tier: 2, API: "Fetch", Version: 7}},
		LeftOut: []verdict.LeftOut{
			{Tier: 0, API: "Fetch", Version: 6, Family: "tier0/fetch/topics=100/bare", Reason: record.LeftUnchanged, Why: "outside the core tier 0 is measured where the schema changed"},
			{Tier: 0, API: "Fetch", Version: 8, Family: "tier0/fetch/topics=100/bare", Reason: record.LeftUnchanged, Why: "outside the core tier 0 is measured where the schema changed"},
			{Tier: 1, API: "Produce", Version: 0, Reason: record.LeftRefused, Why: "advertised, and refused: the broker closed the connection on an empty request of this program's own, twice"},
			{Tier: 1, API: "Produce", Version: 1, Reason: record.LeftRefused, Why: "advertised, and refused: the broker closed the connection on an empty request of this program's own, twice"},
		},
		Accounting: verdict.Accounting{Cells: verdict.CellCount{Planned: 60, Judged: 50, Failed: 1, LeftOut: 8, Missing: 1}, Blocks: verdict.BlockCount{Planned: 8, Judged: 8},
			Rounds: verdict.RoundCount{Planned: 72, Judged: 70, Busy: 2}, Guards: verdict.GuardCount{Due: 40, Answered: 40}},
		Warnings: []verdict.Warning{{Text: "line 9 has the unknown kind \"weather\" and is left out", Remedy: "read it with a newer build"}},
	}
}

func exampleCell(version int, word string, difference float64) verdict.Cell {
	return verdict.Cell{Version: version, Verdict: word, Differs: difference > 0.03, Contrast: "newest", Difference: difference, Low: difference - 0.007, High: difference + 0.007,
		CPUUsPerRequest: 228.04, CPUNsPerRecord: 393.17, WallUsPerRequest: 301, P50Us: 290.5, P99Us: 1412, LongestGapUs: 900, RecordsPerSecond: 1_926_910, AllocsPerRecord: 0.0123,
		AllocBytesPerRecord: 120, WireBytesPerRecord: 113, RequestsPer1000: 1.72, BrokerCPUNsPerRecord: 210, SegmentsInPerRequest: 2}
}

func exampleImmaterial(version int) verdict.Cell {
	c := exampleCell(version, verdict.NotSlower, 0.004)
	c.Why = "immaterial: at most 0.40 us per request (13.1 %)"
	return c
}

func exampleSlower(version int, why string) verdict.Cell {
	c := exampleCell(version, verdict.Slower, 0.124)
	c.Differs, c.Why = false, why
	return c
}

func exampleUnbounded(version int) verdict.Cell {
	c := exampleCell(version, verdict.Unresolved, 0.01)
	c.Unbounded, c.Low, c.High, c.Why = true, -1, verdict.Unbounded, "1 rounds in 1 forks carry no interval"
	return c
}

// exampleGrowth has a version that grows beside the other one.
func exampleGrowth() *verdict.Growth {
	return &verdict.Growth{Axis: "records", Sizes: []float64{1, 100, 10000}, Reference: -0.227,
		Cells: []verdict.GrowthCell{{Version: 17, Slope: 0.0241, Low: 0.0202, High: 0.028, P: 1e-6, Grows: true}, {Version: 18, P: 1}}}
}

func exampleSteps() []verdict.Step {
	return []verdict.Step{
		{At: 11, Difference: -0.021, Low: -0.025, High: -0.017, UsPerRequest: -0.45, Change: "the consumer's rack in the request (KIP-392: request.RackId, answer.PreferredReadReplica)"},
		{At: 12, Difference: 0.043, Low: 0.038, High: 0.049, UsPerRequest: 4.41, Material: true, Change: "flexible encoding: compact strings, arrays and records (KIP-482, KIP-595: request.ClusterId)"},
		{At: 14, Difference: 0.012, Low: 0.008, High: 0.016, UsPerRequest: 2.7, Material: true},
	}
}

// exampleWalls gives each cell a verdict on wall time, one of every kind.
func exampleWalls(cells []verdict.Cell) []verdict.Cell {
	for i := range cells {
		w := &verdict.Wall{Verdict: verdict.NotSlower, Difference: 0.001 * float64(cells[i].Version), Low: -0.02, High: 0.05, P50: 0.004, P99: -0.05, Gap: 1.02}
		switch cells[i].Version {
		case 10:
			w.Stalls, w.Gap, w.Why = true, 55.5, "gaps above 10 ms (half of them above 41 ms) in 66.7 % of its batches, 0.0 % on the calm versions, in 4 of 4 forks; it came back in 1 of 1 draws"
		case 11:
			w.Verdict, w.Difference, w.Why = verdict.Slower, 0.414, "41.4 % [+36.0 %, +47.0 %] of wall time against the newest, margin 25.0 %"
		case 13:
			w.Verdict, w.Why = verdict.Unresolvable, "differences of wall time below 31.0 % can't be resolved here, the margin is 25.0 %"
		case 14:
			w.Verdict, w.Why = verdict.Unresolvable, "differences of wall time below 33.0 % can't be resolved here, the margin is 25.0 %"
		}
		cells[i].Wall = w
	}
	return cells
}

func exampleGuards() []guards.Finding {
	finding := func(guard string, tier int, family string, version int, outcome guards.Outcome, why string) guards.Finding {
		return guards.Finding{Guard: guard, Tier: tier, Family: family, Version: version, Outcome: outcome, Why: why, Evidence: map[string]any{"blocks": 4}}
	}
	const blind = "the broker cannot confirm what arrived: the counter is unreadable (401); check its Jolokia agent"
	return []guards.Finding{
		finding(guards.Completeness, guards.WholeRun, "", -1, guards.Pass, "the run came to its planned end"),
		finding(guards.Identity, 1, "", -1, guards.Pass, "the same broker answered"),
		finding(guards.PlanGuard, 1, "", -1, guards.Pass, "every version is measured or has its reason"),
		finding(guards.Pin, 1, exampleFamily, 10, guards.Blind, blind),
		finding(guards.Pin, 1, exampleFamily, 11, guards.Blind, blind),
		finding(guards.Pin, 1, exampleFamily, 12, guards.Pass, "wire and broker counted the same"),
		finding(guards.Conversions, 1, exampleFamily, -1, guards.NotApplicable, "impossible on this broker"),
		finding(guards.Log, 1, exampleFamily, -1, guards.Fail, "the first offset of topic <script>alert(1)</script> | `x` moved from 0 to 3"),
		finding(guards.Memory, 2, "tier2/fetch/size=64KiB/alone", -1, guards.Pass, "flat"),
	}
}

// exampleRun has the parts of a record that a report reads.
func exampleRun() *record.Run {
	run := &record.Run{
		Header: record.Header{Schema: record.Schema, Started: time.Date(2026, 11, 30, 22, 20, 0, 0, time.UTC), Seed: 7, Profile: "quick",
			Machine: record.Machine{OS: "linux", Arch: "amd64", CPUModel: "Example CPU @ 2.40GHz", CPUs: 2, GoVersion: "go1.26.8", WorkerCPUs: []int{1}, BrokerCPUs: []int{0}, Missing: []string{"no perf_event: instructions are not counted"}}},
		Trailer: &record.Trailer{Complete: true, WallNs: 92_340_000_000},
	}
	for _, f := range []record.Family{
		{Tier: 1, Name: exampleFamily, Key: 1, Cells: []record.FamilyCell{{Cell: 0, Version: 11, Role: record.RoleVersion}, {Cell: 1, Version: 18, Role: record.RoleVersion}, {Cell: 2, Version: 18, Role: record.RoleTwin}, {Cell: 3, Version: 18, Role: record.RoleCanary}}},
		{Tier: 2, Name: "tier2/fetch/size=64KiB/alone", Cells: []record.FamilyCell{{Cell: 0, Version: -1, Role: record.RoleAlone}}},
	} {
		family := record.FamilyRun{Family: f}
		for fork := range 2 {
			b := record.BlockRun{Block: record.Block{Where: record.Where{Family: f.Name, Fork: fork}}}
			for round := range 5 {
				for _, c := range f.Cells {
					b.Batches = append(b.Batches, record.Batch{Where: b.Where, Round: round, Cell: c.Cell, ParentCPUNs: 50_000,
						Batched: driver.Batched{Requests: 46, Records: 26680, CPUNs: 10_488_000 + int64(c.Cell*46_000), WallNs: 13_800_000}})
				}
			}
			for _, c := range f.Cells {
				b.Steadies = append(b.Steadies, record.Steady{Where: b.Where, Cell: c.Cell, Steadied: driver.Steadied{Requests: 10, Records: 5800, Allocs: 70, AllocBytes: 12345}})
			}
			family.BlockRuns = append(family.BlockRuns, b)
		}
		if f.Name == exampleFamily {
			family = exampleLookedAgain(family)
		}
		run.Families = append(run.Families, family)
	}
	return run
}

// exampleLookedAgain gives a family a second look at v13 and v14, and what its clients read in the first.
func exampleLookedAgain(f record.FamilyRun) record.FamilyRun {
	for _, version := range []int{10, 12, 13, 14} {
		f.Cells = append(f.Cells, record.FamilyCell{Cell: len(f.Cells), Version: version, Role: record.RoleVersion})
	}
	for i := range f.BlockRuns {
		open, end := &record.Evidence{When: record.WhenOpen}, &record.Evidence{When: record.WhenClose}
		for _, c := range f.Cells {
			frames := func(count int64) []driver.Frames {
				return []driver.Frames{{Key: 1, Version: int16(c.Version), Count: count}, {Key: 3, Version: 12, Count: 2}}
			}
			reads := int64(200)
			if c.Version >= 12 {
				reads = 205
			}
			open.Worker.Cells = append(open.Worker.Cells, driver.CellSnapshot{Cell: c.Cell, Frames: frames(10), Reads: 24})
			end.Worker.Cells = append(end.Worker.Cells, driver.CellSnapshot{Cell: c.Cell, Frames: frames(110), Reads: 24 + reads})
		}
		f.BlockRuns[i].Open, f.BlockRuns[i].Close = open, end
	}
	f.Look = &record.Look{Tier: 1, Family: f.Name, Versions: []int{13, 14}, Cells: []int{1, 2, 3, 6, 7}, Blocks: 8, Rounds: 27, Taken: true}
	for fork := range f.Look.Blocks {
		f.BlockRuns = append(f.BlockRuns, record.BlockRun{Block: record.Block{Where: record.Where{Family: f.Name, Draw: 1, Fork: fork}, Look: record.SecondLook}})
	}
	return f
}
