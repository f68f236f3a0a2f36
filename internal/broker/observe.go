package broker

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"protocolbench/internal/admin"
	"protocolbench/internal/jolokia"
	"protocolbench/internal/measure"
	"protocolbench/internal/record"
	"protocolbench/pin"
)

// jmxTimeout bounds one bulk read; it takes a few milliseconds.
const jmxTimeout = 10 * time.Second

// Observer reads what the broker itself says about a block.
type Observer struct {
	broker Broker
	admin  *admin.Admin
	jmx    *jolokia.Client         // nil without Jolokia
	agents map[int]*jolokia.Client // by broker id, in a cluster of several
	row    record.Broker
}

// NewObserver makes an observer of a running broker.
func NewObserver(b Broker, a *admin.Admin) *Observer {
	o := &Observer{broker: b, admin: a, row: b.Row()}
	if url := b.JolokiaURL(); url != "" {
		o.jmx = jolokia.New(url, jmxTimeout)
	}
	if several, ok := b.(*attached); ok && len(several.agents) > 0 {
		o.agents = map[int]*jolokia.Client{}
		for id, url := range several.agents {
			o.agents[id] = jolokia.New(url, jmxTimeout)
		}
	}
	return o
}

const noJolokia = "this broker has no Jolokia agent"

// Beans of the conversion guard. The all-topics beans are there from the start, a topic's own is made by the first conversion.
const (
	produceConversions = "kafka.server:type=BrokerTopicMetrics,name=ProduceMessageConversionsPerSec"
	fetchConversions   = "kafka.server:type=BrokerTopicMetrics,name=FetchMessageConversionsPerSec"
)

func requestsPattern(api pin.API) jolokia.Attribute {
	return jolokia.Attribute{MBean: "kafka.network:type=RequestMetrics,name=RequestsPerSec,request=" + api.Bean + ",*", Name: "Count"}
}

// read asks the broker that leads a topic; it answers also where there is no agent. leader is nil where there is one broker alone.
func (o *Observer) read(ctx context.Context, topic string, attributes ...jolokia.Attribute) (answers []jolokia.Answer, leader *int) {
	if o.jmx == nil {
		return jolokia.Unread(len(attributes), noJolokia), nil
	}
	if o.agents == nil {
		return o.jmx.Read(ctx, attributes), nil
	}
	id, err := o.admin.Leader(ctx, topic)
	if err != nil {
		return jolokia.Unread(len(attributes), "whose counters to read is unknown: "+err.Error()), nil
	}
	agent, there := o.agents[id]
	if !there {
		return jolokia.Unread(len(attributes), fmt.Sprintf("broker %d, which leads topic %s, joined the cluster after the run began: nobody knows its agent", id, topic)), &id
	}
	return agent.Read(ctx, attributes), &id
}

// RequestCount is how many requests of an API the broker has counted since its start. listed is false when the list of versions could not
// be read: then a version that is not in it is not zero. A broker below 2.0 counts all versions together and lists none.
func (o *Observer) RequestCount(ctx context.Context, api pin.API) (byVersion map[int]measure.Counter, all measure.Counter, listed bool) {
	return o.RequestCountOn(ctx, api, "")
}

// RequestCountOn is the same of the broker that leads a topic. In a cluster of several there is no other: whose count it would be is unknown without one.
func (o *Observer) RequestCountOn(ctx context.Context, api pin.API, topic string) (byVersion map[int]measure.Counter, all measure.Counter, listed bool) {
	answers, _ := o.read(ctx, topic, requestsPattern(api))
	return o.requestCount(answers[0])
}

func (o *Observer) requestCount(answer jolokia.Answer) (byVersion map[int]measure.Counter, all measure.Counter, listed bool) {
	beans, err := answer.Numbers("Count")
	if err != nil {
		return nil, measure.Counter{State: measure.Unreadable, Why: err.Error()}, false
	}
	if !o.row.VersionTags {
		if len(beans) != 1 {
			return nil, measure.Counter{State: measure.Absent, Why: fmt.Sprintf("%d beans, where a broker without version tags has one", len(beans))}, true
		}
		for _, count := range beans {
			all = measure.Counter{State: measure.Number, Value: count}
		}
		return nil, all, true
	}
	// A version's bean is made by its first request, so a list that could be read and is empty says that there was none.
	byVersion, all = map[int]measure.Counter{}, measure.Counter{State: measure.Number}
	for bean, count := range beans {
		version, err := strconv.Atoi(jolokia.Properties(bean)["version"])
		if _, twice := byVersion[version]; err != nil || twice {
			return nil, measure.Counter{State: measure.Unreadable, Why: "a bean without a version of its own: " + bean}, false
		}
		byVersion[version] = measure.Counter{State: measure.Number, Value: count}
		all.Value += count
	}
	return byVersion, all, true
}

// Evidence is everything that the broker says about a block of one API on one topic, all of JMX in one request. ReadBack is left to the
// caller: it fetches, and so comes after the closing evidence.
func (o *Observer) Evidence(ctx context.Context, api pin.API, topic string) record.BrokerEvidence {
	reads := append([]jolokia.Attribute{
		requestsPattern(api),
		{MBean: produceConversions, Name: "Count"},
		{MBean: fetchConversions, Name: "Count"},
		{MBean: produceConversions + ",topic=" + topic, Name: "Count"},
		{MBean: fetchConversions + ",topic=" + topic, Name: "Count"},
	}, identityReads...)
	answers, leader := o.read(ctx, topic, reads...)
	e := record.BrokerEvidence{
		Leader:                  leader,
		ProduceConversions:      answers[1].Counter(),
		FetchConversions:        answers[2].Counter(),
		TopicProduceConversions: answers[3].Counter(),
		TopicFetchConversions:   answers[4].Counter(),
	}
	e.RequestsByVersion, e.Requests, e.RequestsListed = o.requestCount(answers[0])

	var err error
	if e.LogStartOffset, e.LogEndOffset, err = o.admin.Offsets(ctx, topic); err != nil {
		e.LogStartOffset, e.LogEndOffset, e.OffsetsWhy = -1, -1, err.Error()
	}
	if o.jmx != nil {
		id, err := decodeIdentity(answers[5:])
		e.Release, e.Commit, e.ClusterID, e.StartTimeMs = id.release, id.commit, id.clusterID, id.startTimeMs
		if err != nil {
			e.IdentityWhy = err.Error()
		}
		return e
	}
	e.IdentityWhy = noJolokia + ": the cluster id is known by Kafka's metadata; release, commit and start time are not"
	if e.ClusterID, err = o.admin.ClusterID(ctx); err != nil {
		e.IdentityWhy = err.Error()
	}
	return e
}

// identity is who a broker is.
type identity struct {
	release, commit, clusterID string
	startTimeMs                int64
}

var identityReads = []jolokia.Attribute{
	{MBean: "kafka.server:type=app-info", Name: "version"},
	{MBean: "kafka.server:type=app-info", Name: "commit-id"},
	{MBean: "kafka.server:type=KafkaServer,name=ClusterId", Name: "Value"},
	{MBean: "java.lang:type=Runtime", Name: "StartTime"},
}

func decodeIdentity(answers []jolokia.Answer) (id identity, err error) {
	var faults []error
	for i, text := range []*string{&id.release, &id.commit, &id.clusterID} {
		if *text, err = answers[i].Text(); err != nil {
			faults = append(faults, fmt.Errorf("%s %s: %w", identityReads[i].MBean, identityReads[i].Name, err))
		}
	}
	start := answers[3].Counter()
	if id.startTimeMs = start.Value; start.State != measure.Number {
		faults = append(faults, fmt.Errorf("%s %s: %s", identityReads[3].MBean, identityReads[3].Name, start.Why))
	}
	return id, errors.Join(faults...)
}

// describe makes the row of a broker that has become ready.
func (j *jvm) describe(ctx context.Context, started time.Time) error {
	id, err := decodeIdentity(jolokia.New(j.JolokiaURL(), jmxTimeout).Read(ctx, identityReads))
	if err != nil {
		return fmt.Errorf("the broker %s does not say who it is: %w", j.release.Number, err)
	}
	if id.release != j.release.Number {
		return fmt.Errorf("the broker calls itself release %s, and %s was asked for: delete %s, and it will be fetched again", id.release, j.release.Number, j.jars)
	}
	j.row = record.Broker{
		Kind: record.KindBroker, Tier: j.options.Tier, Provider: ProviderJVM,
		Release: id.release, Commit: id.commit, ClusterID: id.clusterID, StartTimeMs: id.startTimeMs,
		Addresses: j.Addresses(), JolokiaURL: j.JolokiaURL(), PID: j.PID(),
		ReadyNs: time.Since(started).Nanoseconds(), Java: j.java.version,
		VersionTags: atLeast(id.release, 2), FetchConverts: !atLeast(id.release, 4),
	}
	return nil
}

// atLeast tells whether a release number's first part is at least major.
func atLeast(release string, major int) bool {
	first, _, _ := strings.Cut(release, ".")
	n, err := strconv.Atoi(first)
	return err == nil && n >= major
}
