package guards

import (
	"testing"

	"protocolbench/internal/record"
)

func TestNegotiation(t *testing.T) {
	one := func(outcome string) []string { return []string{"negotiation|" + sanityFetch + "|-1|" + outcome} }
	plan := func(run *record.Run) *record.Plan { return &run.Plans[5] } // Fetch of tier 2
	checkBreakages(t, []breakage{
		{"an older version than could be", func(t *testing.T, run *record.Run) { block(t, run, sanityFetch, 1).CellRows[0].AnswerVersion = 6 }, one("fail"), "negotiated Fetch v6 where v7"},
		{"a broker that says another range", func(_ *testing.T, run *record.Run) { plan(run).Advertised[1] = 8 }, one("fail"), "advertises Fetch up to v7"},
		{"no plan", func(_ *testing.T, run *record.Run) { plan(run).Tier = 9 },
			[]string{"plan|tier2|-1|blind", "negotiation|" + sanityFetch + "|-1|blind"}, "no plan"},
		{"a range that was not read", func(_ *testing.T, run *record.Run) { plan(run).Advertised = [2]int{-1, -1} }, append([]string{"compatibility|tier2|-1|blind"}, one("blind")...), "which versions both sides have"},
		{"nobody says", func(t *testing.T, run *record.Run) {
			b := block(t, run, sanityFetch, 0)
			b.CellRows[0].AnswerVersion = -1
			for _, e := range []*record.Evidence{b.Open, b.Close} {
				e.Worker.Cells = nil
				e.Broker.Requests = count(1000)
			}
			for i := range b.Batches {
				b.Batches[i].WireRequests = goodRequests
			}
		}, []string{"pin|" + sanityFetch + "|-1|blind", "negotiation|" + sanityFetch + "|-1|blind"}, "counts no frames"},
		{"a client that doesn't say, by the wire", func(t *testing.T, run *record.Run) {
			block(t, run, sanityFetch, 0).CellRows[0].AnswerVersion = -1
			block(t, run, sanityFetch, 1).CellRows[0].AnswerVersion = -1
		}, nil, ""},
	})
}
