package cli

import (
	"context"
	"errors"
	"strings"

	"protocolbench/internal/broker"
	"protocolbench/internal/record"
	"protocolbench/tiers"
)

// preflight looks for what the live tiers need before anything is measured: a standard run that finds after ten minutes of tier 0 that there is no
// Java has wasted them.
func preflight(ctx context.Context, config tiers.Config, say func(string)) error {
	for _, tier := range config.Tiers {
		release := config.Kafka
		if tier == 2 {
			release = config.Legacy
		}
		if tier == 0 {
			continue
		}
		if err := preflightTier(ctx, config, tier, release, say); err != nil {
			return err
		}
	}
	return nil
}

func preflightTier(ctx context.Context, config tiers.Config, tier int, release string, say func(string)) error {
	switch {
	case config.Broker == broker.ProviderEmbedded:
		return nil
	case config.Attached():
		attached, err := broker.Attach(ctx, strings.Split(config.Broker, ","), config.Jolokia, tier)
		if err != nil {
			return err
		}
		return errors.Join(config.CheckBroker(attached.Row()), attached.Stop(ctx))
	}
	if err := config.CheckBroker(record.Broker{Tier: tier, Provider: broker.ProviderJVM, Release: release}); err != nil {
		return err
	}
	err := broker.CheckJVM(ctx, broker.JVMOptions{Release: release, Tier: tier, CacheDir: config.CacheDir, Progress: say})
	var missing *broker.Missing
	if config.Broker == "" && errors.As(err, &missing) {
		return nil // nobody asked for a real broker by name: the run goes on with the embedded one, and says so
	}
	return err
}
