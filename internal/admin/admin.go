// Package admin is the orchestrator's own connection to a broker: topics, offsets, deletions, the seeding of fetch topics and the
// reading back of what was stored. It never measures and never runs inside a block's bracket, with one exception that Produce and Fetch
// counts don't see: ListOffsets.
package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"
)

// requestTimeout bounds one administrative request: brokers here answer in milliseconds.
const requestTimeout = 10 * time.Second

// Admin is one connected client. Its Produce and Fetch stay at versions that name topics (v13 takes ids), which every broker from 1.1 on
// shares.
type Admin struct {
	client    *kgo.Client
	admin     *kadm.Client
	addresses []string
}

// New connects, and fails where no broker answers.
func New(ctx context.Context, addresses []string) (*Admin, error) {
	versions := kversion.Stable()
	versions.SetMaxKeyVersion(0, 8)
	versions.SetMaxKeyVersion(1, 11)
	versions.SetMaxKeyVersion(18, 3)
	client, err := kgo.NewClient(
		kgo.SeedBrokers(addresses...),
		kgo.ClientID("protocolbench-admin"),
		kgo.MaxVersions(versions),
		kgo.DisableClientMetrics(),
		kgo.RequestRetries(2),
		kgo.RetryTimeout(5*time.Second),
		kgo.MetadataMinAge(50*time.Millisecond),
	)
	if err != nil {
		return nil, fmt.Errorf("addresses %v: %w", addresses, err)
	}
	a := &Admin{client: client, admin: kadm.NewClient(client), addresses: addresses}
	ping, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := client.Ping(ping); err != nil {
		client.Close()
		return nil, fmt.Errorf("no Kafka broker answers at %v: %w; check the addresses, and that the broker's advertised listener can be reached from here", addresses, err)
	}
	return a, nil
}

// Close ends the connections.
func (a *Admin) Close() { a.client.Close() }

// CreateTopic makes a topic of one partition and one replica, both by number: 1.1.0 refuses the broker's defaults (-1), which need 2.4.
func (a *Admin) CreateTopic(ctx context.Context, name string, configs map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	values := map[string]*string{}
	for k, v := range configs {
		values[k] = &v
	}
	if _, err := a.admin.CreateTopic(ctx, 1, 1, values, name); err != nil {
		return fmt.Errorf("creating topic %s at %v: %w", name, a.addresses, err)
	}
	return a.waitForLeader(ctx, name)
}

// waitForLeader asks until the topic's partition has a leader: a topic is created before every broker knows of it.
func (a *Admin) waitForLeader(ctx context.Context, name string) error {
	for {
		listed, err := a.admin.ListEndOffsets(ctx, name)
		if err == nil {
			if at, ok := listed.Lookup(name, 0); ok && at.Err == nil {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("topic %s has no leader yet: %w", name, errors.Join(err, ctx.Err()))
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// DeleteTopic deletes a topic; one that isn't there is no error.
func (a *Admin) DeleteTopic(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	answers, err := a.admin.DeleteTopics(ctx, name)
	if err != nil {
		return fmt.Errorf("deleting topic %s at %v: %w", name, a.addresses, err)
	}
	if answer, ok := answers[name]; ok && answer.Err != nil && !isUnknownTopic(answer.Err) {
		return fmt.Errorf("deleting topic %s at %v: %w", name, a.addresses, answer.Err)
	}
	return nil
}

// Offsets are the first offset of partition 0 and the one after its last, by ListOffsets.
func (a *Admin) Offsets(ctx context.Context, topic string) (start, end int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	starts, err := a.admin.ListStartOffsets(ctx, topic)
	if err != nil {
		return -1, -1, fmt.Errorf("the first offset of %s: %w", topic, err)
	}
	ends, err := a.admin.ListEndOffsets(ctx, topic)
	if err != nil {
		return -1, -1, fmt.Errorf("the last offset of %s: %w", topic, err)
	}
	first, ok := starts.Lookup(topic, 0)
	last, also := ends.Lookup(topic, 0)
	if !ok || !also {
		return -1, -1, fmt.Errorf("the broker gave no offsets of %s, partition 0", topic)
	}
	if err := errors.Join(first.Err, last.Err); err != nil {
		return -1, -1, fmt.Errorf("the offsets of %s: %w", topic, err)
	}
	return first.Offset, last.Offset, nil
}

// Advertised is the range of versions of an API that the broker names in its ApiVersions answer; {-1, -1} where it doesn't know the API.
func (a *Admin) Advertised(ctx context.Context, key int16) (low, high int, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	brokers, err := a.admin.ApiVersions(ctx)
	if err != nil {
		return -1, -1, fmt.Errorf("asking %v for its API versions: %w", a.addresses, err)
	}
	for _, b := range brokers.Sorted() {
		if b.Err != nil {
			return -1, -1, fmt.Errorf("asking broker %d for its API versions: %w", b.NodeID, b.Err)
		}
		first, hasMin := b.KeyMinVersion(key)
		last, hasMax := b.KeyMaxVersion(key)
		if hasMin && hasMax {
			return int(first), int(last), nil
		}
	}
	return -1, -1, nil
}

// ClusterID is the cluster's own name for itself.
func (a *Admin) ClusterID(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	metadata, err := a.admin.BrokerMetadata(ctx)
	if err != nil {
		return "", fmt.Errorf("asking %v for the cluster's id: %w", a.addresses, err)
	}
	return metadata.Cluster, nil
}

// DeleteRecords deletes everything before an offset: what a retention would do, on demand.
func (a *Admin) DeleteRecords(ctx context.Context, topic string, before int64) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var offsets kadm.Offsets
	offsets.AddOffset(topic, 0, before, -1)
	answers, err := a.admin.DeleteRecords(ctx, offsets)
	if err == nil {
		err = answers.Error()
	}
	if err != nil {
		return fmt.Errorf("deleting records of %s before offset %d: %w", topic, before, err)
	}
	return nil
}
