package franz

import (
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"protocolbench/internal/driver"
)

// Kafka 4.x advertises Produce v0-v2 and closes the connection on them: a plan says so once for each version, so it is one short sentence.
func TestRefusedVersionIsSaidInShort(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		return nil, errors.New("refused"), true // closes the connection
	})
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = askProduce(t.Context(), client, 0, driver.Open{API: "Produce", Version: 2})
	if err == nil || err.Error() != "the broker advertises Produce v2 but closes the connection on it" {
		t.Errorf("got %v", err)
	}
}
