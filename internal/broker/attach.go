package broker

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"protocolbench/internal/admin"
	"protocolbench/internal/jolokia"
	"protocolbench/internal/record"
	"protocolbench/pin"
)

// Unknown is the release of an attached broker that has no Jolokia: the guards take an empty one for unknown, and any text for a release.
const Unknown = ""

// attached is a broker that the user runs, or (with a cluster to close) the embedded one.
type attached struct {
	row       record.Broker
	addresses []string
	jolokia   string
	close     func()
}

// Attach looks at a cluster that the user runs. Nothing that listens, or a Jolokia that doesn't answer as one, is an error within seconds.
// Without Jolokia it works, and the row has neither a Jolokia URL nor a release.
func Attach(ctx context.Context, addresses []string, jolokiaURL string, tier int) (Broker, error) {
	started := time.Now()
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	a, err := admin.New(ctx, addresses)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	clusterID, err := a.ClusterID(ctx)
	if err != nil {
		return nil, fmt.Errorf("the broker at %v does not say who it is: %w", addresses, err)
	}
	oldestFetch, _, err := a.Advertised(ctx, pin.Fetch.Key)
	if err != nil {
		return nil, err
	}
	if jolokiaURL != "" {
		if err := oneBroker(ctx, a, addresses); err != nil {
			return nil, err
		}
	}
	b := &attached{addresses: addresses, jolokia: jolokiaURL, row: record.Broker{
		Kind: record.KindBroker, Tier: tier, Provider: ProviderAttached, Release: Unknown, ClusterID: clusterID, Addresses: addresses,
		// By what it advertises: 4.0 dropped the versions that would need conversion, together with the conversion.
		FetchConverts: oldestFetch < pin.Fetch.Floor,
	}}
	if jolokiaURL != "" {
		if err := b.identify(ctx); err != nil {
			return nil, err
		}
	}
	b.row.ReadyNs = time.Since(started).Nanoseconds()
	return b, nil
}

// oneBroker refuses a cluster that one JVM's metrics can't speak for: a topic may lie on a broker that nobody reads, and its requests would be missed
// as if the client hadn't sent them.
func oneBroker(ctx context.Context, a *admin.Admin, addresses []string) error {
	n, err := a.Brokers(ctx)
	if err != nil {
		return fmt.Errorf("the broker at %v does not say who belongs to its cluster: %w", addresses, err)
	}
	if n > 1 {
		return fmt.Errorf("the cluster at %v has %d brokers, and Jolokia shows the JVM of one: attach to a cluster of one broker, or leave out --jolokia (then nobody can prove what arrived, and the verdict is inconclusive)", addresses, n)
	}
	return nil
}

func (b *attached) identify(ctx context.Context) error {
	client := jolokia.New(b.jolokia, 5*time.Second)
	if err := client.Ping(ctx); err != nil {
		return err
	}
	id, err := decodeIdentity(client.Read(ctx, identityReads))
	if err != nil {
		return fmt.Errorf("what Jolokia at %s is attached to does not answer as a Kafka broker: %w", Redacted(b.jolokia), err)
	}
	if id.clusterID != b.row.ClusterID {
		return fmt.Errorf("the Jolokia at %s belongs to cluster %s, and the broker at %v to %s: give the URL of the same broker", Redacted(b.jolokia), id.clusterID, b.addresses, b.row.ClusterID)
	}
	b.row.Release, b.row.Commit, b.row.StartTimeMs = id.release, id.commit, id.startTimeMs
	b.row.JolokiaURL = Redacted(b.jolokia) // the record is shown to others
	b.row.VersionTags = atLeast(id.release, 2)
	return nil
}

// Redacted is a URL as others may see it: *** stands where its password was.
func Redacted(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "(a URL that cannot be read)"
	}
	if _, secret := u.User.Password(); !secret {
		return raw
	}
	return strings.Replace(u.Redacted(), ":xxxxx@", ":***@", 1) // given to url.UserPassword, the stars would be escaped
}

func (b *attached) Row() record.Broker      { return b.row }
func (b *attached) Addresses() []string     { return b.addresses }
func (b *attached) JolokiaURL() string      { return b.jolokia }
func (b *attached) PID() int                { return 0 }
func (b *attached) LogTail(int) []string    { return nil }
func (b *attached) Exited() <-chan struct{} { return nil } // never ready, which is "never closed"

func (b *attached) Stop(context.Context) error {
	if b.close != nil {
		b.close()
	}
	return nil
}
