package tiers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"protocolbench/guards"
	"protocolbench/internal/broker"
	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

// attached is a configuration for a cluster of somebody else's, which in fact is the fake one. Without Jolokia it proves little, and offsets and data it shows.
func attached(t *testing.T, tier, age int, only ...string) Config {
	t.Helper()
	b, err := broker.StartEmbedded(t.Context(), age)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Stop(context.Background()) })
	c := config(t, []int{tier}, only...)
	c.Broker = strings.Join(b.Addresses(), ",")
	c.Versions = map[string][2]int{"fetch": {17, 18}, "produce": {12, 13}}
	return c
}

func TestAttachedClusterGetsTheNegativeControls(t *testing.T) {
	run, v, _ := mustRun(t, attached(t, 1, 1, "tier1/produce/records=100,acks=all"))
	if v.Verdict != verdict.Inconclusive || !slices.Equal(run.Header.Controls, record.NegativeControls()) {
		t.Errorf("verdict %s (%s), controls %q", v.Verdict, v.Reason, run.Header.Controls)
	}
	taken := map[string]record.Control{}
	for _, c := range run.Controls {
		taken[c.Control] = c
	}
	deleted, missing := taken[record.ControlDeletedRecords], taken[record.ControlMissingRecord]
	if deleted.Why != "" || deleted.Open == nil || deleted.Close == nil || deleted.Close.LogStartOffset-deleted.Open.LogStartOffset != deleted.Expected {
		t.Errorf("deleted records: %+v", deleted)
	}
	if missing.Why != "" || missing.Batch == nil || missing.Cell == nil || missing.Batch.ExpectedRecords-missing.Batch.Records != 1 {
		t.Errorf("missing record: %+v", missing)
	}
	for _, g := range v.Guards {
		if (g.Guard == guards.Log || g.Guard == guards.Data) && g.Outcome != guards.Pass {
			t.Errorf("%s %s v%d: %s (%s)", g.Guard, g.Family, g.Version, g.Outcome, g.Why)
		}
	}
	// The same record, without the deletion: the guard has to be blind for the whole tier.
	for i := range run.Controls {
		if c := &run.Controls[i]; c.Control == record.ControlDeletedRecords {
			c.Close = c.Open
		}
	}
	if !slices.ContainsFunc(guards.Check(run), func(f guards.Finding) bool { return f.Guard == guards.Log && f.Outcome == guards.Blind }) {
		t.Error("a control that was not objected to blinds nobody")
	}
}

// A broker that its tier is not for is the user's mistake, found before anything is measured, and nothing stays of it.
func TestWrongKindOfBrokerIsRefused(t *testing.T) {
	c := attached(t, 2, 1)
	c.Versions = nil
	dir, _, err := Run(context.Background(), c)
	usage := new(UsageError)
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), "tier 2 is for brokers before Kafka 2.0") || !strings.Contains(err.Error(), "--any-broker") || dir != "" {
		t.Errorf("%v, folder %q", err, dir)
	}
	for row, refused := range map[*record.Broker]bool{
		{Tier: 1, Provider: "attached", Release: "3.9.1"}: true, {Tier: 1, Provider: "attached", FetchConverts: true}: true, {Tier: 1, Provider: "attached", Release: "4.0.0"}: false,
		{Tier: 2, Provider: "attached", Release: "1.1.1", FetchConverts: true}: true, {Tier: 2, Provider: "jvm", Release: "1.1.0", FetchConverts: true}: false,
	} {
		if err := c.CheckBroker(*row); errors.As(err, &usage) != refused {
			t.Errorf("%+v: %v", row, err)
		}
		overridden := c
		overridden.AnyBroker = true
		if err := overridden.CheckBroker(*row); err != nil {
			t.Errorf("%+v, overridden: %v", row, err)
		}
	}
}

func TestAnyBrokerIsMeasuredAndSaid(t *testing.T) {
	c := attached(t, 2, 1, "tier2/fetch/size=64KiB")
	c.Versions, c.AnyBroker = nil, true
	run, v, _ := mustRun(t, c)
	if !run.Header.AnyBroker || run.Brokers[0].Asked != c.Legacy {
		t.Errorf("header %v, broker %+v", run.Header.AnyBroker, run.Brokers[0])
	}
	if v.Verdict != verdict.Inconclusive || !strings.HasPrefix(v.Reason, "--any-broker: tier 2 is for") {
		t.Errorf("verdict %s: %s", v.Verdict, v.Reason)
	}
	if !slices.ContainsFunc(v.Guards, func(f guards.Finding) bool {
		return f.Guard == guards.Identity && f.Outcome == guards.Blind && strings.HasPrefix(f.Why, "overridden")
	}) {
		t.Errorf("identity says nothing of it: %+v", v.Guards)
	}
}
