package tiers

import (
	"slices"
	"strings"
	"testing"

	"protocolbench/guards"
	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
	"protocolbench/internal/shape"
	"protocolbench/internal/verdict"
	"protocolbench/pin"
)

// One family of each axis through a real worker and the whole judge: on a clean client no guard objects, and none is blind.
func TestEveryAxisIsProved(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute: run without -short")
	}
	c := config(t, []int{0}, "tier0/fetch/topicname=249/", "tier0/*/compression=gzip/*", "tier0/*/compression=zstd/*", "tier0/fetch/aborted=10/", "tier0/fetch/delivery=4KiB/", "tier0/fetch/empty=1/",
		"tier0/fetch/error=100/", "tier0/*/headers=16/*", "tier0/produce/topicname=1/")
	run, v, _ := mustRun(t, c)
	for _, g := range v.Guards {
		if g.Guard == guards.Memory && g.Outcome == guards.Blind && strings.Contains(g.Family, "compression=zstd") {
			continue // an encoder has megabytes and lives in a pool: the quick profile's few rounds can't tell that from a leak, and the guard says so
		}
		if g.Guard != guards.Host && (g.Outcome == guards.Fail || g.Outcome == guards.Blind) { // the host is shared here
			t.Errorf("guard %s says %s of %s v%d: %s %v", g.Guard, g.Outcome, g.Family, g.Version, g.Why, g.Evidence)
		}
	}
	if len(run.Families) != 12 {
		t.Fatalf("%d families", len(run.Families))
	}
	for i := range run.Families {
		f := &run.Families[i]
		if f.LeftOut == "" || f.Cells[0].Version > 10 || !slices.ContainsFunc(f.Cells, func(c record.FamilyCell) bool { return c.Version == f.Reference }) {
			t.Errorf("%s: cells %+v, left out: %q", f.Name, f.Cells, f.LeftOut)
		}
		judged := v.Families[slices.IndexFunc(v.Families, func(j verdict.Family) bool { return j.Name == f.Name })]
		for _, cell := range judged.Cells {
			if cell.CPUUsPerRequest <= 0 || cell.CPUNsPerRecord <= 0 || cell.Verdict == "" {
				t.Errorf("%s v%d: %+v", f.Name, cell.Version, cell)
			}
		}
		if polls := judged.Unit == verdict.UnitRequest; polls != f.Shape.Polls() || polls && judged.Cells[0].CPUNsPerRecord != 1e3*judged.Cells[0].CPUUsPerRequest {
			t.Errorf("%s: unit %q, %+v", f.Name, judged.Unit, judged.Cells[0])
		}
	}
}

func TestVersionsOfAFamily(t *testing.T) {
	all := []int{4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18}
	named := func(profile, name string, versions map[string][2]int) family {
		for _, f := range (Config{Profile: profile, Tiers: []int{0}, Only: []string{name}, Versions: versions}).chosen(false) {
			if f.name() == name {
				return f
			}
		}
		t.Fatalf("no %s in %s", name, profile)
		return family{}
	}
	for _, c := range []struct {
		profile, name string
		pinned, want  []int
		why           string
	}{
		{schedule.Standard, "tier0/fetch/records=1000/bare", all, all, ""},
		{schedule.Release, "tier0/fetch/batches=1000x10/bare", all, all, ""},
		{schedule.Standard, "tier0/fetch/records=1000/gc", all, []int{4, 5, 7, 11, 12, 13, 18}, "schema changed"},
		{schedule.Quick, "tier0/fetch/records=100/bare", all, all, ""},
		{schedule.Standard, "tier0/fetch/records=100/bare", all, []int{4, 5, 7, 11, 12, 13, 18}, "schema changed"},
		{schedule.Standard, "tier0/fetch/records=100/bare", all[:14], []int{4, 5, 7, 11, 12, 13, 17}, "schema changed"}, // an older client: its newest
		{schedule.Release, "tier0/produce/headers=4/bare", []int{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}, []int{3, 8, 9, 13}, "schema changed"},
		{schedule.Release, "tier0/fetch/compression=zstd/bare", all, []int{10, 11, 12, 13, 18}, "KIP-110"},
		{schedule.Release, "tier0/produce/compression=zstd/bare", []int{3, 7, 8, 9, 13}, []int{7, 8, 9, 13}, "without a word"},
	} {
		f := named(c.profile, c.name, nil)
		if got := f.some(c.pinned); !slices.Equal(got, c.want) || !strings.Contains(f.whySome(), c.why) {
			t.Errorf("%s in %s: %v, want %v (%s)", c.name, c.profile, got, c.want, f.whySome())
		}
	}
	if f := named(schedule.Release, "tier0/fetch/headers=4/bare", map[string][2]int{"fetch": {8, 10}}); !slices.Equal(f.some([]int{8, 9, 10}), []int{8, 9, 10}) {
		t.Errorf("who asks for versions gets %v of them", f.some([]int{8, 9, 10}))
	}
}

// What two builds compress they compress to other lengths.
func TestTwoBuildsHaveNoCompressedFamilies(t *testing.T) {
	compressed := func(c Config) bool {
		return slices.ContainsFunc(c.chosen(false), func(f family) bool { return f.shape.Compressed() })
	}
	c := Config{Profile: schedule.Release, Tiers: []int{0}}
	if !compressed(c) {
		t.Error("one build has none")
	}
	c.Baseline = new(Client)
	if compressed(c) {
		t.Error("two builds have some")
	}
	c.Tiers = []int{0, 1}
	leftOut := func(c Config) (out []string) {
		for tier := range 2 {
			for _, f := range (&session{Config: c}).scope(tier, nil).Families {
				if f.Reason == record.LeftOtherCodecs {
					out = append(out, f.Name)
				}
			}
		}
		return out
	}
	out := leftOut(c)
	if !slices.Contains(out, "tier1/produce/compression=lz4,acks=all/bare") || !slices.Contains(out, "tier0/fetch/compression=zstd/bare") || slices.ContainsFunc(out, func(name string) bool { return strings.Contains(name, "compression=none") }) {
		t.Errorf("of two builds it is said that these are left out: %v", out)
	}
	c.Baseline = nil
	if out := leftOut(c); out != nil {
		t.Errorf("of one build it is said that these are left out: %v", out)
	}
}

// Every axis of release has three sizes or more, so that its growth is judged; standard has those of records.
func TestAxesHaveSizes(t *testing.T) {
	sizes := func(profile string, api pin.API, of func(shape.Shape) (int, bool)) int {
		seen := map[int]bool{}
		for _, f := range (Config{Profile: profile, Tiers: []int{0}}).chosen(false) {
			if n, ok := of(f.shape); f.api == api && f.mode == "bare" && ok {
				seen[n] = true
			}
		}
		return len(seen)
	}
	axis := func(name string, of func(shape.Shape) int) func(shape.Shape) (int, bool) {
		return func(s shape.Shape) (int, bool) { return of(s), strings.HasPrefix(s.Name, name+"=") }
	}
	records := axis("records", func(s shape.Shape) int { return s.RecordsPerBatch })
	both := map[string]func(shape.Shape) (int, bool){
		"records": records, "partitions": axis("partitions", func(s shape.Shape) int { return s.Partitions }), "topics": axis("topics", func(s shape.Shape) int { return s.Topics }),
		"topicname": axis("topicname", func(s shape.Shape) int { return s.TopicNameBytes }), "headers": axis("headers", func(s shape.Shape) int { return s.Headers }),
		"value": axis("value", func(s shape.Shape) int { return s.ValueBytes }), "key": axis("key", func(s shape.Shape) int { return s.KeyBytes }),
	}
	ofFetch := map[string]func(shape.Shape) (int, bool){
		"batches": axis("batches", func(s shape.Shape) int { return s.BatchesPerPartition }), "aborted": axis("aborted", func(s shape.Shape) int { return s.Aborted }),
		"delivery": axis("delivery", func(s shape.Shape) int { return s.ReadBytes }),
	}
	for name, of := range both {
		for _, api := range apis {
			if n := sizes(schedule.Release, api, of); n < 3 {
				t.Errorf("%s of %s has %d sizes", name, api.Name, n)
			}
		}
	}
	for name, of := range ofFetch {
		if n := sizes(schedule.Release, pin.Fetch, of); n < 3 {
			t.Errorf("%s has %d sizes", name, n)
		}
	}
	if n := sizes(schedule.Standard, pin.Fetch, records); n < 3 {
		t.Errorf("standard has %d sizes of records", n)
	}
}

// Tier 0 fits into its time: a profile that takes longer than it says is run once.
func TestTierZeroFitsItsBudget(t *testing.T) {
	for profile, most := range map[string]float64{schedule.Quick: 60, schedule.Standard: 8 * 60, schedule.Release: 66 * 60} {
		list, err := List(Config{Profile: profile, Tiers: []int{0}})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, l := range list {
			sum += l.Expected.Seconds()
		}
		if sum > most {
			t.Errorf("%s takes %.0f s, more than %.0f", profile, sum, most)
		}
	}
}
