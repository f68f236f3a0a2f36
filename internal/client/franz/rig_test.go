package franz

import (
	"context"
	"errors"
	"os/exec"
	"sync"
	"testing"

	"protocolbench/internal/admin"
	"protocolbench/internal/broker"
)

// A broker takes seconds to start: each release is started once, by the first test that needs it, and stopped by TestMain.
var running struct {
	sync.Mutex
	brokers map[string]broker.Broker
	broken  map[string]error
}

// modern is the tier 1 broker, legacy the tier 2 one, embedded the one without a JVM.
func modern(t *testing.T) rig { return real(t, "4.4.0", 1) }
func legacy(t *testing.T) rig { return real(t, "1.1.0", 2) }

func embedded(t *testing.T) rig {
	t.Helper()
	return connect(t, "embedded", func() (broker.Broker, error) { return broker.StartEmbedded(context.Background(), 1) })
}

func real(t *testing.T, release string, tier int) rig {
	t.Helper()
	for _, program := range []string{"java", "mvn"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("a real Kafka %s needs %s, which is not on the PATH: apt-get install openjdk-17-jre-headless maven", release, program)
		}
	}
	if testing.Short() {
		t.Skipf("Kafka %s takes seconds to start: run without -short", release)
	}
	return connect(t, release, func() (broker.Broker, error) {
		return broker.StartJVM(context.Background(), broker.JVMOptions{Release: release, Tier: tier})
	})
}

func connect(t *testing.T, name string, start func() (broker.Broker, error)) rig {
	t.Helper()
	running.Lock()
	defer running.Unlock()
	if err := running.broken[name]; err != nil {
		t.Fatalf("broker %s did not start for an earlier test: %v", name, err)
	}
	b, ok := running.brokers[name]
	if !ok {
		var err error
		if b, err = start(); err != nil {
			running.broken[name] = err
			t.Fatal(err)
		}
		running.brokers[name] = b
	}
	a, err := admin.New(context.Background(), b.Addresses())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return rig{addresses: b.Addresses(), admin: a, observer: broker.NewObserver(b, a)}
}

func stopBrokers() error {
	running.Lock()
	defer running.Unlock()
	var faults []error
	for _, b := range running.brokers {
		faults = append(faults, b.Stop(context.Background()))
	}
	return errors.Join(faults...)
}
