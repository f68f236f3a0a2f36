// Package admin does to a broker what is not measured: topics, offsets, deletions, seeding and reading back.
//
// None of its connections are counted on the wire. What it sends outside of Produce and Fetch never matters to a guard; Fill, Fetch and
// ReadBack move the broker's counts of Produce and Fetch, so they belong outside a block's bracket: Fill before it opens, ReadBack
// after the closing evidence has been taken.
package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// partition is the one partition that most of our topics have, and which stands for the others where all have one leader.
const partition = 0

const adminClientID = "protocolbench-admin"

// answerTimeout bounds one administrative request. A broker that is up answers in milliseconds; the longest is the creation of a topic.
const answerTimeout = 15 * time.Second

// Admin talks to one cluster. It may be used by several goroutines.
type Admin struct {
	addresses []string
	client    *kgo.Client
	kadm      *kadm.Client
	// listed are settings that topics get because this cluster is known to list them; nil until LearnSettings.
	listed atomic.Pointer[map[string]string]
}

// New connects to a cluster. Nothing that listens, or something that isn't Kafka, is an error within a few seconds.
func New(ctx context.Context, addresses []string) (*Admin, error) {
	if len(addresses) == 0 {
		return nil, errors.New("no broker address given: give HOST:PORT")
	}
	if err := anyListens(ctx, addresses); err != nil {
		return nil, err
	}
	// Topic ids (Produce 13, Fetch 13 and later) are of no use here, and kgo asks a broker below 4.4 twice for ApiVersions 5.
	versions := kversion.Stable()
	versions.SetMaxKeyVersion(int16(kmsg.ApiVersions), 4)
	versions.SetMaxKeyVersion(int16(kmsg.Produce), 8)
	versions.SetMaxKeyVersion(int16(kmsg.Fetch), 11)
	client, err := kgo.NewClient(
		kgo.SeedBrokers(addresses...),
		kgo.ClientID(adminClientID),
		kgo.MaxVersions(versions),
		kgo.DialTimeout(3*time.Second),
		kgo.RequestRetries(3),
		kgo.RetryTimeout(answerTimeout),
		kgo.MetadataMinAge(10*time.Millisecond),
		kgo.DisableClientMetrics(),
	)
	if err != nil {
		return nil, fmt.Errorf("cannot make an administrative client for %v: %w", addresses, err)
	}
	a := &Admin{addresses: addresses, client: client, kadm: kadm.NewClient(client)}
	asking, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := a.apiVersions(asking); err != nil {
		a.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("what listens at %v does not answer as a Kafka broker without TLS does: %w", addresses, err)
	}
	return a, nil
}

// anyListens dials first: kgo would go on trying, and its errors name its own settings.
func anyListens(ctx context.Context, addresses []string) error {
	var failures []error
	for _, address := range addresses {
		dialer := net.Dialer{Timeout: 3 * time.Second}
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		failures = append(failures, err)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("no broker can be reached: %w; check the address, and that the broker runs", errors.Join(failures...))
}

// Close ends the connections.
func (a *Admin) Close() { a.client.Close() }

// Advertised is the range of versions that the broker says it supports of one API.
func (a *Admin) Advertised(ctx context.Context, key int16) (minVersion, maxVersion int, err error) {
	response, err := a.apiVersions(ctx)
	if err != nil {
		return 0, 0, err
	}
	for _, api := range response.ApiKeys {
		if api.ApiKey == key {
			return int(api.MinVersion), int(api.MaxVersion), nil
		}
	}
	return 0, 0, fmt.Errorf("the broker at %v does not advertise %s (key %d) at all", a.addresses, kmsg.NameForKey(key), key)
}

func (a *Admin) apiVersions(ctx context.Context) (*kmsg.ApiVersionsResponse, error) {
	request := kmsg.NewPtrApiVersionsRequest()
	request.ClientSoftwareName, request.ClientSoftwareVersion = "protocolbench", "1"
	response, err := request.RequestWith(ctx, a.client)
	if err == nil {
		err = kerr.ErrorForCode(response.ErrorCode)
	}
	if err != nil {
		return nil, fmt.Errorf("asking for ApiVersions: %w", err)
	}
	return response, nil
}

// ClusterID is the cluster's identity by Kafka's own protocol. A cluster without a live broker is an error.
func (a *Admin) ClusterID(ctx context.Context) (string, error) {
	metadata, err := a.kadm.BrokerMetadata(ctx)
	switch {
	case err != nil:
		return "", fmt.Errorf("asking for metadata: %w", err)
	case len(metadata.Brokers) == 0:
		return "", errors.New("the metadata lists no live broker")
	case metadata.Cluster == "":
		return "", errors.New("the metadata has no cluster id")
	}
	return metadata.Cluster, nil
}

// BrokerIDs are the live brokers that the cluster's metadata lists.
func (a *Admin) BrokerIDs(ctx context.Context) ([]int, error) {
	metadata, err := a.kadm.BrokerMetadata(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking for metadata: %w", err)
	}
	var ids []int
	for _, b := range metadata.Brokers {
		ids = append(ids, int(b.NodeID))
	}
	return ids, nil
}

// Leader is the broker that leads a topic's partition.
func (a *Admin) Leader(ctx context.Context, topic string) (int, error) {
	metadata, err := a.kadm.Metadata(ctx, topic)
	if err != nil {
		return 0, fmt.Errorf("asking for the leader of %s: %w", topic, err)
	}
	detail := metadata.Topics[topic]
	p, ok := detail.Partitions[partition]
	if err := errors.Join(detail.Err, p.Err); err != nil || !ok || p.Leader < 0 {
		return 0, fmt.Errorf("the metadata names no leader of topic %s: %w", topic, cmp.Or(err, error(kerr.LeaderNotAvailable)))
	}
	return int(p.Leader), nil
}

// CreateTopic makes a topic of one partition and one replica, both given: 1.1.0 knows no defaults (-1). It returns when the partition has a
// leader. Configs go before the settings that all topics are given here.
func (a *Admin) CreateTopic(ctx context.Context, name string, configs map[string]string) error {
	values := map[string]*string{}
	for key, value := range a.Settings(configs) {
		values[key] = &value
	}
	response, err := a.kadm.CreateTopic(ctx, 1, 1, values, name)
	if err == nil {
		err = response.Err
	}
	if err != nil {
		return fmt.Errorf("cannot create topic %s: %w%s", name, err, said(response.ErrMessage))
	}
	return a.awaitLeaders(ctx, name, 1)
}

// CreateTopicOf makes a topic of several partitions that all have one leader: a client sends one request per leader.
func (a *Admin) CreateTopicOf(ctx context.Context, name string, partitions int, configs map[string]string) error {
	if partitions == 1 {
		return a.CreateTopic(ctx, name, configs)
	}
	ids, err := a.BrokerIDs(ctx)
	if err == nil && len(ids) == 0 {
		err = errors.New("the metadata lists no live broker")
	}
	if err != nil {
		return fmt.Errorf("cannot create topic %s: %w", name, err)
	}
	request := kmsg.NewPtrCreateTopicsRequest()
	request.TimeoutMillis = int32(answerTimeout.Milliseconds())
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, -1, -1 // the assignment says both
	for p := range partitions {
		assigned := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		assigned.Partition, assigned.Replicas = int32(p), []int32{int32(slices.Min(ids))}
		topic.ReplicaAssignment = append(topic.ReplicaAssignment, assigned)
	}
	for key, value := range a.Settings(configs) {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = key, &value
		topic.Configs = append(topic.Configs, config)
	}
	request.Topics = append(request.Topics, topic)
	response, err := request.RequestWith(ctx, a.client)
	if err == nil && len(response.Topics) != 1 {
		err = errors.New("the answer is not about one topic")
	}
	if err == nil {
		err = kerr.ErrorForCode(response.Topics[0].ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("cannot create topic %s of %d partitions: %w", name, partitions, err)
	}
	return a.awaitLeaders(ctx, name, partitions)
}

func (a *Admin) awaitLeaders(ctx context.Context, name string, partitions int) error {
	waiting, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	for {
		lead, err := a.haveLeaders(waiting, name, partitions)
		if lead {
			return nil
		}
		select {
		case <-waiting.Done():
			return fmt.Errorf("topic %s was created and has no leader after %s: %w", name, answerTimeout, errors.Join(err, ctx.Err()))
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (a *Admin) haveLeaders(ctx context.Context, topic string, partitions int) (bool, error) {
	metadata, err := a.kadm.Metadata(ctx, topic)
	if err != nil {
		return false, err
	}
	detail := metadata.Topics[topic]
	lead, faults := 0, detail.Err
	for _, p := range detail.Partitions {
		if p.Err == nil && p.Leader >= 0 {
			lead++
		}
		faults = errors.Join(faults, p.Err)
	}
	if faults != nil || lead != partitions {
		return false, faults
	}
	// Metadata names leaders before they know it themselves: of many partitions some answer a moment later that they lead nothing.
	_, _, err = a.Offsets(ctx, topic)
	return err == nil, err
}

// DeleteTopic deletes a topic. The broker gives the space back within its own delay; a topic that is gone already is no error.
func (a *Admin) DeleteTopic(ctx context.Context, name string) error {
	response, err := a.kadm.DeleteTopic(ctx, name)
	if err == nil {
		err = response.Err
	}
	if err != nil && !errors.Is(err, kerr.UnknownTopicOrPartition) {
		return fmt.Errorf("cannot delete topic %s: %w%s", name, err, said(response.ErrMessage))
	}
	return nil
}

// Offsets are the first offset of a topic's log and the one that follows its last, both summed over its partitions.
func (a *Admin) Offsets(ctx context.Context, topic string) (start, end int64, err error) {
	starts, err := a.kadm.ListStartOffsets(ctx, topic)
	if err != nil {
		return -1, -1, fmt.Errorf("cannot read the first offset of %s: %w", topic, err)
	}
	ends, err := a.kadm.ListEndOffsets(ctx, topic)
	if err != nil {
		return -1, -1, fmt.Errorf("cannot read the end offset of %s: %w", topic, err)
	}
	for of, first := range starts[topic] {
		last, ok := ends.Lookup(topic, of)
		if err := errors.Join(first.Err, last.Err); err != nil || !ok {
			return -1, -1, fmt.Errorf("cannot read the offsets of partition %d of %s: %w", of, topic, cmp.Or(err, error(kerr.UnknownTopicOrPartition)))
		}
		start, end = start+first.Offset, end+last.Offset
	}
	if n := len(starts[topic]); n == 0 || n != len(ends[topic]) {
		return -1, -1, fmt.Errorf("the broker answered no offsets of %s, or not of all its partitions", topic)
	}
	return start, end, nil
}

// DeleteRecords deletes a topic's records before an offset: the planted fault of the log guard.
func (a *Admin) DeleteRecords(ctx context.Context, topic string, offset int64) error {
	var before kadm.Offsets
	before.AddOffset(topic, partition, offset, -1)
	responses, err := a.kadm.DeleteRecords(ctx, before)
	if err == nil {
		err = responses.Error()
	}
	if err != nil {
		return fmt.Errorf("cannot delete the records of %s before %d: %w", topic, offset, err)
	}
	return nil
}

func said(message string) string {
	if message == "" {
		return ""
	}
	return " (" + message + ")"
}
