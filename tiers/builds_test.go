package tiers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"protocolbench/guards"
	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
	"protocolbench/internal/worker"
)

// twoBuilds is a run of one worker under two names: what differs between them is nothing.
func twoBuilds(t *testing.T, tiers []int, only ...string) Config {
	c := config(t, tiers, only...)
	baseline := clientOf(workerCommand)
	baseline.Build.Spec = "franz-go@other"
	c.Baseline = &baseline
	return c
}

func TestTwoBuildsAreMeasuredInTheSameRounds(t *testing.T) {
	c := twoBuilds(t, []int{0}, "tier0/fetch/records=100/bare")
	c.Versions = map[string][2]int{"fetch": {16, 18}}
	var asked []int
	candidate := c.Client.Worker
	c.Client.Worker = func(ctx context.Context, layout int) (worker.Command, error) {
		asked = append(asked, layout)
		return candidate(ctx, layout)
	}
	run, v, _ := mustRun(t, c)
	h := run.Header
	if h.Baseline == nil || h.BaselineBuild == nil || h.BaselineBuild.Spec != "franz-go@other" || h.ClientBuild.Spec != "franz-go" || h.Budget.Forks != 6 {
		t.Errorf("header: %+v", h)
	}
	f := run.Families[0]
	if f.BuildMargin != 0.10 || len(f.Cells) != 12 || len(f.BlockRuns) != 6 || f.Rounds != 3 {
		t.Fatalf("build margin %v, %d cells, %d blocks of %d rounds; want 0.10, 12, 6, 3", f.BuildMargin, len(f.Cells), len(f.BlockRuns), f.Rounds)
	}
	seen, primes := map[int]bool{}, 0
	for _, b := range f.BlockRuns {
		for _, layout := range []int{b.Layout, b.BaselineLayout} {
			if layout < 1 || seen[layout] {
				t.Errorf("layout %d of fork %d was there before, or is none", layout, b.Fork)
			}
			seen[layout] = true
			if !slices.Contains(asked, b.Layout) {
				t.Errorf("layout %d is in the record and was never linked", b.Layout)
			}
		}
		if b.BaselinePID == 0 || b.BaselinePID == b.WorkerPID || b.Open.Baseline == nil || b.Close.Baseline == nil {
			t.Errorf("fork %d has no second worker: %+v", b.Fork, b.Block)
		}
		for _, batch := range b.Batches {
			if batch.Primes {
				primes++
			}
			if batch.IdleCPUNs == nil || *batch.IdleCPUNs < 0 {
				t.Fatalf("nobody looked what the idle worker did: %+v", batch)
			}
		}
		for round, order := range b.Orders {
			if len(order) != len(f.Cells) {
				t.Errorf("round %d has %d of %d cells", round, len(order), len(f.Cells))
			}
		}
	}
	if primes != 2*4*3*6 { // two for each of the four turns of three rounds in six forks
		t.Errorf("%d batches prime a turn in orders like %v", primes, f.BlockRuns[0].Orders)
	}
	clocks := 0
	for _, finding := range v.Guards {
		if finding.Outcome == guards.Fail || finding.Outcome == guards.Blind && finding.Guard != guards.Clocks && finding.Guard != guards.Host { // 18 rounds may be too few for the canary's clock test
			t.Errorf("%+v", finding)
		}
		if finding.Guard == guards.Clocks {
			clocks++
		}
	}
	if clocks != 2 {
		t.Errorf("%d findings about clocks, want one per build", clocks)
	}
}

// What one of the builds can't speak, neither is measured on.
func TestVersionsThatBothBuildsHave(t *testing.T) {
	c := twoBuilds(t, []int{0}, "tier0/fetch/records=100/bare")
	c.Baseline.Worker = func(context.Context, int) (worker.Command, error) {
		return worker.Command{Path: "/bin/sh", Args: []string{"-c", `"$0" | sed -u '1s/"key":1,"min":0,"max":18/"key":1,"min":0,"max":12/'`, workerCommand.Path}}, nil
	}
	c.Deadlines = worker.DefaultDeadlines()
	run, _, _ := mustRun(t, c)
	f := run.Families[0]
	plan := run.Plans[slices.IndexFunc(run.Plans, func(p record.Plan) bool { return p.API == "Fetch" })]
	if f.Reference != 12 || len(f.Cells) != 2*(9+3) || plan.BaselineImplemented == nil || plan.BaselineImplemented[1] != 12 {
		t.Errorf("reference v%d, %d cells, plan %+v", f.Reference, len(f.Cells), plan)
	}
	if why := plan.Answers[13].Why; !strings.Contains(why, "the baseline implements Fetch v0-v12 only") {
		t.Errorf("v13: %q", why)
	}
}

// The baseline's end is no fault of the client under test: nothing was found about that.
func TestBaselineThatDiesIsNoFailureOfTheCandidate(t *testing.T) {
	c := twoBuilds(t, []int{0}, "tier0/fetch/records=100/bare")
	c.Versions = map[string][2]int{"fetch": {17, 18}}
	c.Baseline.Worker = func(context.Context, int) (worker.Command, error) {
		return worker.Command{Path: "/bin/sh", Args: []string{"-c", `i=0; while [ $i -lt 60 ] && IFS= read -r line; do printf '%s\n' "$line"; i=$((i+1)); done | "$0"`, workerCommand.Path}}, nil
	}
	c.Deadlines = worker.DefaultDeadlines()
	c.Deadlines.Batch = 5 * time.Second
	run, v, _ := mustRun(t, c)
	if v.Verdict != verdict.Inconclusive || v.ExitCode != verdict.ExitInconclusive {
		t.Errorf("verdict %s (%d): %s; want inconclusive", v.Verdict, v.ExitCode, v.Reason)
	}
	if len(run.Faults) == 0 || run.Faults[0].Build != record.BuildBaseline || run.Faults[0].What != record.FaultWorker || !strings.HasPrefix(run.Faults[0].Text, "baseline: ") {
		t.Errorf("faults %+v, want the baseline's worker's", run.Faults)
	}
}

// Tier 1 with two builds on one broker: what both sent is what it counted; tier 2 has the candidate alone.
func TestTwoBuildsOnABroker(t *testing.T) {
	c := twoBuilds(t, []int{1, 2}, "tier1/produce/records=100,acks=all/bare", "tier2/produce/records=100,acks=all/alone")
	c.Versions = map[string][2]int{"produce": {12, 13}}
	run, v, _ := mustRun(t, c)
	for _, f := range run.Families {
		want := 10
		if f.Tier == 2 {
			want = 1
		}
		if len(f.Cells) != want || (f.BuildMargin > 0) != (f.Tier == 1) {
			t.Errorf("%s: %d cells, build margin %v", f.Name, len(f.Cells), f.BuildMargin)
		}
		for _, b := range f.BlockRuns {
			if (b.BaselinePID > 0) != (f.Tier == 1) || b.Close == nil {
				t.Errorf("%s: %+v", f.Name, b.Block)
			}
		}
	}
	for _, finding := range v.Guards {
		if finding.Outcome == guards.Fail {
			t.Errorf("%+v", finding)
		}
	}
}

// A worker that is not what was built is refused: a stale file would make two builds one.
func TestStaleWorkerIsRefused(t *testing.T) {
	c := config(t, []int{0}, "tier0/fetch/records=100/bare")
	c.Client.Stamped = true
	_, _, err := Run(context.Background(), c)
	if err == nil || !strings.Contains(err.Error(), `content "test" in layout 0 was built`) {
		t.Errorf("got %v", err)
	}
}

// A checkout that changed while it was measured is noticed.
func TestChangedCheckoutIsInTheRecord(t *testing.T) {
	c := config(t, []int{0}, "tier0/fetch/records=100/bare")
	c.Versions = map[string][2]int{"fetch": {18, 18}}
	c.Client.Changed = func() (string, error) { return "pkg/kgo/client.go differs", nil }
	run, _, _ := mustRun(t, c)
	if len(run.Trailer.Changed) != 1 || run.Trailer.Changed[0] != "franz-go: pkg/kgo/client.go differs" {
		t.Errorf("%q", run.Trailer.Changed)
	}
	c.Client.Changed = func() (string, error) { return "", errors.New("no such folder") }
	c.Out = t.TempDir()
	if run, _, _ = mustRun(t, c); len(run.Trailer.Changed) != 1 || !strings.Contains(run.Trailer.Changed[0], "no such folder") {
		t.Errorf("%q", run.Trailer.Changed)
	}
}
