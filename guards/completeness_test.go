package guards

import (
	"testing"

	"protocolbench/internal/record"
)

// cutOff ends a family's second block after its first batches, as a fault does.
func cutOff(t *testing.T, run *record.Run, family string, fault record.Fault) {
	t.Helper()
	b := block(t, run, family, 1)
	b.Batches, b.Close, b.CellRows = b.Batches[:9], nil, nil
	fault.Family, fault.Fork = family, 1
	b.Faults, run.Faults = append(b.Faults, fault), append(run.Faults, fault)
}

// spoiltFetch is what guards that need both ends say about a live fetch family with a block that was cut off.
func spoiltFetch(completeness string) []string {
	return []string{completeness,
		"pin|" + liveFetch + "|16|blind", "pin|" + liveFetch + "|17|blind", "pin|" + liveFetch + "|18|blind",
		"conversions|" + liveFetch + "|-1|blind", "log|" + liveFetch + "|-1|blind",
		"data|" + liveFetch + "|16|blind", "data|" + liveFetch + "|17|blind", "data|" + liveFetch + "|18|blind", "clocks|" + liveFetch + "|-1|blind"}
}

func TestCompleteness(t *testing.T) {
	one := func(outcome string) []string { return []string{"completeness|" + liveFetch + "|-1|" + outcome} }
	runs := func(outcome string) string { return "completeness|tier-1|-1|" + outcome }
	checkBreakages(t, []breakage{
		{"a worker died", func(t *testing.T, run *record.Run) {
			cutOff(t, run, liveFetch, record.Fault{Tier: 1, What: record.FaultWorker, Text: "killed"})
		}, spoiltFetch("completeness|" + liveFetch + "|-1|fail"), "killed"},
		{"a worker died before its block began", func(t *testing.T, run *record.Run) {
			run.Families[2].BlockRuns = run.Families[2].BlockRuns[:1]
			run.Faults = []record.Fault{{Where: record.Where{Family: liveFetch, Fork: 1}, Tier: 1, What: record.FaultWorker, Text: "killed"}}
		}, []string{one("fail")[0], "clocks|" + liveFetch + "|-1|blind"}, "1 of 2 blocks are missing"}, // half the canary's pairs are gone, too
		{"a worker died and its block was taken again", func(t *testing.T, run *record.Run) {
			run.Faults = []record.Fault{{Where: record.Where{Family: liveFetch, Fork: 1}, Tier: 1, What: record.FaultWorker, Text: "killed"}}
		}, one("fail"), "killed"},
		{"a worker died before its family was declared", func(_ *testing.T, run *record.Run) {
			run.Faults = []record.Fault{{Where: record.Where{Family: "tier1/fetch/size=1MiB/bare"}, Tier: 1, What: record.FaultWorker, Text: "killed"}}
		}, []string{"completeness|tier1/fetch/size=1MiB/bare|-1|fail"}, "before anything"},
		{"interrupted", func(t *testing.T, run *record.Run) {
			cutOff(t, run, liveFetch, record.Fault{Tier: 1, What: record.FaultUser, Text: "interrupted"})
			run.Trailer.Complete, run.Trailer.Reason = false, "interrupted"
		}, append([]string{runs("blind")}, spoiltFetch("completeness|"+liveFetch+"|-1|blind")...), "interrupted"},
		{"the broker died", func(t *testing.T, run *record.Run) {
			cutOff(t, run, liveFetch, record.Fault{Tier: 1, What: record.FaultBroker, Text: "the broker ended"})
		}, spoiltFetch("completeness|" + liveFetch + "|-1|blind"), "the broker ended"},
		{"killed", func(t *testing.T, run *record.Run) {
			cutOff(t, run, liveFetch, record.Fault{})
			run.Faults, run.Trailer = nil, nil
		}, append([]string{runs("blind")}, spoiltFetch("completeness|"+liveFetch+"|-1|blind")...), "no trailer"},
		{"a batch that nothing explains", func(t *testing.T, run *record.Run) {
			b := block(t, run, codecFetch, 1)
			b.Batches = b.Batches[1:]
		}, []string{"completeness|" + codecFetch + "|-1|fail"}, "no fault explains it"},
		{"a batch that an early end explains", func(t *testing.T, run *record.Run) {
			b := block(t, run, codecFetch, 1)
			b.Batches = b.Batches[1:]
			run.Trailer.Complete, run.Trailer.Reason = false, "out of time"
		}, []string{runs("blind"), "completeness|" + codecFetch + "|-1|blind"}, "out of time"},
		{"a batch twice", func(t *testing.T, run *record.Run) {
			b := block(t, run, codecFetch, 1)
			b.Batches = append(b.Batches, b.Batches[0])
		}, []string{"completeness|" + codecFetch + "|-1|fail"}, "2 times"},
		{"another order than the one drawn", func(t *testing.T, run *record.Run) {
			b := block(t, run, codecFetch, 1)
			b.Batches[0].Position, b.Batches[1].Position = 1, 0
		}, []string{"completeness|" + codecFetch + "|-1|fail"}, "drawn order"},
		{"fewer rounds than planned", func(t *testing.T, run *record.Run) {
			b := block(t, run, codecFetch, 1)
			b.Orders, b.Batches = b.Orders[:5], b.Batches[:5*6]
		}, []string{"completeness|" + codecFetch + "|-1|fail"}, "5 rounds were ordered where 6"},
		{"a cell left out of a round", func(t *testing.T, run *record.Run) {
			b := block(t, run, codecFetch, 1)
			b.Orders[5] = b.Orders[5][:5]
			b.Batches = b.Batches[:len(b.Batches)-1]
		}, []string{"completeness|" + codecFetch + "|-1|fail"}, "leaves cell"},
		{"a tier without families", func(_ *testing.T, run *record.Run) { run.Header.Tiers = []int{0, 1, 2, 3} }, []string{runs("blind")}, "[3]"},
	})
}
