package verdict

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
	"protocolbench/internal/shape"
	"protocolbench/seed"
)

func pointOf(name string, change func(*record.Family)) growthPoint {
	f := record.Family{Tier: 1, API: "Produce", Mode: "bare", Reference: 13, Shape: shape.Shape{Name: name, RecordsPerBatch: 1, BatchesPerPartition: 1,
		Partitions: 1, Topics: 1, KeyBytes: 16, ValueBytes: 80, RequiredAcks: -1}}
	change(&f)
	return growthPoint{declared: f, costNs: 1, requestNs: 1}
}

func sized(n int, more ...func(*record.Family)) growthPoint {
	return pointOf(fmt.Sprintf("records=%d,acks=all", n), func(f *record.Family) {
		f.Shape.RecordsPerBatch = n
		for _, change := range more {
			change(f)
		}
	})
}

// An axis is made of families that are alike in all but one number.
func TestGrowthAxes(t *testing.T) {
	acks0 := func(f *record.Family) { f.Shape.RequiredAcks = 0 }
	for name, c := range map[string]struct {
		points []growthPoint
		want   string
	}{
		"none":           {nil, ""},
		"two sizes":      {[]growthPoint{sized(1), sized(100)}, ""},
		"three":          {[]growthPoint{sized(100), sized(1), sized(1000)}, "records 1 100 1000"},
		"the top three":  {[]growthPoint{sized(1), sized(10000), sized(100), sized(1000)}, "records 100 1000 10000"},
		"the same twice": {[]growthPoint{sized(1), sized(1), sized(100)}, ""},
		"other acks":     {[]growthPoint{sized(1), sized(100), sized(1000, acks0)}, ""},
		"two axes":       {[]growthPoint{sized(1), sized(1, acks0), sized(100), sized(100, acks0), sized(9), sized(9, acks0)}, "records 1 9 100, records 1 9 100"},
		"another mode":   {[]growthPoint{sized(1), sized(100), sized(1000, func(f *record.Family) { f.Mode = "gc" })}, ""},
		"another tier":   {[]growthPoint{sized(1), sized(100), sized(1000, func(f *record.Family) { f.Tier = 0 })}, ""},
		"another API":    {[]growthPoint{sized(1), sized(100), sized(1000, func(f *record.Family) { f.API = "Fetch" })}, ""},
		"two dimensions": {[]growthPoint{sized(1), sized(100), sized(1000, func(f *record.Family) { f.Shape.Topics = 2 })}, ""},
		"headers": {[]growthPoint{
			pointOf("headers=1", func(f *record.Family) { f.Shape.Headers = 1 }), pointOf("headers=0", func(*record.Family) {}),
			pointOf("headers=2", func(f *record.Family) { f.Shape.Headers = 2 }), pointOf("headers=8", func(f *record.Family) { f.Shape.Headers = 8 }),
		}, "headers 1 2 8"},
		"pieces of a response": {[]growthPoint{
			pointOf("delivery=4KiB", func(f *record.Family) { f.Shape.ReadBytes = 4 << 10 }), pointOf("delivery=whole", func(f *record.Family) { f.Shape.ReadBytes = 1 << 30 }),
			pointOf("delivery=64KiB", func(f *record.Family) { f.Shape.ReadBytes = 64 << 10 }), pointOf("delivery=16KiB", func(f *record.Family) { f.Shape.ReadBytes = 16 << 10 }),
			pointOf("from memory", func(*record.Family) {}),
		}, "delivery 16 64 256"},
		"aborted transactions": {[]growthPoint{
			pointOf("aborted=1", func(f *record.Family) { f.Shape.Aborted = 1 }), pointOf("aborted=10", func(f *record.Family) { f.Shape.Aborted = 10 }),
			pointOf("aborted=100", func(f *record.Family) { f.Shape.Aborted = 100 }),
		}, "aborted 1 10 100"},
		"topics' names": {[]growthPoint{
			pointOf("topicname=1", func(f *record.Family) { f.Shape.TopicNameBytes = 1 }), pointOf("topicname=32", func(f *record.Family) { f.Shape.TopicNameBytes = 32 }),
			pointOf("topicname=249", func(f *record.Family) { f.Shape.TopicNameBytes = 249 }),
		}, "topicname 1 32 249"},
		"names that disagree": {[]growthPoint{
			pointOf("wide=1", func(f *record.Family) { f.Shape.Partitions = 2 }), pointOf("odd", func(f *record.Family) { f.Shape.Partitions = 4 }),
			pointOf("wide=3", func(f *record.Family) { f.Shape.Partitions = 8 }),
		}, "partitions 2 4 8"},
	} {
		var got []string
		for _, axis := range growthAxes(c.points) {
			text := axis.name
			for _, p := range axis.points {
				text += " " + sizeText(p.size)
			}
			got = append(got, text)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: axes %q, want %q", name, got, c.want)
		}
	}
}

// A family that says nothing is no size of the axis; a version that one size lacks has no slope.
func TestGrowthWithHoles(t *testing.T) {
	growthOf := func(l ladder, change func([]record.FamilyRun)) *Growth {
		runs := l.families()
		change(runs)
		families, judged := judgedAlone(runs)
		addGrowth(families, judged)
		return families[len(families)-1].Growth
	}
	l := codecLadder(1)
	if g := growthOf(l, func(runs []record.FamilyRun) { runs[1].BlockRuns = nil }); g == nil || !slices.Equal(g.Sizes, []float64{1, 1000, 10000}) {
		t.Errorf("with one size not measured: %+v", g)
	}
	if g := growthOf(l, func(runs []record.FamilyRun) { runs[1].BlockRuns, runs[2].BlockRuns = nil, nil }); g != nil {
		t.Errorf("with two sizes left: %+v", g)
	}
	g := growthOf(l, func(runs []record.FamilyRun) {
		f := &runs[2]
		f.Cells = slices.DeleteFunc(f.Cells, func(c record.FamilyCell) bool { return c.Version == 6 })
		for i := range f.BlockRuns {
			b := &f.BlockRuns[i]
			b.Batches = slices.DeleteFunc(b.Batches, func(b record.Batch) bool { return b.Cell == 2 })
		}
	})
	if g == nil || len(g.Cells) != 7 || slices.ContainsFunc(g.Cells, func(c GrowthCell) bool { return c.Version == 6 }) {
		t.Errorf("with v6 missing at one size: %+v", g)
	}
	if g := growthOf(l, func(runs []record.FamilyRun) { runs[3].BuildMargin = 0.05 }); g != nil {
		t.Errorf("a family of two builds has growth: %+v", g)
	}
	families, judged := judgedAlone(l.families())
	judged[3].spoilt = []string{"clients of the same version differ by 9 %"}
	addGrowth(families, judged)
	if families[3].Growth != nil || families[2].Growth == nil {
		t.Error("the growth of an axis whose largest family is unresolvable stands with the largest that can be judged")
	}
}

// Whatever a record has in it, growth goes through JSON.
func TestGrowthIsAlwaysJSON(t *testing.T) {
	r := seed.Stream(1, "odd growth")
	odd := []int64{0, -1, 1, 1 << 62, 1e9}
	some := 0
	for i := range 100 {
		l := fetchLadder(uint64(i))
		l.profile, l.versions = schedule.Quick, span(4, 4+i%4)
		runs := l.families()
		for range r.Uint64() % 25 {
			block := &runs[r.Uint64()%3].BlockRuns[r.Uint64()%4]
			b := &block.Batches[r.Uint64()%uint64(len(block.Batches))]
			switch v := odd[r.Uint64()%5]; r.Uint64() % 4 {
			case 0:
				b.CPUNs = v
			case 1:
				b.Records = int(v)
			case 2:
				b.Requests = int(v)
			case 3:
				block.Batches = block.Batches[:1+r.Uint64()%uint64(len(block.Batches))]
			}
		}
		mangle(r.Uint64(), &record.Run{Families: runs[2:]})
		families, judged := judgedAlone(runs)
		addGrowth(families, judged)
		for _, f := range families {
			if f.Growth != nil {
				some++
			}
		}
		if _, err := json.Marshal(families); err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
	}
	if some < 10 {
		t.Errorf("only %d of 100 records have a growth: the test shows little", some)
	}
}
