package guards

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/stats"
)

// keeping plants what each batch of the versions leaves on the live heap of one block; pooled is let go again by the batch after.
func keeping(t *testing.T, run *record.Run, fork int, perRequest, pooled int64, versions ...int) {
	t.Helper()
	b := block(t, run, liveFetch, fork)
	family := familyOf(t, run, liveFetch)
	// The fixture's orders are cyclic; a run's are drawn, so that no version always follows the same one.
	random := rand.New(rand.NewPCG(3, uint64(fork)))
	for round := range slices.Chunk(b.Batches, len(family.Cells)) {
		random.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
	}
	live, pool := int64(20<<20), int64(0)
	for i := range b.Batches {
		batch := &b.Batches[i]
		batch.HeapLiveBytes = uint64(live + pool)
		pool = 0
		for _, v := range versions {
			if versionOf(family, batch.Cell) == v {
				live += perRequest * int64(batch.Requests)
				pool = pooled * int64(batch.Requests)
			}
		}
	}
}

func familyOf(t *testing.T, run *record.Run, name string) record.Family {
	t.Helper()
	for _, f := range run.Families {
		if f.Name == name {
			return f.Family
		}
	}
	t.Fatalf("no family %s", name)
	return record.Family{}
}

func TestRetainedByVersion(t *testing.T) {
	of := func(outcome Outcome, versions ...int) (want []string) {
		for _, v := range versions {
			want = append(want, fmt.Sprintf("memory|%s|%d|%s", liveFetch, v, outcome))
		}
		return want
	}
	inAll := func(perRequest, pooled int64, versions ...int) func(*testing.T, *record.Run) {
		return func(t *testing.T, run *record.Run) {
			for fork := range goodBlocks {
				keeping(t, run, fork, perRequest, pooled, versions...)
			}
		}
	}
	checkBreakages(t, []breakage{
		{"one version keeps, and its neighbours don't", inAll(4096, 0, 17), of(Fail, 17), "v17 keeps 4096 bytes per request"},
		{"two versions keep", inAll(4096, 0, 16, 17), of(Fail, 16, 17), "v16 keeps"},
		{"all versions keep", inAll(4096, 0, 16, 17, 18), of(Fail, 16, 17, 18), "v16 keeps"},
		{"as much as is allowed", inAll(workerBytes/goodRequests, 0, 17), nil, ""},
		{"a little more", inAll(workerBytes/goodRequests+16, 0, 17), of(Fail, 17), "v17 keeps"},
		{"a pool that the next batch finds empty", inAll(0, 512, 17), nil, ""},
		{"each client keeps a buffer once, after its first batch", func(t *testing.T, run *record.Run) {
			for fork := range goodBlocks {
				b, live := block(t, run, liveFetch, fork), uint64(20<<20)
				seen := map[int]bool{}
				for i := range b.Batches {
					b.Batches[i].HeapLiveBytes = live
					if !seen[b.Batches[i].Cell] {
						live += 1 << 20
					}
					seen[b.Batches[i].Cell] = true
				}
			}
		}, nil, ""},
		{"no readings", func(t *testing.T, run *record.Run) {
			for fork := range goodBlocks {
				for i := range block(t, run, liveFetch, fork).Batches {
					block(t, run, liveFetch, fork).Batches[i].HeapLiveBytes = 0
				}
			}
		}, of(Blind, 16, 17, 18), "heapLiveBytes"},
		{"a connection for each request of a version", func(t *testing.T, run *record.Run) {
			for fork := range goodBlocks {
				b := block(t, run, liveFetch, fork)
				for i, c := range b.Close.Worker.Cells {
					if c.Cell == 1 {
						b.Close.Worker.Cells[i].ConnectionsOpened += goodRounds * goodRequests
					}
				}
			}
		}, of(Fail, 17), "from 2 to 26 connections opened over 24 requests"},
		{"a client that reconnects once", func(t *testing.T, run *record.Run) {
			block(t, run, liveFetch, 0).Close.Worker.Cells[1].ConnectionsOpened++
		}, nil, ""},
		{"connections that nobody counted", func(t *testing.T, run *record.Run) {
			block(t, run, liveFetch, 0).Close.Worker.Cells[1].ConnectionsOpened = 0
		}, of(Blind, 17), "were not counted"},
		{"a goroutine for each response", func(t *testing.T, run *record.Run) {
			block(t, run, liveFetch, 1).Close.Worker.Goroutines += 17
		}, of(Fail, AllVersions), "from 30 to 47 goroutines"},
		{"open files that grow", func(t *testing.T, run *record.Run) {
			block(t, run, liveFetch, 1).Close.Worker.OpenFiles += 9
		}, of(Fail, AllVersions), "from 40 to 49 open files"},
		{"a few of both", func(t *testing.T, run *record.Run) {
			block(t, run, liveFetch, 1).Close.Worker.OpenFiles += 8
			block(t, run, liveFetch, 1).Close.Worker.Goroutines += 16
		}, nil, ""},
		{"goroutines that nobody counted", func(t *testing.T, run *record.Run) {
			block(t, run, liveFetch, 1).Open.Worker.Goroutines = 0
		}, of(Blind, AllVersions), "were not counted"},
	})
}

func TestEarlierRecordsAreNotAskedWhatVersionsKeep(t *testing.T) {
	run := goodRun()
	run.Header.Schema = 3
	f := record.FamilyRun{Family: familyOf(t, run, liveFetch), BlockRuns: []record.BlockRun{{Batches: []record.Batch{{Batched: driver.Batched{Requests: 1}}}}}}
	if findings := checkMemory(run, f); len(findings) > 0 {
		t.Errorf("%v", findings)
	}
	run.Header.Schema = 4
	if findings := checkMemory(run, f); len(findings) != 4 || findings[0].Outcome != Blind {
		t.Errorf("schema 4 without readings: %v", findings)
	}
}

// What is too seldom to be seen at each version is seen over all of them, and what is kept in one block of two in that one.
func TestRetainedOverVersionsAndBlocks(t *testing.T) {
	for name, c := range map[string]struct {
		keeps func(random *rand.Rand, fork, version int) bool
		want  []int
	}{
		"a batch of eight, whatever its version": {func(random *rand.Rand, _, _ int) bool { return random.IntN(8) == 0 }, []int{AllVersions}},
		"a version in one block":                 {func(_ *rand.Rand, fork, version int) bool { return fork == 1 && version == 17 }, []int{17}},
		"none":                                   {func(*rand.Rand, int, int) bool { return false }, nil},
	} {
		random := rand.New(rand.NewPCG(5, 16))
		run := goodRun()
		family := familyOf(t, run, liveFetch)
		f := record.FamilyRun{Family: family}
		for fork := range goodBlocks {
			b, live := *block(t, run, liveFetch, fork), uint64(20<<20)
			b.Batches = slices.Repeat(b.Batches, 4)
			for round := range slices.Chunk(b.Batches, len(family.Cells)) {
				random.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
				for i := range round {
					round[i].HeapLiveBytes = live
					if c.keeps(random, fork, versionOf(family, round[i].Cell)) {
						live += 4096
					}
				}
			}
			f.BlockRuns = append(f.BlockRuns, b)
		}
		var failed []int
		for _, finding := range checkRetained(run, f) {
			if finding.Outcome == Fail {
				failed = append(failed, finding.Version)
			}
		}
		if !slices.Equal(failed, c.want) {
			t.Errorf("%s: failed are %v, want %v", name, failed, c.want)
		}
	}
}

// Where the heap moves so much that a client that kept half of what it reads would not be seen, that nothing was found shows nothing.
func TestTooNoisyAHeapIsBlind(t *testing.T) {
	of := func(sd float64) kept {
		return kept{Retained: stats.Retained{Estimated: stats.Estimated{Error: stats.Error{SE: sd, DF: 30}}, Batches: 33}, requests: 10, requestBytes: 1000, level: keptLevel}
	}
	if f := retained(record.Family{}, 9, of(200), nil); f.Outcome != Pass {
		t.Errorf("a leak of a tenth of a request would be found: %+v", f)
	}
	if f := retained(record.Family{}, 9, of(5000), nil); f.Outcome != Blind || !strings.Contains(f.Why, "the live heap moves so much between batches of v9") {
		t.Errorf("one of twice a request would not: %+v", f)
	}
}
