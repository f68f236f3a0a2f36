package tiers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"protocolbench/guards"
	"protocolbench/internal/admin"
	"protocolbench/internal/broker"
	"protocolbench/internal/record"
	"protocolbench/internal/shape"
	"protocolbench/pin"
)

// observed is a fake cluster whose brokers count requests as Kafka's JVMs do, and tell it over agents of their own.
type observed struct {
	*kfake.Cluster
	urls []string

	mu     sync.Mutex
	counts map[place]int64
	// keeps are requests of an API that are counted so many readings after they came; for ever where it is below 0.
	keeps map[place]int
}

// place is a broker, a bean's name for an API, and a version.
type place struct {
	node    int
	api     string
	version int
}

func observe(t *testing.T, brokers int) *observed {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(brokers), kfake.ClusterID("observed"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	o := &observed{Cluster: cluster, counts: map[place]int64{}, keeps: map[place]int{}}
	for key, api := range map[int16]string{0: pin.Produce.Bean, 1: pin.Fetch.Bean} {
		cluster.ControlKey(key, func(r kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			o.mu.Lock()
			defer o.mu.Unlock()
			o.counts[place{int(cluster.CurrentNode()), api, int(r.GetVersion())}]++
			return nil, nil, false
		})
	}
	for node := range brokers {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { o.answer(w, r, node) }))
		t.Cleanup(server.Close)
		o.urls = append(o.urls, server.URL+"/jolokia")
	}
	return o
}

func (o *observed) answer(w http.ResponseWriter, r *http.Request, node int) {
	var reads []struct{ MBean, Attribute string }
	if json.NewDecoder(r.Body).Decode(&reads) != nil { // it is asked for its version
		fmt.Fprint(w, `{"status":200,"value":{"agent":"2.5.0"}}`)
		return
	}
	var answers []map[string]any
	for _, read := range reads {
		answers = append(answers, map[string]any{"status": 200, "value": o.value(node, read.MBean, read.Attribute)})
	}
	_ = json.NewEncoder(w).Encode(answers)
}

var ofRequest = regexp.MustCompile(`RequestMetrics.*request=(\w+)`)

func (o *observed) value(node int, bean, attribute string) any {
	if api := ofRequest.FindStringSubmatch(bean); api != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		beans := map[string]any{}
		for at, n := range o.counts {
			if at.node != node || at.api != api[1] {
				continue
			}
			if o.keeps[at] != 0 {
				n--
				o.keeps[at]--
			}
			beans[fmt.Sprintf("kafka.network:name=RequestsPerSec,request=%s,type=RequestMetrics,version=%d", at.api, at.version)] = map[string]any{"Count": n}
		}
		return beans
	}
	switch {
	case strings.Contains(bean, "app-info,id="):
		return map[string]any{fmt.Sprintf("kafka.server:type=app-info,id=%d", node): map[string]any{"Version": "4.4.0"}}
	case strings.Contains(bean, "ClusterId"):
		return "observed"
	case attribute == "version":
		return "4.4.0"
	case attribute == "commit-id":
		return "c0ffee"
	case attribute == "StartTime":
		return 1000 + node
	}
	return 0
}

func (o *observed) live(t *testing.T, now func() time.Time) *live {
	t.Helper()
	b, err := broker.Attach(t.Context(), o.ListenAddrs(), strings.Join(o.urls, ","), 1)
	if err != nil {
		t.Fatal(err)
	}
	a, err := admin.New(t.Context(), b.Addresses())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return &live{broker: b, admin: a, observer: broker.NewObserver(b, a), now: now}
}

// A request that is answered late is counted late, and waited for; one that is never counted is waited for to the limit and no longer.
func TestRequestsThatAreCountedLate(t *testing.T) {
	for name, test := range map[string]struct {
		keeps  int // readings
		agreed bool
	}{"at once": {0, true}, "after four readings": {4, true}, "never": {-1, false}} {
		t.Run(name, func(t *testing.T) {
			o := observe(t, 1)
			clock := time.Unix(0, 0)
			l := o.live(t, func() time.Time { clock = clock.Add(100 * time.Millisecond); return clock })
			if err := l.admin.CreateTopic(t.Context(), "t", nil); err != nil {
				t.Fatal(err)
			}
			_, base := l.counts(t.Context(), pin.Produce, "t")
			content := shape.NewContent(flat("x", 10, 1, 1, 1), 1)
			if err := l.admin.Fill(t.Context(), "t", content, 10, 3, 0); err != nil {
				t.Fatal(err)
			}
			o.keeps[place{0, pin.Produce.Bean, 5}] = test.keeps
			_, settled := l.waitForCounts(t.Context(), pin.Produce, "t", base, map[int]int64{5: 3})
			if settled.agreed != test.agreed || !test.agreed && settled.waited <= settleLimit || test.agreed && settled.waited > settleLimit {
				t.Errorf("%+v", settled)
			}
		})
	}
}

// Two brokers, each with an agent: every block is counted by the leader of its topic. Somebody else's requests to the same broker make a surplus, which proves nothing and refutes nothing.
func TestAttachedClusterOfTwo(t *testing.T) {
	for name, disturbed := range map[string]bool{"alone": false, "with somebody else": true} {
		t.Run(name, func(t *testing.T) {
			o := observe(t, 2)
			c := config(t, []int{1}, "tier1/produce/records=100,acks=all")
			c.Broker, c.Jolokia = strings.Join(o.ListenAddrs(), ","), strings.Join(o.urls, ",")
			c.Versions = map[string][2]int{"produce": {12, 13}}
			if disturbed {
				stop := o.disturb(t)
				defer stop()
			}
			run, v, _ := mustRun(t, c)
			leaders := map[int]bool{}
			for _, b := range run.Families[0].BlockRuns {
				leaders[*b.Open.Broker.Leader] = true
				if *b.Open.Broker.Leader != *b.Close.Broker.Leader || b.Open.Broker.StartTimeMs != int64(1000+*b.Open.Broker.Leader) {
					t.Errorf("fork %d: open %+v, close %+v", b.Fork, b.Open.Broker, b.Close.Broker)
				}
			}
			t.Logf("topics were led by %v", leaders)
			surplus := slices.ContainsFunc(v.Guards, func(f guards.Finding) bool {
				return f.Guard == guards.Pin && f.Outcome == guards.Blind && strings.Contains(f.Why, "somebody else uses the cluster")
			})
			for _, f := range v.Guards {
				if f.Outcome == guards.Fail || f.Guard == guards.Identity && f.Outcome != guards.Pass {
					t.Errorf("%s %s v%d: %s (%s)", f.Guard, f.Family, f.Version, f.Outcome, f.Why)
				}
			}
			if len(run.Brokers[0].Nodes) != 2 || surplus != disturbed {
				t.Errorf("nodes %+v, surplus %v", run.Brokers[0].Nodes, surplus)
			}
			var control record.Control
			for _, c := range run.Controls {
				if c.Control == record.ControlUnpinned {
					control = c
				}
			}
			if !disturbed && !(control.WireObjected && control.BrokerObjected) {
				t.Errorf("the unpinned client: %+v", control)
			}
		})
	}
}

// disturb counts requests of somebody else, on all brokers and at all times.
func (o *observed) disturb(t *testing.T) (stop func()) {
	t.Helper()
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
			o.mu.Lock()
			for node := range o.urls {
				o.counts[place{node, pin.Produce.Bean, 13}]++
			}
			o.mu.Unlock()
		}
	}()
	return func() { close(done); <-ended }
}
