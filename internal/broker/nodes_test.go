package broker

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"protocolbench/internal/admin"
	"protocolbench/internal/measure"
	"protocolbench/pin"
)

// fakeAgent answers as the Jolokia of one broker of a cluster: what it counted, and who it is.
type fakeAgent struct {
	id       int
	cluster  string
	release  string
	requests atomic.Int64 // Produce v13
}

func (f *fakeAgent) url(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return server.URL + "/jolokia"
}

func (f *fakeAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var reads []struct{ MBean, Attribute string }
	if json.NewDecoder(r.Body).Decode(&reads) != nil { // it is asked for its version
		fmt.Fprint(w, `{"status":200,"value":{"agent":"2.5.0"}}`)
		return
	}
	var answers []map[string]any
	for _, read := range reads {
		answers = append(answers, map[string]any{"status": 200, "value": f.value(read.MBean, read.Attribute)})
	}
	_ = json.NewEncoder(w).Encode(answers)
}

func (f *fakeAgent) value(bean, attribute string) any {
	switch {
	case bean == nodeBean.MBean:
		return map[string]any{fmt.Sprintf("kafka.server:type=app-info,id=%d", f.id): map[string]any{"Version": f.release}}
	case strings.Contains(bean, "RequestMetrics"):
		return map[string]any{"kafka.network:name=RequestsPerSec,request=Produce,type=RequestMetrics,version=13": map[string]any{"Count": f.requests.Load()}}
	case strings.Contains(bean, "ClusterId"):
		return f.cluster
	case attribute == "version":
		return f.release
	case attribute == "commit-id":
		return "c0ffee"
	case attribute == "StartTime":
		return 1000 + f.id
	}
	return 0
}

// several is a fake cluster of three with an agent for each broker.
func several(t *testing.T) (*kfake.Cluster, []*fakeAgent, []string) {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(3), kfake.ClusterID("three"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	var agents []*fakeAgent
	var urls []string
	for id := range 3 {
		agents = append(agents, &fakeAgent{id: id, cluster: "three", release: "4.4.0"})
		agents[id].requests.Store(int64(100 * (id + 1)))
		urls = append(urls, agents[id].url(t))
	}
	return cluster, agents, urls
}

// The counters and the identity of a block are those of the broker that leads its topic, also after the lead has moved.
func TestCountersAreTheLeaders(t *testing.T) {
	ctx := t.Context()
	cluster, agents, urls := several(t)
	b, err := Attach(ctx, cluster.ListenAddrs()[:1], strings.Join(urls, ","), 1)
	if err != nil {
		t.Fatal(err)
	}
	row := b.Row()
	if len(row.Nodes) != 3 || row.Nodes[2].ID != 2 || row.Nodes[2].StartTimeMs != 1002 || row.Release != "4.4.0" || !row.VersionTags || row.JolokiaURL != urls[0] {
		t.Errorf("row %+v", row)
	}
	a, err := admin.New(ctx, b.Addresses())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := a.CreateTopic(ctx, "t", nil); err != nil {
		t.Fatal(err)
	}
	o := NewObserver(b, a)
	for _, leader := range []int{2, 0, 1} {
		if err := cluster.MoveTopicPartition("t", 0, int32(leader)); err != nil {
			t.Fatal(err)
		}
		settles(func() bool { // metadata is kept for 10 ms
			now, err := a.Leader(ctx, "t")
			return err == nil && now == leader
		})
		agents[leader].requests.Add(7)
		want := measure.Counter{State: measure.Number, Value: int64(100*(leader+1) + 7)}
		e := o.Evidence(ctx, pin.Produce, "t")
		if e.Leader == nil || *e.Leader != leader || e.RequestsByVersion[13] != want || e.StartTimeMs != int64(1000+leader) || e.IdentityWhy != "" {
			t.Errorf("led by %d: %+v", leader, e)
		}
		if byVersion, _, listed := o.RequestCountOn(ctx, pin.Produce, "t"); !listed || byVersion[13] != want {
			t.Errorf("led by %d: counted %v", leader, byVersion)
		}
	}
	if _, all, listed := o.RequestCount(ctx, pin.Produce); listed || all.State != measure.Unreadable {
		t.Errorf("whose count is %+v?", all)
	}
	if e := o.Evidence(ctx, pin.Produce, "nobody-made-it"); e.RequestsListed || e.Requests.State != measure.Unreadable || !strings.Contains(e.Requests.Why, "whose counters") {
		t.Errorf("a topic without a leader has %+v", e.Requests)
	}
}

// Agents that don't speak for the whole cluster, or speak for another, are refused with what to do.
func TestAgentsOfSeveralBrokers(t *testing.T) {
	cluster, agents, urls := several(t)
	attach := func(urls ...string) error {
		b, err := Attach(t.Context(), cluster.ListenAddrs(), strings.Join(urls, ","), 1)
		if err == nil {
			_ = b.Stop(context.Background())
		}
		return err
	}
	for _, test := range []struct {
		name   string
		change func()
		urls   []string
		want   string
	}{
		{"all", func() {}, urls, ""},
		{"in another order", func() {}, []string{urls[2], urls[0], urls[1]}, ""},
		{"one", func() {}, urls[:1], "has 3 brokers, and Jolokia shows the JVM of one: give the URLs of all"},
		{"two", func() {}, urls[:2], "broker 2 of the cluster at"},
		{"one of them twice", func() {}, []string{urls[0], urls[1], urls[1]}, "both belong to broker 1"},
		{"four", func() {}, append(urls[:3:3], urls[0]), "4 Jolokia URLs were given"},
		{"another cluster's", func() { agents[1].cluster = "four" }, urls, "belongs to cluster four"},
		{"another release", func() { agents[1].cluster, agents[2].release = "three", "4.3.0" }, urls, "attach to a cluster of one release"},
	} {
		test.change()
		if err := attach(test.urls...); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

func TestRedactedURLs(t *testing.T) {
	if got := Redacted("http://a:1/jolokia,http://u:secret@b:2/jolokia"); got != "http://a:1/jolokia,http://u:***@b:2/jolokia" {
		t.Errorf("got %q", got)
	}
}
