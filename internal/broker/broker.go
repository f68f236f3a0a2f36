// Package broker starts, attaches to and stops Kafka brokers. Every way of having one gives the same interface.
package broker

import (
	"context"

	"protocolbench/internal/record"
)

// Providers by the name that --broker takes.
const (
	ProviderJVM      = "jvm"
	ProviderAttached = "attached"
	ProviderEmbedded = "embedded"
)

// Broker is a running broker.
type Broker interface {
	// Row describes the broker for the record: provider, release, identity, process, start-up time.
	Row() record.Broker
	// Addresses are the bootstrap addresses, all on 127.0.0.1 except for an attached broker.
	Addresses() []string
	// JolokiaURL is the agent's base URL ("http://127.0.0.1:PORT/jolokia"), or "" where there is none.
	JolokiaURL() string
	// PID is the broker's process on this host, 0 where it isn't ours.
	PID() int
	// LogTail gives the broker's last n log lines.
	LogTail(n int) []string
	// Exited is closed when the broker's process has ended by itself; nil-safe: never closed where there is no process.
	Exited() <-chan struct{}
	// Stop ends the processes this value started and removes its folder. It may be called more than once.
	Stop(ctx context.Context) error
}
