package franz

import (
	"os"
	"runtime"
	"testing"
)

// TestMain gives the tests what Serve gives a worker: one P. Frames per flush are exact only there.
func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)
	os.Exit(m.Run())
}
