package franz

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"protocolbench/internal/codec"
	"protocolbench/internal/shape"
)

// memoryBroker answers ApiVersions, Metadata, InitProducerID and Produce for tier 0, each inside the Write that carries the
// request: no goroutine and no socket of its own stand in the measurement. kfake is for tests and would be most of the cost here.
type memoryBroker struct {
	shape shape.Shape
	names map[[16]byte]string

	mu      sync.Mutex
	stored  map[int16][]byte // whole answers to Produce by version, correlation id to be filled in
	capture bool
	frame   []byte // the newest Produce frame, while capture is on
}

// memoryNode is the broker's only node.
const memoryNode = 1

func newMemoryBroker(s shape.Shape) *memoryBroker {
	b := &memoryBroker{shape: s, names: map[[16]byte]string{}, stored: map[int16][]byte{}}
	for t := range s.Topics {
		b.names[codec.TopicID(t)] = codec.TopicName(t)
	}
	return b
}

func (b *memoryBroker) dial(context.Context, string, string) (net.Conn, error) {
	c := &memoryConn{broker: b}
	c.wake.L = &c.mu
	return c, nil
}

// captured runs what sends and gives the last Produce frame that was written meanwhile.
func (b *memoryBroker) captured(send func() error) ([]byte, error) {
	b.mu.Lock()
	b.capture, b.frame = true, nil
	b.mu.Unlock()
	err := send()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.capture = false
	if err == nil && b.frame == nil {
		err = errors.New("no Produce request reached the connection")
	}
	return b.frame, err
}

// answer appends the answer to one request frame.
func (b *memoryBroker) answer(dst, frame []byte) ([]byte, error) {
	if key := int16(binary.BigEndian.Uint16(frame[4:])); key == keyProduce {
		return b.produced(dst, frame)
	}
	request, err := readRequest(frame)
	if err != nil {
		return nil, err
	}
	resp := request.message.ResponseKind()
	switch resp := resp.(type) {
	case *kmsg.ApiVersionsResponse:
		fillVersions(resp)
	case *kmsg.MetadataResponse:
		b.fillMetadata(resp)
	case *kmsg.InitProducerIDResponse:
		resp.ProducerID = 1
	default:
		return nil, fmt.Errorf("the in-memory broker has no %s", kmsg.NameForKey(request.key))
	}
	return appendAnswer(dst, request.correlation, resp), nil
}

// produced is on the measured path: it copies an answer that was made once. It need not read the records.
func (b *memoryBroker) produced(dst, frame []byte) ([]byte, error) {
	version := int16(binary.BigEndian.Uint16(frame[6:]))
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.capture {
		b.frame = append(b.frame[:0], frame...)
	}
	stored, ok := b.stored[version]
	if !ok {
		stored = appendAnswer(nil, 0, b.acknowledge(version))
		b.stored[version] = stored
	}
	at := len(dst)
	dst = append(dst, stored...)
	copy(dst[at+4:], frame[8:12]) // correlation id
	return dst, nil
}

// acknowledge says that every partition has stored its batch.
func (b *memoryBroker) acknowledge(version int16) kmsg.Response {
	resp := kmsg.NewPtrProduceResponse()
	resp.SetVersion(version)
	for t := range b.shape.Topics {
		topic := kmsg.NewProduceResponseTopic()
		topic.Topic, topic.TopicID = codec.TopicName(t), codec.TopicID(t)
		for p := range b.shape.Partitions {
			partition := kmsg.NewProduceResponseTopicPartition()
			partition.Partition = int32(p)
			partition.LogAppendTime = -1
			topic.Partitions = append(topic.Partitions, partition)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp
}

// fillVersions advertises what is answered, each up to the newest version that the client's message package has.
func fillVersions(resp *kmsg.ApiVersionsResponse) {
	for _, req := range []kmsg.Request{
		kmsg.NewPtrProduceRequest(), kmsg.NewPtrMetadataRequest(), kmsg.NewPtrApiVersionsRequest(), kmsg.NewPtrInitProducerIDRequest(),
	} {
		key := kmsg.NewApiVersionsResponseApiKey()
		key.ApiKey, key.MaxVersion = req.Key(), req.MaxVersion()
		resp.ApiKeys = append(resp.ApiKeys, key)
	}
}

func (b *memoryBroker) fillMetadata(resp *kmsg.MetadataResponse) {
	node := kmsg.NewMetadataResponseBroker()
	node.NodeID, node.Host, node.Port = memoryNode, "memory", 9092
	resp.Brokers = append(resp.Brokers, node)
	resp.ControllerID = memoryNode
	cluster := "in-memory"
	resp.ClusterID = &cluster
	for t := range b.shape.Topics {
		topic := kmsg.NewMetadataResponseTopic()
		name := codec.TopicName(t)
		topic.Topic, topic.TopicID = &name, codec.TopicID(t)
		for p := range b.shape.Partitions {
			partition := kmsg.NewMetadataResponseTopicPartition()
			partition.Partition, partition.Leader, partition.LeaderEpoch = int32(p), memoryNode, 0
			partition.Replicas, partition.ISR = []int32{memoryNode}, []int32{memoryNode}
			topic.Partitions = append(topic.Partitions, partition)
		}
		resp.Topics = append(resp.Topics, topic)
	}
}

// request is one parsed request frame.
type request struct {
	key, version int16
	correlation  int32
	message      kmsg.Request
}

func readRequest(frame []byte) (request, error) {
	if len(frame) < 14 {
		return request{}, fmt.Errorf("a request of %d bytes has no whole header", len(frame))
	}
	r := request{
		key:         int16(binary.BigEndian.Uint16(frame[4:])),
		version:     int16(binary.BigEndian.Uint16(frame[6:])),
		correlation: int32(binary.BigEndian.Uint32(frame[8:])),
	}
	r.message = kmsg.RequestForKey(r.key)
	if r.message == nil {
		return request{}, fmt.Errorf("a request with the unknown API key %d", r.key)
	}
	r.message.SetVersion(r.version)
	body := frame[14:]
	if client := int(int16(binary.BigEndian.Uint16(frame[12:]))); client > 0 {
		if client > len(body) {
			return request{}, fmt.Errorf("a request whose client id is cut off")
		}
		body = body[client:]
	}
	if r.message.IsFlexible() {
		if len(body) == 0 || body[0] != 0 {
			return request{}, fmt.Errorf("%s v%d has tagged fields in its header, which nothing here expects", kmsg.NameForKey(r.key), r.version)
		}
		body = body[1:]
	}
	if err := r.message.ReadFrom(body); err != nil {
		return request{}, fmt.Errorf("reading %s v%d: %w", kmsg.NameForKey(r.key), r.version, err)
	}
	return r, nil
}

// appendAnswer writes length, correlation id, the tag section that flexible responses have (but never ApiVersions), and the body.
func appendAnswer(dst []byte, correlation int32, resp kmsg.Response) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint32(dst, uint32(correlation))
	if resp.IsFlexible() && resp.Key() != keyAPIVersions {
		dst = append(dst, 0)
	}
	dst = resp.AppendTo(dst)
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst
}

// memoryConn is the client's end of a connection to the broker. Reads block until there is something, the deadline passes or the
// connection is closed; Close waits for nobody.
type memoryConn struct {
	broker *memoryBroker

	mu       sync.Mutex
	wake     sync.Cond
	request  []byte // the beginning of a frame, if a client writes one in pieces
	answers  []byte
	read     int // of answers
	deadline time.Time
	closed   bool
}

func (c *memoryConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, net.ErrClosed
	}
	stream := p
	if len(c.request) > 0 {
		c.request = append(c.request, p...)
		stream = c.request
	}
	if c.read == len(c.answers) {
		c.answers, c.read = c.answers[:0], 0
	}
	for len(stream) >= 4 {
		length := int(binary.BigEndian.Uint32(stream)) + 4
		if len(stream) < length {
			break
		}
		answers, err := c.broker.answer(c.answers, stream[:length])
		if err != nil {
			return 0, err
		}
		c.answers = answers
		stream = stream[length:]
	}
	c.request = append(c.request[:0], stream...)
	c.wake.Broadcast()
	return len(p), nil
}

func (c *memoryConn) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.read == len(c.answers) {
		if c.closed {
			return 0, io.EOF
		}
		if !c.deadline.IsZero() {
			left := time.Until(c.deadline)
			if left <= 0 {
				return 0, os.ErrDeadlineExceeded
			}
			// Only a read that has to wait pays for a timer.
			timer := time.AfterFunc(left, c.wakeUp)
			c.wake.Wait()
			timer.Stop()
			continue
		}
		c.wake.Wait()
	}
	n := copy(p, c.answers[c.read:])
	c.read += n
	return n, nil
}

func (c *memoryConn) wakeUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wake.Broadcast()
}

func (c *memoryConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.wake.Broadcast()
	return nil
}

func (c *memoryConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	c.wake.Broadcast()
	return nil
}

func (c *memoryConn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetWriteDeadline has nothing to do: a Write never waits.
func (c *memoryConn) SetWriteDeadline(time.Time) error { return nil }

func (c *memoryConn) LocalAddr() net.Addr  { return memoryAddr{} }
func (c *memoryConn) RemoteAddr() net.Addr { return memoryAddr{} }

type memoryAddr struct{}

func (memoryAddr) Network() string { return "memory" }
func (memoryAddr) String() string  { return memoryAddress }
