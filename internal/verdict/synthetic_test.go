package verdict

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"protocolbench/guards"
	"protocolbench/internal/record"
	"protocolbench/internal/synthetic"
)

// world is synthetic.World under the names that this package's tests grew up with.
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
	w := synthetic.Clean(seedValue)
	return world{w.Seed, w.Tier, w.Families, w.Versions, w.Profile, w.RequestNs, w.Margin, w.Noise, w.State, w.Cost, w.Position, w.Draw, w.Planted}
}

func span(low, high int) []int { return synthetic.Span(low, high) }

// made is the world as package synthetic knows it.
func (w world) made() synthetic.World {
	return synthetic.World{Seed: w.seed, Tier: w.tier, Families: w.families, Versions: w.versions, Profile: w.profile, RequestNs: w.requestNs, Margin: w.margin,
		Noise: w.noise, State: w.state, Cost: w.cost, Position: w.position, Draw: w.draw, Planted: w.planted}
}

func (w world) run() *record.Run { return w.made().Run() }

func (w world) family(r *rand.Rand, number int) record.FamilyRun { return w.made().Family(r, number) }

func batchOf(where record.Where, f record.Family, round, position, cell int, requestNs float64) record.Batch {
	return synthetic.BatchOf(where, f, round, position, cell, f.RequestsPerBatch, requestNs)
}

// goodGuards pass all that has to be asked about a run: what they guard against doesn't happen in a made-up one.
func goodGuards(run *record.Run) []guards.Finding {
	findings := []guards.Finding{{Guard: guards.Pin, Tier: 1, Version: -1, Outcome: guards.Pass}, {Guard: guards.Conversions, Tier: 1, Version: -1, Outcome: guards.NotApplicable}}
	for _, f := range run.Families {
		for _, guard := range guards.Due(run, f.Family) {
			findings = append(findings, guards.Finding{Guard: guard, Tier: f.Tier, Family: f.Name, Version: -1, Outcome: guards.Pass})
		}
	}
	return findings
}

func judgeGood(run *record.Run, options Options) Verdict { return Judge(run, goodGuards(run), options) }

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

// simulates marks tests that judge so many made-up runs that -short leaves them out.
func simulates(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED: it judges many made-up runs, and -short leaves that out")
	}
}
