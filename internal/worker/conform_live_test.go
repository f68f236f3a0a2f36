package worker_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"protocolbench/internal/admin"
	"protocolbench/internal/broker"
	"protocolbench/internal/shape"
	"protocolbench/internal/worker"
)

// liveBench is a bench on a running broker; the command has to be filled in.
func liveBench(t *testing.T, b broker.Broker) worker.Bench {
	t.Helper()
	ctx := context.Background()
	a, err := admin.New(ctx, b.Addresses())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	var topics atomic.Int64
	return worker.Bench{
		Tier:    b.Row().Tier,
		Brokers: b.Addresses(),
		FillTopic: func(ctx context.Context, topic string, s shape.Shape, contentSeed uint64, baseTimestampMs int64, batches int) error {
			return a.Fill(ctx, topic, shape.NewContent(s, contentSeed), s.RecordsPerBatch, batches, baseTimestampMs)
		},
		NewTopic: func(ctx context.Context) (string, error) {
			name := fmt.Sprintf("conform-%d", topics.Add(1))
			return name, a.CreateTopic(ctx, name, nil)
		},
		EndOffset: func(ctx context.Context, topic string) (int64, error) {
			_, end, err := a.Offsets(ctx, topic)
			return end, err
		},
	}
}

func embeddedBench(t *testing.T) worker.Bench {
	t.Helper()
	b, err := broker.StartEmbedded(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Stop(context.Background()) })
	return liveBench(t, b)
}

func TestConformanceOfTheFranzWorker(t *testing.T) {
	bench := embeddedBench(t)
	bench.Command = franzWorker(t)
	for _, failure := range worker.Conform(context.Background(), bench) {
		t.Error(failure)
	}
}

// brokenWorkers are kept in testdata: each breaks one rule and no other. The text is of the check that has to see it.
var brokenWorkers = []struct{ name, rule, text string }{
	{"drops-record", worker.RuleRecords, "records 59, the content seed says 60"},
	{"drops-field", worker.RuleMessages, "a batch came back as"},
	{"empty-profile", worker.RuleProfile, "the profile of 0 bytes is not gzipped"},
	{"halves-cpu", worker.RuleClock, "by the parent's view of its process"},
	{"other-version", worker.RulePin, "6 of the batch's 6 request frames had another version"},
	{"fetch-in-flight", worker.RuleInFlight, "6 requests asked, 7 frames left"},
	{"fetch-between", worker.RuleInFlight, "1 more frames left while nothing was asked"},
	{"junk-line", worker.RuleJunk, "batch done, going well"},
}

func TestConformanceFailsEveryBrokenWorkerByName(t *testing.T) {
	for _, c := range brokenWorkers {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bench := embeddedBench(t)
			bench.Command = worker.Command{Path: build(t, "./testdata/"+c.name), Args: []string{franzWorker(t).Path}}
			failures := worker.Conform(context.Background(), bench)
			if got := rules(failures); !slices.Equal(got, []string{c.rule}) {
				t.Errorf("it fails the rules %q, has to fail %q alone: %v", got, c.rule, failures)
			}
			if !slices.ContainsFunc(failures, func(f worker.Failure) bool { return strings.Contains(f.Text, c.text) }) {
				t.Errorf("no failure says %q: %v", c.text, failures)
			}
		})
	}
}
