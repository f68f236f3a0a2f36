package worker_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"protocolbench/internal/broker"
	"protocolbench/internal/jolokia"
	"protocolbench/internal/worker"
)

// realBench is a bench on a real broker, whose own counters join in where they carry the version.
func realBench(t *testing.T, options broker.JVMOptions) worker.Bench {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out the tests on real brokers")
	}
	b, err := broker.StartJVM(context.Background(), options)
	var missing *broker.Missing
	if errors.As(err, &missing) {
		t.Skipf("no real broker here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Stop(context.Background()) })
	bench := liveBench(t, b)
	if b.Row().VersionTags {
		client := jolokia.New(b.JolokiaURL(), 10*time.Second)
		bench.BrokerCounts = func(ctx context.Context, api string) (map[int]int64, error) {
			return requestsByVersion(ctx, client, api)
		}
	}
	return bench
}

func requestsByVersion(ctx context.Context, client *jolokia.Client, api string) (map[int]int64, error) {
	bean := map[string]string{"Produce": "Produce", "Fetch": "FetchConsumer"}[api]
	beans, err := client.Pattern(ctx, "kafka.network:type=RequestMetrics,name=RequestsPerSec,request="+bean+",version=*", "Count")
	if err != nil {
		return nil, err
	}
	counts := map[int]int64{}
	for name, count := range beans {
		version, err := strconv.Atoi(jolokia.Properties(name)["version"])
		if err != nil {
			return nil, err
		}
		counts[version] = count
	}
	return counts, nil
}

func TestConformanceOnKafka4(t *testing.T) {
	bench := realBench(t, broker.JVMOptions{Release: "4.4.0", Tier: 1})
	bench.Command = franzWorker(t)
	for _, failure := range worker.Conform(context.Background(), bench) {
		t.Error(failure)
	}
	// The two lies that only a broker can see from its own side are told to a real one, too.
	for _, c := range brokenWorkers {
		if c.rule != worker.RulePin && c.rule != worker.RuleInFlight {
			continue
		}
		bench.Command = worker.Command{Path: build(t, "./testdata/"+c.name), Args: []string{franzWorker(t).Path}}
		if got := rules(worker.Conform(context.Background(), bench)); len(got) != 1 || got[0] != c.rule {
			t.Errorf("%s fails the rules %q, has to fail %q alone", c.name, got, c.rule)
		}
	}
}

func TestConformanceOnKafka1(t *testing.T) {
	bench := realBench(t, broker.JVMOptions{Release: "1.1.0", Tier: 2})
	bench.Command = franzWorker(t)
	bench.Versions = map[string][2]int{"Produce": {3, 5}, "Fetch": {4, 7}}
	for _, failure := range worker.Conform(context.Background(), bench) {
		t.Error(failure)
	}
}
