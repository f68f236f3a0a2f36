package admin

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// answerLimitBytes bounds an answer's announced length: more is not Kafka, or not ours.
const answerLimitBytes = 256 << 20

// errClosed: the broker ended the connection where an answer was due.
var errClosed = errors.New("the broker closed the connection")

// conn is a bare connection to the leader of our partition, for what kgo's own requests can't do: many Produce requests in flight in a fixed
// order, and versions that kgo would negotiate away. A caller uses one version that every supported broker takes.
type conn struct {
	net       net.Conn
	in        *bufio.Reader
	formatter *kmsg.RequestFormatter
	sent      int32 // correlation id of the next request
	received  int32 // and of the next answer: Kafka answers in order
	stop      func() bool
	// endThrottled makes a throttle time in an answer an error.
	endThrottled bool
}

func formatterOf(clientID string) *kmsg.RequestFormatter {
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID(clientID))
}

// dialLeader connects to the leader of a topic.
func (a *Admin) dialLeader(ctx context.Context, topic string) (*conn, error) {
	metadata, err := a.kadm.Metadata(ctx, topic)
	if err != nil {
		return nil, fmt.Errorf("asking for the leader of %s: %w", topic, err)
	}
	detail := metadata.Topics[topic]
	leader, ok := detail.Partitions[partition]
	if err := errors.Join(detail.Err, leader.Err); err != nil || !ok {
		return nil, fmt.Errorf("topic %s cannot be used: %w", topic, errors.Join(err, ctx.Err()))
	}
	for _, b := range metadata.Brokers {
		if b.NodeID == leader.Leader {
			return dial(ctx, net.JoinHostPort(b.Host, fmt.Sprint(b.Port)))
		}
	}
	return nil, fmt.Errorf("the leader of topic %s, broker %d, is not in the metadata", topic, leader.Leader)
}

func dial(ctx context.Context, address string) (*conn, error) {
	dialer := net.Dialer{Timeout: 3 * time.Second}
	c, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot reach the broker: %w", err)
	}
	return &conn{
		net: c, in: bufio.NewReaderSize(c, 64<<10), formatter: formatterOf(adminClientID),
		stop: context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) }),
	}, nil
}

func (c *conn) close() {
	c.stop()
	_ = c.net.Close()
}

// send writes one request; its answer has to be received later, in order.
func (c *conn) send(buffer []byte, request kmsg.Request) ([]byte, error) {
	buffer = c.formatter.AppendRequest(buffer[:0], request, c.sent)
	c.sent++
	_, err := c.net.Write(buffer)
	return buffer, err
}

// receive reads the answer to the oldest request that has none yet.
func (c *conn) receive(response kmsg.Response) error {
	var head [8]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%w instead of answering %s v%d", errClosed, kmsg.NameForKey(response.Key()), response.GetVersion())
		}
		return err
	}
	length, id := int32(binary.BigEndian.Uint32(head[:4])), int32(binary.BigEndian.Uint32(head[4:]))
	if length < 4 || length > answerLimitBytes || id != c.received {
		return fmt.Errorf("not an answer to our request: %d bytes, correlation id %d where %d is due", length, id, c.received)
	}
	c.received++
	body := make([]byte, length-4)
	if _, err := io.ReadFull(c.in, body); err != nil {
		return fmt.Errorf("an answer of %d bytes broke off: %w", length, err)
	}
	if response.IsFlexible() {
		reader := kbin.Reader{Src: body}
		kmsg.SkipTags(&reader)
		body = reader.Src
	}
	return response.ReadFrom(body)
}

// ask sends one request and receives its answer.
func (c *conn) ask(request kmsg.Request, response kmsg.Response) error {
	response.SetVersion(request.GetVersion())
	if _, err := c.send(nil, request); err != nil {
		return err
	}
	return c.receive(response)
}
