package verdict

import (
	"strings"
	"testing"

	"protocolbench/guards"
	"protocolbench/internal/driver"
	"protocolbench/internal/record"
)

func traitOf(t *testing.T, c Comparison, name string) Trait {
	t.Helper()
	for _, trait := range c.Identity {
		if trait.Name == name {
			return trait
		}
	}
	t.Fatalf("no trait %q", name)
	return Trait{}
}

func TestBuildsOfAComparison(t *testing.T) {
	hello := func(sum string) map[string]string {
		return map[string]string{"franz-go": "v1.22.3", "franz-go sum": sum, "go": "go1.26.8"}
	}
	old := func(run *record.Run, sum string) { // schema 1 has the worker's word alone
		run.Header.Schema, run.Header.ClientBuild, run.Header.Client.Build = 1, nil, hello(sum)
	}
	for name, c := range map[string]struct {
		change func(a, b *record.Run)
		want   string
	}{
		"one hash":   {func(a, b *record.Run) {}, BuildSame},
		"one client": {func(a, b *record.Run) { b.Header.ClientBuild.ContentHash = strings.Repeat("b", 64) }, BuildModules},
		"another": {func(a, b *record.Run) {
			b.Header.ClientBuild.ContentHash, b.Header.ClientBuild.Modules[0].Sum = "b", "h1:y"
		}, BuildDifferent},
		"schema 1":         {func(a, b *record.Run) { old(a, "h1:x"); old(b, "h1:x") }, BuildModules},
		"schemas 1 and 2":  {func(a, b *record.Run) { old(a, "h1:x") }, BuildModules},
		"schema 1, others": {func(a, b *record.Run) { old(a, "h1:y") }, BuildDifferent},
		"no word":          {func(a, b *record.Run) { old(a, "h1:y"); a.Header.Client.Build = nil }, BuildUnknown},
	} {
		a, b := records(nil, nil)
		c.change(a, b)
		if got := compareGood(a, b); got.Build != c.want || got.Verdict != Pass {
			t.Errorf("%s: %q, want %q; %s: %s", name, got.Build, c.want, got.Verdict, got.Reason)
		}
	}
}

// What a record doesn't say is unknown, and never equal to what another says.
func TestTraits(t *testing.T) {
	a, b := records(nil, nil)
	a.Header.Schema, a.Header.ClientBuild = 1, nil
	a.Header.Client.Build = map[string]string{"franz-go": "v1.22.3", "franz-go sum": "h1:x", "go": "go1.26.8"}
	b.Header.Baseline = &driver.Hello{Client: "franz-go", Version: "v1.19.0"}
	b.Header.ClientBuild.Modules = append(b.Header.ClientBuild.Modules, record.Module{Path: "github.com/pierrec/lz4/v4", Version: "v4.1.33", Sum: "h1:z"})
	c := compareGood(a, b)
	for _, want := range []Trait{
		{"content hash", unknown, strings.Repeat("a", 64), false},
		{"module franz-go", "v1.22.3 h1:x", "v1.22.3 h1:x", true},
		{"module github.com/pierrec/lz4/v4", unknown, "v4.1.33 h1:z", false},
		{"client's Go", "go1.26.8", "go1.26.8", true},
		{"builds in the run", "one", "two; the candidate is compared", false},
		{"CPU", "Example CPU", "Example CPU", true},
		{"broker of tier 1", "Kafka 4.4.0 (jvm)", "Kafka 4.4.0 (jvm)", true},
		{"record schema", "1", "4", false},
		{"seed", "300", "301", false},
	} {
		if got := traitOf(t, c, want.Name); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// The golden records of both schemas, as the reader reads them.
func TestComparisonOfSchemas(t *testing.T) {
	var runs []*record.Run
	for _, name := range []string{"schema1.jsonl", "schema2.jsonl"} {
		run, err := record.Read("../record/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	for _, pair := range [][2]*record.Run{{runs[0], runs[1]}, {runs[1], runs[0]}} {
		c := Compare(pair[0], pair[1], guards.Check(pair[0]), guards.Check(pair[1]), Options{})
		checkComparison(t, c)
		if c.Verdict != Inconclusive || traitOf(t, c, "record schema").Same {
			t.Errorf("%s: %s", c.Verdict, c.Reason)
		}
	}
}

func TestChangedCountersAreInOneLine(t *testing.T) {
	a, b := records(func(w *world) { w.families = 2 }, func(w *world) { w.families = 2 })
	for i := range b.Families[0].BlockRuns {
		block := &b.Families[0].BlockRuns[i]
		for j := range block.Steadies {
			if version := b.Families[0].Cells[block.Steadies[j].Cell].Version; version >= 9 && version <= 12 {
				block.Steadies[j].Allocs += 26680 // one more per record
			}
		}
		for j := range block.Batches { // wire bytes that are another number in each block, as segments of large responses are
			block.Batches[j].WireBytesIn += int64(i) * 46 * 3000
		}
	}
	c := compareGood(a, b)
	got := c.Families[0].Counters
	if len(got) != 1 || got[0].Counter != "allocations per record" || got[0].From != 2 || got[0].To != 3 || len(got[0].Versions) != 4 || got[0].Versions[0] != 9 {
		t.Errorf("%+v", got)
	}
	if len(c.Families[1].Counters) != 0 {
		t.Errorf("nothing changed there: %+v", c.Families[1].Counters)
	}
	b.Header.Machine.Arch = "arm64"
	if got := compareGood(a, b).Families[0].Counters; len(got) != 0 {
		t.Errorf("another architecture counts otherwise: %+v", got)
	}
}

// Segments: v12's go from 3 to 4 per request, in every block alike. What a platform can't count has not changed.
func TestSegmentsAreCounted(t *testing.T) {
	a, b := records(nil, nil)
	for _, block := range b.Families[0].BlockRuns {
		for i := range block.Close.Worker.Cells {
			if cell := &block.Close.Worker.Cells[i]; cell.Frames[0].Version == 12 {
				cell.DataSegsIn += 100
			}
		}
	}
	got := compareGood(a, b).Families[0].Counters
	if len(got) != 1 || got[0].Counter != "segments received per request" || got[0].From != 3 || got[0].To != 4 || len(got[0].Versions) != 1 {
		t.Errorf("%+v", got)
	}
	for i := range b.Families[0].BlockRuns {
		b.Families[0].BlockRuns[i].Close = nil
	}
	if got := compareGood(a, b).Families[0].Counters; len(got) != 0 {
		t.Errorf("unknown is no change: %+v", got)
	}
}

// Tier 2 has versions and counters, and no figure of time that could be compared.
func TestTierTwoSideBySide(t *testing.T) {
	old := func(seedValue uint64) *record.Run {
		w := quickWorld(seedValue)
		w.tier, w.versions = 2, []int{7}
		run := w.recorded()
		f := &run.Families[0]
		f.Cells = []record.FamilyCell{{Cell: 0, Version: -1, Role: record.RoleAlone}}
		for i := range f.BlockRuns {
			f.BlockRuns[i].CellRows = []record.Cell{{Cell: 0, AnswerVersion: 7}}
		}
		return run
	}
	a, b := old(1), old(2)
	for i := range b.Families[0].BlockRuns {
		b.Families[0].BlockRuns[i].CellRows[0].AnswerVersion = 6
		b.Families[0].BlockRuns[i].Steadies[0].Allocs *= 2
	}
	c := compareGood(a, b)
	if len(c.Sanity) != 1 || c.Sanity[0].VersionA != 7 || c.Sanity[0].VersionB != 6 || len(c.Sanity[0].Counters) != 1 || c.Sanity[0].Counters[0].To != 4 {
		t.Errorf("%+v", c.Sanity)
	}
	if c.Verdict != Inconclusive || len(c.Families) != 0 {
		t.Errorf("%s: %s", c.Verdict, c.Reason)
	}
}
