package guards

import (
	"testing"

	"protocolbench/internal/record"
)

func TestKnownTruth(t *testing.T) {
	breakAll := func(family string, change func(*record.Batch)) func(*testing.T, *record.Run) {
		return func(t *testing.T, run *record.Run) {
			for fork := range goodBlocks {
				b := block(t, run, family, fork)
				for i := range b.Batches {
					change(&b.Batches[i])
				}
			}
		}
	}
	each := func(family, outcome string, versions ...string) []string {
		var want []string
		for _, v := range versions {
			want = append(want, "known truth|"+family+"|"+v+"|"+outcome)
		}
		return want
	}
	checkBreakages(t, []breakage{
		// One batch taken out of each response, at every version: versions agree with each other, and nothing but this guard sees it.
		{"records fetched again and again", breakAll(liveFetch, func(b *record.Batch) { b.WireBytesIn *= 6 }), each(liveFetch, "fail", "16", "17", "18"), "fetches records more than once"},
		{"nothing known", func(_ *testing.T, run *record.Run) { run.Families[0].FewestRequests = 0 }, each(codecFetch, "blind", "16", "17", "18"), "how many requests"},
		{"more requests than needed", func(_ *testing.T, run *record.Run) { run.Families[3].FewestRequests-- }, each(liveProduce, "fail", "11", "12", "13"), "took 4 requests where 3"},
		{"responses that carry less than they could", func(_ *testing.T, run *record.Run) { run.Families[2].RecordsPerRequest++ }, each(liveFetch, "fail", "16", "17", "18"), "4 requests carried 40 records where 44"},
	})
}
