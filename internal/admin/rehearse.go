package admin

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/twmb/franz-go/pkg/kerr"

	"protocolbench/internal/shape"
)

// Throttled says that the broker held back an answer of ours, or would hold back the next.
type Throttled struct {
	API string
	Ms  int32
}

func (e *Throttled) Error() string {
	return fmt.Sprintf("the broker throttles: its answer to %s states a throttle time of %d ms", e.API, e.Ms)
}

// Rehearsal does what a client under test is going to do, with requests of this program's own and fixed versions: where it meets an error, the
// broker is the reason, whatever the client would do.
type Rehearsal struct {
	Topic           string
	ClientID        string // quotas may be for this one
	BaseTimestampMs int64
}

// Produce appends batches, waits for each answer, and ends at the first error or throttle time.
func (a *Admin) Produce(ctx context.Context, r Rehearsal, content *shape.Content, recordsPerBatch, batches int) error {
	_, end, err := a.Offsets(ctx, r.Topic)
	if err != nil {
		return err
	}
	c, err := a.rehearsing(ctx, r)
	if err != nil {
		return err
	}
	defer c.close()
	if err := c.fill(r.Topic, content, 0, recordsPerBatch, batches, r.BaseTimestampMs, end, ""); err != nil {
		return errors.Join(err, ctx.Err())
	}
	return nil
}

// Consume sends requests Fetch requests for sizeBytes each from the topic's start on, and gives the bytes of the shortest answer.
func (a *Admin) Consume(ctx context.Context, r Rehearsal, sizeBytes int32, requests int) (shortest int, err error) {
	c, err := a.rehearsing(ctx, r)
	if err != nil {
		return 0, err
	}
	defer c.close()
	for i := range requests {
		batches, err := c.fetchOf(r.Topic, partition, 0, fetchVersion, sizeBytes)
		if err != nil {
			return shortest, errors.Join(err, ctx.Err())
		}
		if i == 0 || len(batches) < shortest {
			shortest = len(batches)
		}
	}
	return shortest, nil
}

func (a *Admin) rehearsing(ctx context.Context, r Rehearsal) (*conn, error) {
	c, err := a.dialLeader(ctx, r.Topic)
	if err != nil {
		return nil, err
	}
	c.formatter = formatterOf(r.ClientID)
	c.endThrottled = true
	return c, nil
}

// throttled is an error only where a throttle time is to end what is being done: seeding a topic may take its time.
func (c *conn) throttled(api string, ms int32) error {
	if c.endThrottled && ms > 0 {
		return &Throttled{api, ms}
	}
	return nil
}

// Remedy names the setting of a broker that an error of its comes from, and what to do about it; "" where the error is none of those.
func Remedy(err error) string {
	for _, known := range remedies {
		if errors.Is(err, known.err) {
			return known.text
		}
	}
	return ""
}

var remedies = []struct {
	err  error
	text string
}{
	{kerr.MessageTooLarge, "max.message.bytes of the topic (message.max.bytes of the broker) is too small for the batches that are to be sent: set it to 1048588 or more"},
	{kerr.RecordListTooLarge, "segment.bytes of the topic (log.segment.bytes of the broker) is smaller than the batches that are to be sent: raise it"},
	{kerr.NotEnoughReplicas, "min.insync.replicas asks for more replicas than the one that a topic of this run has: let topics override it, or set it to 1"},
	{kerr.NotEnoughReplicasAfterAppend, "min.insync.replicas asks for more replicas than the one that a topic of this run has: let topics override it, or set it to 1"},
	{kerr.InvalidTimestamp, "log.message.timestamp.before.max.ms, .after.max.ms or .difference.max.ms refuses records of the present time: lift it, and compare the clocks of the two hosts"},
	{kerr.PolicyViolation, "create.topic.policy.class.name names a policy that refuses topics of one partition and one replica with settings of their own: make an exception for topics protocolbench-*"},
	{kerr.InvalidConfig, "the broker doesn't take one of the settings that are asked for a topic: its words name it"},
	{kerr.InvalidReplicationFactor, "the cluster doesn't take topics of one replica: use a broker that does"},
	{kerr.TopicAuthorizationFailed, "the cluster's authorizer (authorizer.class.name) doesn't let this program use topics protocolbench-*: add ACLs for create, describe, read, write and delete"},
	{kerr.ClusterAuthorizationFailed, "the cluster's authorizer (authorizer.class.name) refuses this program: add ACLs for the cluster"},
	{kerr.UnsupportedCompressionType, "the topic's compression.type can't be answered at this version: set it to producer"},
	{errClosed, closedText},
	{syscall.ECONNRESET, closedText},
	{syscall.EPIPE, closedText},
}

const closedText = "a request longer than socket.request.max.bytes is answered by closing the connection, and so are clients above max.connections or connections.max.idle.ms: raise them"
