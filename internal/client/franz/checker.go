package franz

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"protocolbench/internal/wire"
)

const (
	// barrierLimit is how long unacknowledged records have to reach the log.
	barrierLimit = 10 * time.Second
	barrierPause = 200 * time.Microsecond
)

// checker reads log end offsets over a client of its own, left alone and counted as cell -1: the client under test must not be its
// own witness, and its connections must carry nothing but its own traffic.
type checker struct {
	brokers []string
	client  *kgo.Client
	counter *wire.Counter
	places  map[string]place
}

// checking gives the engine's checker for these brokers. All cells of a worker have the same ones.
func (e *Engine) checking(brokers []string) (*checker, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.checker != nil {
		if slices.Equal(e.checker.brokers, brokers) {
			return e.checker, nil
		}
		return nil, fmt.Errorf("this worker is connected to %q: open cells on %q in another worker", e.checker.brokers, brokers)
	}
	c := &checker{brokers: slices.Clone(brokers), counter: wire.NewCounter(), places: map[string]place{}}
	client, err := newClient(c.counter, dialTCP(),
		kgo.SeedBrokers(brokers...), kgo.DisableClientMetrics(), kgo.MetadataMaxAge(metadataAge), kgo.ConnIdleTimeout(idle))
	if err != nil {
		return nil, fmt.Errorf("checking client for %q: %w", brokers, err)
	}
	c.client = client
	e.checker = c
	return c, nil
}

// end is the log end offset of the topic, summed over its partitions.
func (c *checker) end(ctx context.Context, topic string) (int64, error) {
	at, ok := c.places[topic]
	if !ok {
		var err error
		if at, err = locate(ctx, c.client, topic); err != nil {
			return 0, err
		}
		c.places[topic] = at
	}
	ctx, cancel := context.WithTimeout(ctx, barrierLimit)
	defer cancel()
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	asked := kmsg.NewListOffsetsRequestTopic()
	asked.Topic = topic
	for of := range at.partitions {
		partition := kmsg.NewListOffsetsRequestTopicPartition()
		partition.Partition, partition.Timestamp = int32(of), -1 // the end
		asked.Partitions = append(asked.Partitions, partition)
	}
	req.Topics = append(req.Topics, asked)
	answer, err := c.client.Broker(int(at.leader)).RetriableRequest(ctx, req)
	if err != nil {
		return 0, fmt.Errorf("reading the end of topic %s: %w", topic, err)
	}
	resp := answer.(*kmsg.ListOffsetsResponse)
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != at.partitions {
		return 0, fmt.Errorf("reading the end of topic %s: the answer has another topic, or other partitions", topic)
	}
	var sum int64
	for i := range resp.Topics[0].Partitions {
		p := &resp.Topics[0].Partitions[i]
		if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
			return 0, fmt.Errorf("reading the end of partition %d of topic %s: %w", p.Partition, topic, err)
		}
		sum += p.Offset
	}
	return sum, nil
}

// await is the barrier of unacknowledged records: it reads the end until it has reached want, and returns what it was.
func (c *checker) await(ctx context.Context, topic string, want int64) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, barrierLimit)
	defer cancel()
	for {
		end, err := c.end(ctx, topic)
		if err != nil || end >= want {
			return end, err
		}
		select {
		case <-ctx.Done():
			return end, fmt.Errorf("topic %s ends at offset %d, %d were sent without acknowledgement and should end at %d; they did not within %v: the broker lost or refused them",
				topic, end, want-end, want, barrierLimit)
		case <-time.After(barrierPause):
		}
	}
}
