package broker

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kversion"

	"protocolbench/internal/admin"
	"protocolbench/internal/record"
)

// StartEmbedded starts kfake in this process: it shows the flow where there is neither Java nor a cluster, and its figures mean nothing. In
// tier 2 it advertises what 1.1.0 does; it never converts, and it has no JMX.
func StartEmbedded(ctx context.Context, tier int) (Broker, error) {
	started := time.Now()
	options := []kfake.Opt{kfake.NumBrokers(1), kfake.ClusterID(newClusterID())}
	if tier == 2 {
		options = append(options, kfake.MaxVersions(kversion.V1_1_0()))
	}
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		return nil, fmt.Errorf("the embedded broker did not start: %w", err)
	}
	b := &attached{addresses: cluster.ListenAddrs(), close: sync.OnceFunc(cluster.Close), row: record.Broker{
		Kind: record.KindBroker, Tier: tier, Provider: ProviderEmbedded, Release: "kfake " + moduleVersion("github.com/twmb/franz-go/pkg/kfake"),
		Addresses: cluster.ListenAddrs(), VersionTags: tier != 2,
	}}
	if b.row.ClusterID, err = clusterID(ctx, b.addresses); err != nil {
		cluster.Close()
		return nil, fmt.Errorf("the embedded broker does not answer: %w", err)
	}
	b.row.ReadyNs = time.Since(started).Nanoseconds()
	return b, nil
}

func clusterID(ctx context.Context, addresses []string) (string, error) {
	a, err := admin.New(ctx, addresses)
	if err != nil {
		return "", err
	}
	defer a.Close()
	return a.ClusterID(ctx)
}

func moduleVersion(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == path {
				return module.Version
			}
		}
	}
	return "(unknown version)"
}
