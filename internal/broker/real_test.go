package broker

import (
	"fmt"
	"testing"
	"time"

	"protocolbench/compose"
	"protocolbench/internal/admin"
	"protocolbench/internal/measure"
	"protocolbench/internal/shape"
	"protocolbench/pin"
)

func TestReadyBroker(t *testing.T) {
	for release, s := range eachKind {
		t.Run(release, func(t *testing.T) {
			ctx, b, a, _ := s.get(t)
			row := b.Row()
			t.Logf("ready after %.1f s: %+v", float64(row.ReadyNs)/1e9, row)
			if row.Release != release || row.Provider != ProviderJVM || row.Tier != s.tier || row.Commit == "" || row.StartTimeMs == 0 || row.PID != b.PID() || row.ReadyNs <= 0 || row.Java == "" {
				t.Errorf("row %+v", row)
			}
			if modern := release == compose.DefaultRelease; row.VersionTags != modern || row.FetchConverts == modern {
				t.Errorf("version tags %v, fetch converts %v", row.VersionTags, row.FetchConverts)
			}
			if id, err := a.ClusterID(ctx); err != nil || id != row.ClusterID {
				t.Errorf("cluster %q by Kafka (%v), %q by JMX", id, err, row.ClusterID)
			}
			if !measure.Alive(b.PID()) || len(b.LogTail(5)) != 5 {
				t.Errorf("process %d, log %q", b.PID(), b.LogTail(5))
			}
			select {
			case <-b.Exited():
				t.Error("it is said to have ended")
			default:
			}
		})
	}
}

// What the tiers rely on, by KAFKA.md: the ranges that are advertised.
func TestAdvertisedVersions(t *testing.T) {
	for release, want := range map[string][4]int{compose.DefaultRelease: {0, 13, 4, 18}, compose.LegacyRelease: {0, 5, 0, 7}} {
		t.Run(release, func(t *testing.T) {
			ctx, _, a, _ := eachKind[release].get(t)
			var got [4]int
			var err error
			for i, api := range []pin.API{pin.Produce, pin.Fetch} {
				if got[2*i], got[2*i+1], err = a.Advertised(ctx, api.Key); err != nil {
					t.Fatal(err)
				}
			}
			if got != want {
				t.Errorf("Produce and Fetch %v, want %v", got, want)
			}
		})
	}
}

// settles waits for a counter: a broker counts a request once it has answered it, so the last one may come after its answer. What never comes the
// caller finds missing.
func settles(there func() bool) {
	for end := time.Now().Add(5 * time.Second); !there() && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
}

func TestFillOnRealBrokers(t *testing.T) {
	sh := shape.Shape{Name: "x", RecordsPerBatch: 10, BatchesPerPartition: 1, Partitions: 1, Topics: 1, KeyBytes: 16, ValueBytes: 100, Headers: 1}
	for release, s := range eachKind {
		t.Run(release, func(t *testing.T) {
			ctx, _, a, o := s.get(t)
			topic := "fill-" + fmt.Sprint(time.Now().UnixNano())
			if err := a.CreateTopic(ctx, topic, map[string]string{"retention.ms": "-1"}); err != nil {
				t.Fatal(err)
			}
			content, now := shape.NewContent(sh, 9), time.Now().UnixMilli()
			_, before, _ := o.RequestCount(ctx, pin.Produce)
			began := time.Now()
			if err := a.Fill(ctx, topic, content, 10, 5000, now); err != nil {
				t.Fatal(err)
			}
			t.Logf("5000 batches took %s", time.Since(began))
			after := before
			settles(func() bool {
				_, after, _ = o.RequestCount(ctx, pin.Produce)
				return after.Value-before.Value >= 5000
			})
			if after.State != measure.Number || after.Value-before.Value != 5000 {
				t.Errorf("the broker counted %d Produce requests, want 5000 (%+v, %+v)", after.Value-before.Value, before, after)
			}
			want := content.Expect(50000)
			if got, err := a.ReadBack(ctx, topic, admin.Span{Records: 50000, Partitions: 1, PerBatch: 10}, now); err != nil || got.Records != 50000 || got.Hash != want.Hash {
				t.Errorf("read back %+v, %v; want 50000, %x", got, err, want.Hash)
			}
			if err := a.DeleteRecords(ctx, topic, 70); err != nil {
				t.Fatal(err)
			}
			e := o.Evidence(ctx, pin.Fetch, topic)
			if e.LogStartOffset != 70 || e.LogEndOffset != 50000 {
				t.Errorf("offsets %d to %d, want 70 to 50000", e.LogStartOffset, e.LogEndOffset)
			}
			if err := a.DeleteTopic(ctx, topic); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestEvidence(t *testing.T) {
	for release, s := range eachKind {
		t.Run(release, func(t *testing.T) {
			ctx, b, a, o := s.get(t)
			if err := a.CreateTopic(ctx, "evidence", nil); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = a.DeleteTopic(ctx, "evidence") }()
			sh := shape.Shape{Name: "x", RecordsPerBatch: 3, BatchesPerPartition: 1, Partitions: 1, Topics: 1, KeyBytes: 8, ValueBytes: 8}
			open := o.Evidence(ctx, pin.Produce, "evidence")
			if err := a.Fill(ctx, "evidence", shape.NewContent(sh, 1), 3, 7, time.Now().UnixMilli()); err != nil {
				t.Fatal(err)
			}
			e := o.Evidence(ctx, pin.Produce, "evidence")
			settles(func() bool {
				e = o.Evidence(ctx, pin.Produce, "evidence")
				return e.Requests.Value-open.Requests.Value >= 7
			})
			row := b.Row()
			if e.Release != row.Release || e.Commit != row.Commit || e.ClusterID != row.ClusterID || e.StartTimeMs != row.StartTimeMs || e.IdentityWhy != "" {
				t.Errorf("identity %+v, row %+v", e, row)
			}
			if e.LogStartOffset != 0 || e.LogEndOffset != 21 || e.OffsetsWhy != "" {
				t.Errorf("offsets %d to %d (%s), want 0 to 21", e.LogStartOffset, e.LogEndOffset, e.OffsetsWhy)
			}
			if e.ProduceConversions.State != measure.Number || e.ProduceConversions != open.ProduceConversions || e.FetchConversions.State != measure.Number {
				t.Errorf("conversions %+v, before %+v", e, open)
			}
			if e.TopicFetchConversions.State == measure.Unreadable || e.TopicProduceConversions.State == measure.Unreadable {
				t.Errorf("the topic's own: %+v, %+v", e.TopicProduceConversions, e.TopicFetchConversions)
			}
			if !e.RequestsListed || e.Requests.State != measure.Number || e.Requests.Value-open.Requests.Value != 7 {
				t.Errorf("requests %+v, before %+v, want 7 more", e.Requests, open.Requests)
			}
			if tags := len(e.RequestsByVersion) > 0; tags != row.VersionTags || tags && e.RequestsByVersion[5].Value-open.RequestsByVersion[5].Value != 7 {
				t.Errorf("by version %v, before %v", e.RequestsByVersion, open.RequestsByVersion)
			}
		})
	}
}

func TestControls(t *testing.T) {
	for release, s := range eachKind {
		t.Run(release, func(t *testing.T) {
			ctx, b, _, o := s.get(t)
			row := o.Recompression(ctx)
			if row.Why != "" || !row.Applies || row.Expected != 100 || row.Observed != number(100) || row.TopicObserved != number(100) {
				t.Errorf("recompression: %+v", row)
			}
			row = o.OldFetch(ctx)
			switch {
			case !b.Row().FetchConverts:
				if row.Applies || row.Why == "" || row.Observed.State == measure.Number {
					t.Errorf("old fetch: %+v", row)
				}
			case row.Why != "" || !row.Applies || row.Expected != 600 || row.Observed != number(600) || row.TopicObserved != number(600):
				t.Errorf("old fetch: %+v", row)
			}
		})
	}
}

func TestDeletedRecordsControl(t *testing.T) {
	for release, s := range eachKind {
		t.Run(release, func(t *testing.T) {
			ctx, b, _, o := s.get(t)
			row := o.DeletedRecords(ctx)
			if row.Why != "" || !row.Applies || row.Open == nil || row.Close == nil {
				t.Fatalf("%+v", row)
			}
			if row.Open.LogStartOffset != 0 || row.Close.LogStartOffset != row.Expected || row.Open.LogEndOffset != 100 || row.Close.LogEndOffset != 100 || row.Open.StartTimeMs != b.Row().StartTimeMs {
				t.Errorf("open %+v, close %+v", row.Open, row.Close)
			}
		})
	}
}

// How a cluster's agents are told apart: the bean carries the broker's id on both.
func TestBrokersSayTheirID(t *testing.T) {
	for release, s := range eachKind {
		t.Run(release, func(t *testing.T) {
			ctx, b, a, _ := s.get(t)
			node, clusterID, err := askNode(ctx, b.JolokiaURL())
			ids, idErr := a.BrokerIDs(ctx)
			row := b.Row()
			if err != nil || idErr != nil || clusterID != row.ClusterID || len(ids) != 1 || node.ID != ids[0] || node.Release != release || node.StartTimeMs != row.StartTimeMs {
				t.Errorf("%+v of %s, %v; metadata has %v, %v", node, clusterID, err, ids, idErr)
			}
		})
	}
}

func number(n int64) measure.Counter { return measure.Counter{State: measure.Number, Value: n} }

func TestAttachToARealBroker(t *testing.T) {
	for release, s := range eachKind {
		t.Run(release, func(t *testing.T) {
			ctx, b, a, _ := s.get(t)
			with, err := Attach(ctx, b.Addresses(), b.JolokiaURL(), s.tier)
			if err != nil {
				t.Fatal(err)
			}
			got, want := with.Row(), b.Row()
			if got.Release != want.Release || got.Commit != want.Commit || got.ClusterID != want.ClusterID || got.StartTimeMs != want.StartTimeMs ||
				got.VersionTags != want.VersionTags || got.FetchConverts != want.FetchConverts || got.Provider != ProviderAttached || got.PID != 0 {
				t.Errorf("attached %+v, own %+v", got, want)
			}
			without, err := Attach(ctx, b.Addresses(), "", s.tier)
			if err != nil {
				t.Fatal(err)
			}
			if got := without.Row(); got.Release != Unknown || got.JolokiaURL != "" || got.ClusterID != want.ClusterID || got.FetchConverts != want.FetchConverts {
				t.Errorf("without Jolokia %+v", got)
			}
			e := NewObserver(without, a).Evidence(ctx, pin.Produce, "nobody-made-it")
			if e.Requests.State != measure.Unreadable || e.RequestsListed || e.ProduceConversions.State != measure.Unreadable || e.ClusterID != want.ClusterID || e.IdentityWhy == "" || e.OffsetsWhy == "" || e.LogEndOffset != -1 {
				t.Errorf("without Jolokia %+v", e)
			}
			if row := NewObserver(without, a).Recompression(ctx); row.Observed.State != measure.Unreadable || row.Why == "" {
				t.Errorf("a control without Jolokia: %+v", row)
			}
			if err := with.Stop(ctx); err != nil || !measure.Alive(b.PID()) {
				t.Errorf("detaching stopped the broker (%v)", err)
			}
		})
	}
}

func TestJolokiaOfAnotherBroker(t *testing.T) {
	ctx, b, _, _ := modern.get(t)
	_, other, _, _ := legacy.get(t) // the two run side by side
	if _, err := Attach(ctx, b.Addresses(), other.JolokiaURL(), 1); err == nil {
		t.Error("attached to one broker with the Jolokia of another")
	}
}
