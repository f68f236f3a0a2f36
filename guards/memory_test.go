package guards

import (
	"testing"

	"protocolbench/internal/record"
)

func TestMemory(t *testing.T) {
	one := func(outcome string) []string { return []string{"memory|" + sanityFetch + "|-1|" + outcome} }
	heap := func(t *testing.T, run *record.Run, fork int, open, closing uint64) {
		b := block(t, run, sanityFetch, fork)
		b.Open.Worker.HeapLiveBytes, b.Close.Worker.HeapLiveBytes = open, closing
	}
	const mib = 1 << 20
	checkBreakages(t, []breakage{
		{"a leak in every process", func(t *testing.T, run *record.Run) {
			heap(t, run, 0, 20*mib, 25*mib)
			heap(t, run, 1, 20*mib, 24*mib)
		}, one("fail"), "from 20.0 to 25.0 MiB"},
		{"growth in one process of two", func(t *testing.T, run *record.Run) { heap(t, run, 0, 20*mib, 25*mib) }, nil, ""},
		{"less than 2 MiB", func(t *testing.T, run *record.Run) {
			heap(t, run, 0, 4*mib, 5*mib)
			heap(t, run, 1, 4*mib, 5*mib)
		}, nil, ""},
		{"a response of 1 MiB held at the second reading and not at the first", func(t *testing.T, run *record.Run) {
			for i := range run.Families {
				if run.Families[i].Name == sanityFetch {
					run.Families[i].Shape.FetchBytes = 1 << 20 // two of them: 2 + 2 x (1 + 0.14) = 4.3 MiB with the fixture's 580 records
				}
			}
			heap(t, run, 0, mib/2, mib/2+3*mib)
			heap(t, run, 1, mib/2, mib/2+3*mib)
		}, []string{"known truth|" + sanityFetch + "|-1|fail"}, "carries 9430"}, // the fixture's responses carry 10, which is none of this guard's business
		{"less than a tenth", func(t *testing.T, run *record.Run) {
			heap(t, run, 0, 100*mib, 109*mib)
			heap(t, run, 1, 100*mib, 109*mib)
		}, nil, ""},
		{"no readings", func(t *testing.T, run *record.Run) {
			heap(t, run, 0, 0, 0)
			heap(t, run, 1, 0, 20*mib)
		}, one("blind"), "two readings"},
		{"a leak over the blocks of one process", func(t *testing.T, run *record.Run) {
			heap(t, run, 0, 20*mib, 21*mib)
			heap(t, run, 1, 22*mib, 23*mib)
			block(t, run, sanityFetch, 1).WorkerPID = block(t, run, sanityFetch, 0).WorkerPID
		}, one("fail"), "from 20.0 to 23.0 MiB"},
	})
}
