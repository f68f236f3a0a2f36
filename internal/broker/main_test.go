package broker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"protocolbench/compose"
	"protocolbench/internal/admin"
	"protocolbench/internal/measure"
)

// The test binary is also the program that is killed in TestKilledParent.
const victimVariable = "PROTOCOLBENCH_TEST_VICTIM"

func TestMain(m *testing.M) {
	if tier := os.Getenv(victimVariable); tier != "" {
		victim(tier)
		return
	}
	code := m.Run()
	for _, s := range []*shared{modern, legacy} {
		if s.broker != nil {
			if err := s.broker.Stop(context.Background()); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 1
			}
		}
	}
	os.Exit(code)
}

// victim starts a broker, says where it is, and waits to be killed.
func victim(tier string) {
	n, _ := strconv.Atoi(tier)
	b, err := StartJVM(context.Background(), JVMOptions{Tier: n})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	j := b.(*jvm)
	fmt.Println(j.dir)
	for _, p := range j.processes {
		fmt.Println(p.pid())
	}
	fmt.Println("ready")
	select {}
}

// shared is a real broker that the tests of this package use together.
type shared struct {
	tier   int
	once   sync.Once
	broker Broker
	err    error
}

var (
	modern = &shared{tier: 1}
	legacy = &shared{tier: 2}
)

// get starts the broker on first use. Where there is no Java or no Maven the test is skipped, and says what to install.
func (s *shared) get(t *testing.T) (context.Context, Broker, *admin.Admin, *Observer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	s.once.Do(func() {
		_, cpus := measure.SplitCPUs(measure.AllowedCPUs())
		s.broker, s.err = StartJVM(ctx, JVMOptions{Tier: s.tier, CPUs: cpus, Progress: func(line string) { fmt.Fprintln(os.Stderr, line) }})
	})
	skipIfMissing(t, s.err)
	if s.err != nil {
		t.Fatal(s.err)
	}
	a, err := admin.New(ctx, s.broker.Addresses())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return ctx, s.broker, a, NewObserver(s.broker, a)
}

func skipIfMissing(t *testing.T, err error) {
	t.Helper()
	var missing *Missing
	if errors.As(err, &missing) {
		t.Skipf("NOT TESTED on a real broker: %v", missing)
	}
}

// needCache skips tests that start a broker of their own where that isn't possible, and gives its options.
func needCache(t *testing.T, tier int) JVMOptions {
	t.Helper()
	o := JVMOptions{Tier: tier}
	_, err := prepare(context.Background(), o)
	skipIfMissing(t, err)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

var eachKind = map[string]*shared{compose.DefaultRelease: modern, compose.LegacyRelease: legacy}
