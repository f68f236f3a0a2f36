package tiers

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"protocolbench/guards"
	"protocolbench/internal/admin"
	"protocolbench/internal/broker"
	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/shape"
	"protocolbench/internal/verdict"
)

// startWith gives a real broker that is set up in another way than this program would, and a configuration that is attached to it.
func startWith(t *testing.T, properties []string, only ...string) Config {
	t.Helper()
	c := real(t, []int{1}, only...)
	b, err := broker.StartJVM(t.Context(), broker.JVMOptions{Release: c.Kafka, Tier: 1, Properties: properties, Progress: c.Progress.Say})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Stop(t.Context()) })
	c.Broker, c.Jolokia = strings.Join(b.Addresses(), ","), b.JolokiaURL()
	c.Versions = map[string][2]int{"fetch": {17, 18}, "produce": {12, 13}}
	return c
}

// wantBrokersWord runs, and wants a word about the broker with all of some texts, before any block.
func wantBrokersWord(t *testing.T, c Config, texts ...string) {
	t.Helper()
	began := time.Now()
	run, v, _ := mustRun(t, c)
	if v.Verdict != verdict.Inconclusive || v.ExitCode != verdict.ExitHarness || !strings.HasPrefix(v.Reason, "broker fault: the broker is not set up") {
		t.Errorf("exit code %d, verdict %s: %s", v.ExitCode, v.Verdict, v.Reason)
	}
	for _, text := range texts {
		if !strings.Contains(v.Reason, text) {
			t.Errorf("no %q in %s", text, v.Reason)
		}
	}
	if len(run.Families) != 0 || len(run.Faults) != 1 || run.Faults[0].What != record.FaultBroker {
		t.Errorf("%d families were measured; faults %+v", len(run.Families), run.Faults)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %s", took)
	}
}

func TestSettingsAndQuotasOfARealBroker(t *testing.T) {
	c := startWith(t, []string{"compression.type=gzip", "log.message.timestamp.type=LogAppendTime", "message.max.bytes=20000", "log.retention.ms=1000",
		"log.retention.check.interval.ms=500", "log.segment.bytes=1048576", "log.cleanup.policy=compact", "min.insync.replicas=2", "log.flush.interval.messages=1",
		"log.message.timestamp.before.max.ms=1", "log.message.timestamp.after.max.ms=1"}, "tier1/fetch/size=64KiB", "tier1/produce/records=1000,acks=all")
	t.Run("topics override them", func(t *testing.T) {
		run, v, _ := mustRun(t, c)
		for _, g := range v.Guards {
			if g.Guard != guards.Host && (g.Outcome == guards.Fail || g.Outcome == guards.Blind) {
				t.Errorf("%s: %s, %s v%d: %s", g.Outcome, g.Guard, g.Family, g.Version, g.Why)
			}
		}
		if b := run.Brokers[0]; b.TopicSettings["compression.type"] != "producer" || b.TopicSettings["flush.messages"] == "1" || len(b.Untold) != 0 || len(run.Families) != 2 {
			t.Errorf("settings %q, untold %q, %d families", b.TopicSettings, b.Untold, len(run.Families))
		}
	})
	client, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(c.Broker, ",")...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	franz := rehearsalClientID
	for _, q := range []struct {
		name  string
		value float64
		kind  string
		of    *string
	}{{"producer_byte_rate", 2 << 20, "client-id", nil}, {"consumer_byte_rate", 2 << 20, "client-id", &franz}, {"request_percentage", 1, "user", nil}} {
		t.Run(q.name, func(t *testing.T) {
			quota(t, client, q.kind, q.of, kadm.AlterClientQuotaOp{Key: q.name, Value: q.value})
			defer quota(t, client, q.kind, q.of, kadm.AlterClientQuotaOp{Key: q.name, Remove: true})
			wantBrokersWord(t, c, fmt.Sprintf("%s=%d of {%s=", q.name, int(q.value), q.kind), "remove it")
		})
	}
	t.Run("a throttle time is seen where quotas aren't listed", func(t *testing.T) { throttledAlone(t, c, client) })
}

func quota(t *testing.T, client *kgo.Client, kind string, name *string, op kadm.AlterClientQuotaOp) {
	t.Helper()
	altered, err := kadm.NewClient(client).AlterClientQuotas(t.Context(), []kadm.AlterClientQuotaEntry{
		{Entity: kadm.ClientQuotaEntity{{Type: kind, Name: name}}, Ops: []kadm.AlterClientQuotaOp{op}}})
	if err == nil {
		err = altered[0].Err
	}
	if err != nil {
		t.Fatal(err)
	}
}

func throttledAlone(t *testing.T, c Config, client *kgo.Client) {
	a, err := admin.New(t.Context(), strings.Split(c.Broker, ","))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := a.CreateTopic(t.Context(), "plain", nil); err != nil {
		t.Fatal(err)
	}
	if err := a.LearnSettings(t.Context(), "plain"); err != nil {
		t.Fatal(err)
	}
	if err := a.CreateTopic(t.Context(), "throttled", nil); err != nil {
		t.Fatal(err)
	}
	franz := rehearsalClientID
	content := shape.NewContent(flat("throttled", 1000, 1, 1, 1), 1)
	r := admin.Rehearsal{Topic: "throttled", ClientID: franz, BaseTimestampMs: time.Now().UnixMilli()}
	plain := r
	plain.Topic = "plain" // made before it was known that the broker lists limits of timestamps
	if err := a.Produce(t.Context(), plain, content, 1000, 1); !strings.Contains(admin.Remedy(err), "timestamp.before.max.ms") {
		t.Errorf("records of the past, to a topic that doesn't lift the broker's limit: %v", err)
	}
	batches := rehearsedBytes / (1000 * (keyBytes + valueBytes))
	for _, try := range []struct {
		quota string
		run   func() error
	}{
		{"producer_byte_rate", func() error { return a.Produce(t.Context(), r, content, 1000, batches) }},
		{"consumer_byte_rate", func() error { _, err := a.Consume(t.Context(), r, 1<<20, 32); return err }},
	} {
		if err := try.run(); err != nil {
			t.Errorf("%s: without a quota: %v", try.quota, err)
		}
		quota(t, client, "client-id", &franz, kadm.AlterClientQuotaOp{Key: try.quota, Value: 1 << 20})
		throttled := new(admin.Throttled)
		if err := try.run(); !errors.As(err, &throttled) {
			t.Errorf("%s: %v, want a throttle time", try.quota, err)
		}
		quota(t, client, "client-id", &franz, kadm.AlterClientQuotaOp{Key: try.quota, Remove: true})
	}
}

// Neither can be changed by a topic, nor while the broker runs.
func TestLimitsOfARealBroker(t *testing.T) {
	c := startWith(t, []string{"fetch.max.bytes=20000", "socket.request.max.bytes=50000"})
	t.Run("fetch.max.bytes", func(t *testing.T) {
		c.Only = []string{"tier1/fetch/size=64KiB"}
		wantBrokersWord(t, c, "Fetch for 65536 bytes got", "fetch.max.bytes of the broker allows less (it is 20000)")
	})
	t.Run("socket.request.max.bytes", func(t *testing.T) {
		c.Only = []string{"tier1/produce/records=1000,acks=all"}
		wantBrokersWord(t, c, "batches of 1000 records", "socket.request.max.bytes")
	})
}

// A quota that isn't for the client under test is none of its business, and one that may be is.
func TestWhoseQuotaItIs(t *testing.T) {
	for client, unfit := range map[string]map[admin.Quota]bool{
		"franz-go": {
			{Name: "consumer_byte_rate", Value: 1}:                          true,
			{Name: "consumer_byte_rate", Value: 1, ClientID: "kgo"}:         true,
			{Name: "request_percentage", Value: 1, User: "ANONYMOUS"}:       true,
			{Name: "producer_byte_rate", Value: 1, User: "alice"}:           false,
			{Name: "producer_byte_rate", Value: 1, ClientID: "another"}:     false,
			{Name: "producer_byte_rate", Value: 1 << 40}:                    false,
			{Name: "controller_mutation_rate", Value: 1, ClientID: "kgo"}:   false,
			{Name: "producer_byte_rate", Value: 1 << 20, ClientID: "kgo-2"}: false,
		},
		"another": {{Name: "producer_byte_rate", Value: 1, ClientID: "whoever"}: true, {Name: "producer_byte_rate", Value: 1, User: "alice"}: false},
	} {
		s := &session{sides: []*side{{hello: driver.Hello{Client: client}}}}
		for q, want := range unfit {
			if err := s.unfitQuota([]admin.Quota{q}); (err != nil) != want {
				t.Errorf("%s, %+v: %v", client, q, err)
			}
		}
	}
}
