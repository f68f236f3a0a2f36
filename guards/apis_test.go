package guards

import (
	"strings"
	"testing"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
)

// metadata gives a cell's client another version of Metadata in all blocks of a family: sent while it was opened, and inside the brackets so often more.
func metadata(family string, cell int, version int16, inside int64) func(t *testing.T, run *record.Run) {
	return func(t *testing.T, run *record.Run) {
		for fork := range goodBlocks {
			b := block(t, run, family, fork)
			for _, e := range []*record.Evidence{b.Open, b.Close} {
				for i, c := range e.Worker.Cells {
					for k := range c.Frames {
						if frame := &e.Worker.Cells[i].Frames[k]; c.Cell == cell && frame.Key == keyMetadata {
							frame.Version = version
							if e == b.Close {
								frame.Count += inside
							}
						}
					}
				}
			}
		}
	}
}

func TestOtherAPIs(t *testing.T) {
	fails := func(family string) []string { return []string{"other APIs|" + family + "|-1|fail"} }
	checkBreakages(t, []breakage{
		{"one client refreshes with another Metadata", metadata(liveFetch, 0, 9, 1), fails(liveFetch), "Metadata v9 by v16, v12 by v17, v18: within the brackets"},
		{"another Metadata while it is opened", metadata(liveFetch, 0, 9, 0), nil, ""},
		{"the same Metadata refreshed", metadata(liveFetch, 0, 12, 1), nil, ""},
		{"an encoder in memory", metadata(codecProduce, 2, 9, 1), fails(codecProduce), "Metadata v12 by v11, v12, v13, v9 by v13"},
		{"another in the one block, refreshed in the other alone", func(t *testing.T, run *record.Run) {
			metadata(liveProduce, 1, 9, 0)(t, run)
			frames := block(t, run, liveProduce, 1).Close.Worker.Cells[0].Frames
			frames[2].Count++ // the other client's
		}, fails(liveProduce), "Metadata v12 by v11, v13, v9 by v12"},
		{"the client left alone has nobody to differ from", metadata(sanityFetch, 0, 5, 1), nil, ""},
		{"an API that one client alone used", func(t *testing.T, run *record.Run) {
			for _, e := range []*record.Evidence{block(t, run, liveFetch, 0).Open, block(t, run, liveFetch, 0).Close} {
				e.Worker.Cells[1].Frames = append(e.Worker.Cells[1].Frames, driver.Frames{Key: 10, Version: 4, Count: 1})
			}
		}, nil, ""},
	})
}

func TestOtherAPIsAreNoted(t *testing.T) {
	run := goodRun()
	metadata(liveFetch, 0, 9, 0)(t, run)
	for _, f := range Check(run) {
		if f.Guard != OtherAPIs {
			continue
		}
		want := "the same versions of all APIs"
		switch f.Family {
		case liveFetch:
			want = "before them, while clients were opened, it did: Metadata v9 by v16, v12 by v17, v18"
		case sanityFetch, sanityProduce:
			want = "no two versions between which another API could differ: Metadata v12; ApiVersions v4"
		}
		if !strings.Contains(f.Why, want) {
			t.Errorf("%s: %s, want %q in it", label(f), f.Why, want)
		}
	}
}

// Two builds may speak other versions of Metadata: the build is what is compared there.
func TestOtherAPIsOfTwoBuilds(t *testing.T) {
	run := goodRunOfTwo()
	for i := range run.Families {
		for _, b := range run.Families[i].BlockRuns {
			for _, e := range []*record.Evidence{b.Open, b.Close} {
				if e.Baseline == nil {
					continue // tier 2 has one build
				}
				for _, c := range e.Baseline.Worker.Cells {
					for k := range c.Frames {
						if c.Frames[k].Key == keyMetadata {
							c.Frames[k].Version = 9
							if e == b.Close {
								c.Frames[k].Count++
							}
						}
					}
				}
			}
		}
	}
	seen := 0
	for _, f := range Check(run) {
		if f.Guard == OtherAPIs {
			seen++
			if f.Outcome != Pass && f.Tier < 2 {
				t.Errorf("%s %s: %s", label(f), f.Build, f.Why)
			}
		}
	}
	if seen == 0 {
		t.Error("nobody was asked")
	}
}

func TestAPIUses(t *testing.T) {
	run := goodRun()
	for _, f := range run.Families {
		if f.Name != liveProduce {
			continue
		}
		var pinned, metadata, worker []APIUse
		for _, u := range APIUses(f) {
			switch {
			case u.Cell == OwnConnections:
				worker = append(worker, u)
			case u.Key == f.Key:
				pinned = append(pinned, u)
			case u.Key == keyMetadata:
				metadata = append(metadata, u)
			}
		}
		inside := int64(goodBlocks * goodRounds * goodRequests)
		if len(pinned) != len(f.Cells) || pinned[0].Inside != inside || pinned[0].Before != 7*goodBlocks || pinned[0].API != "Produce" {
			t.Errorf("pinned %+v", pinned)
		}
		if len(metadata) != len(f.Cells) || metadata[0].Before != goodBlocks || metadata[0].Inside != 0 {
			t.Errorf("metadata %+v", metadata)
		}
		if len(worker) != 1 || worker[0].API != "ListOffsets" {
			t.Errorf("the worker's own %+v", worker)
		}
	}
}
