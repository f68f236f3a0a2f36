package franz

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"

	"protocolbench/internal/bank"
	"protocolbench/internal/shape"
)

// memoryBroker answers ApiVersions, Metadata, InitProducerID, Produce and Fetch for tier 0, each inside the Write that carries the
// request: no goroutine and no socket of its own stand in the measurement. kfake is for tests and would be most of the cost here.
type memoryBroker struct {
	shape shape.Shape
	names map[[16]byte]string
	// fetched gives the body that answers a Fetch; nil: none is answered.
	fetched func(version int) ([]byte, error)

	// written is called when a Produce request is on the connection; nil: nobody asks.
	written func()

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
		b.names[bank.TopicID(t)] = bank.TopicName(s, t)
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

// answer appends the answer to one request frame, as far as it isn't in body: responses to Fetch are long, and never changed.
func (b *memoryBroker) answer(dst, frame []byte) (answers, body []byte, err error) {
	switch key := int16(binary.BigEndian.Uint16(frame[4:])); {
	case key == keyProduce:
		dst, err = b.produced(dst, frame)
		return dst, nil, err
	case key == keyFetch && b.fetched != nil:
		version := int(int16(binary.BigEndian.Uint16(frame[6:])))
		if body, err = b.fetched(version); err != nil {
			return nil, nil, err
		}
		return bank.AppendHead(dst, version, int32(binary.BigEndian.Uint32(frame[8:])), len(body)), body, nil
	}
	dst, err = b.told(dst, frame)
	return dst, nil, err
}

// told answers what is asked before anything is measured.
func (b *memoryBroker) told(dst, frame []byte) ([]byte, error) {
	request, err := readRequest(frame)
	if err != nil {
		return nil, err
	}
	resp := request.message.ResponseKind()
	switch resp := resp.(type) {
	case *kmsg.ApiVersionsResponse:
		fillVersions(resp)
		if b.shape.Transactional {
			fillFeatures(resp)
		}
	case *kmsg.MetadataResponse:
		b.fillMetadata(resp)
	case *kmsg.InitProducerIDResponse:
		resp.ProducerID = 1
	case *kmsg.FindCoordinatorResponse:
		fillCoordinator(resp, request.message.(*kmsg.FindCoordinatorRequest))
	case *kmsg.AddPartitionsToTxnResponse:
		fillAdded(resp, request.message.(*kmsg.AddPartitionsToTxnRequest))
	case *kmsg.EndTxnResponse:
	default:
		return nil, fmt.Errorf("the in-memory broker has no %s", kmsg.NameForKey(request.key))
	}
	return appendAnswer(dst, request.correlation, resp), nil
}

// produced is on the measured path: it copies an answer that was made once. It need not read the records.
func (b *memoryBroker) produced(dst, frame []byte) ([]byte, error) {
	version := int16(binary.BigEndian.Uint16(frame[6:]))
	if b.written != nil {
		b.written()
	}
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
		topic.Topic = bank.TopicName(b.shape, t)
		acknowledgeByID(&topic, bank.TopicID(t))
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
		kmsg.NewPtrProduceRequest(), kmsg.NewPtrFetchRequest(), kmsg.NewPtrMetadataRequest(), kmsg.NewPtrApiVersionsRequest(), kmsg.NewPtrInitProducerIDRequest(),
		kmsg.NewPtrFindCoordinatorRequest(), kmsg.NewPtrEndTxnRequest(),
	} {
		key := kmsg.NewApiVersionsResponseApiKey()
		key.ApiKey, key.MaxVersion = req.Key(), req.MaxVersion()
		resp.ApiKeys = append(resp.ApiKeys, key)
	}
	key := kmsg.NewApiVersionsResponseApiKey()
	key.ApiKey, key.MaxVersion = kmsg.NewPtrAddPartitionsToTxnRequest().Key(), 3 // from v4 on it is brokers that ask
	resp.ApiKeys = append(resp.ApiKeys, key)
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
		name := bank.TopicName(b.shape, t)
		topic.Topic, topic.TopicID = &name, bank.TopicID(t)
		for p := range b.shape.Partitions {
			partition := kmsg.NewMetadataResponseTopicPartition()
			partition.Partition, partition.Leader, partition.LeaderEpoch = int32(p), memoryNode, 0
			partition.Replicas, partition.ISR = []int32{memoryNode}, []int32{memoryNode}
			topic.Partitions = append(topic.Partitions, partition)
		}
		resp.Topics = append(resp.Topics, topic)
	}
}
