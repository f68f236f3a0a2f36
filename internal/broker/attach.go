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
	jolokia   string         // the first agent's URL
	agents    map[int]string // by broker id, in a cluster of several
	close     func()
}

// Attach looks at a cluster that the user runs. Nothing that listens, or a Jolokia that doesn't answer as one, is an error within seconds.
// Without Jolokia it works, and the row has neither a Jolokia URL nor a release. A cluster of several brokers has as many URLs, separated by commas.
func Attach(ctx context.Context, addresses []string, jolokiaURLs string, tier int) (Broker, error) {
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
	urls := strings.FieldsFunc(jolokiaURLs, func(r rune) bool { return r == ',' })
	var brokers []int
	if len(urls) > 0 {
		if brokers, err = agentsFit(ctx, a, addresses, urls); err != nil {
			return nil, err
		}
	}
	b := &attached{addresses: addresses, row: record.Broker{
		Kind: record.KindBroker, Tier: tier, Provider: ProviderAttached, Release: Unknown, ClusterID: clusterID, Addresses: addresses,
		// By what it advertises: 4.0 dropped the versions that would need conversion, together with the conversion.
		FetchConverts: oldestFetch < pin.Fetch.Floor,
	}}
	switch {
	case len(urls) > 1:
		err = b.findNodes(ctx, urls, brokers)
	case len(urls) == 1:
		err = b.identify(ctx, urls[0])
	}
	if err != nil {
		return nil, err
	}
	if len(urls) > 0 {
		b.jolokia = urls[0]
	}
	b.row.ReadyNs = time.Since(started).Nanoseconds()
	return b, nil
}

func (b *attached) identify(ctx context.Context, url string) error {
	client := jolokia.New(url, 5*time.Second)
	if err := client.Ping(ctx); err != nil {
		return err
	}
	id, err := decodeIdentity(client.Read(ctx, identityReads))
	if err != nil {
		return fmt.Errorf("what Jolokia at %s is attached to does not answer as a Kafka broker: %w", Redacted(url), err)
	}
	if id.clusterID != b.row.ClusterID {
		return fmt.Errorf("the Jolokia at %s belongs to cluster %s, and the broker at %v to %s: give the URL of the same broker", Redacted(url), id.clusterID, b.addresses, b.row.ClusterID)
	}
	b.row.Release, b.row.Commit, b.row.StartTimeMs = id.release, id.commit, id.startTimeMs
	b.row.JolokiaURL = Redacted(url) // the record is shown to others
	b.row.VersionTags = atLeast(id.release, 2)
	return nil
}

// Redacted is a URL, or several separated by commas, as others may see it: *** stands where a password was.
func Redacted(raw string) string {
	urls := strings.Split(raw, ",")
	for i := range urls {
		urls[i] = redacted(urls[i])
	}
	return strings.Join(urls, ",")
}

func redacted(raw string) string {
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
