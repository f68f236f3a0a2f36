package franz

import (
	"fmt"
	"os"
	"runtime"
	"testing"

	"protocolbench/internal/broker"
)

// TestMain gives the tests what Serve gives a worker: one P. Frames per flush are exact only there.
func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)
	running.brokers, running.broken = map[string]broker.Broker{}, map[string]error{}
	code := m.Run()
	if err := stopBrokers(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
