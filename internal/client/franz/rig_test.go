package franz

import (
	"context"
	"os"
	"testing"

	"protocolbench/internal/admin"
)

func modern(t *testing.T) rig {
	t.Helper()
	address := os.Getenv("H3_BROKER")
	if address == "" {
		t.Skip("no broker")
	}
	a, err := admin.New(context.Background(), []string{address})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return rig{[]string{address}, a}
}
