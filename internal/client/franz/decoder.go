package franz

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"protocolbench/internal/bank"
	"protocolbench/internal/driver"
	"protocolbench/internal/shape"
)

// decoder is the client's exported decode path, which its own fetching goes, too: kmsg reads the response, kgo the records in it.
type decoder struct {
	open         driver.Open
	decompressor kgo.Decompressor
	isolation    kgo.IsolationLevel
	names        map[[16]byte]string // from v13 on a client finds the name by id
	topics       map[string]int
	moved        error // the error that a response may have; nil: none
	tally        tally
}

func newDecoder(open driver.Open) decoder {
	d := decoder{open: open, decompressor: kgo.DefaultDecompressor(), isolation: kgo.ReadUncommitted(),
		names: map[[16]byte]string{}, topics: map[string]int{}}
	if open.Shape.Aborted > 0 {
		d.isolation = kgo.ReadCommitted()
	}
	if open.Shape.Answer == shape.AnswerError {
		d.moved = kerr.NotLeaderForPartition
	}
	for t := range open.Shape.Topics {
		name := bank.TopicName(open.Shape, t)
		d.names[bank.TopicID(t)], d.topics[name] = name, t
	}
	return d
}

// read is the frame of one response through the client's code.
func (d *decoder) read(body []byte) (*kmsg.FetchResponse, error) {
	resp := kmsg.NewPtrFetchResponse()
	resp.SetVersion(int16(d.open.Version))
	if err := resp.ReadFrom(body); err != nil {
		return nil, fmt.Errorf("%s: the client can't read the response: %w", named(d.open), err)
	}
	return resp, nil
}

// records decodes what a response that was read has in its partitions.
func (d *decoder) records(resp *kmsg.FetchResponse, see func(*kgo.FetchPartition, string)) error {
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return fmt.Errorf("%s: the client reads an error: %w", named(d.open), err)
	}
	for i := range resp.Topics {
		topic := &resp.Topics[i]
		name := topic.Topic
		if d.open.Version >= 13 {
			name = d.names[topic.TopicID]
		}
		for j := range topic.Partitions {
			opts := kgo.ProcessFetchPartitionOpts{Topic: name, Partition: topic.Partitions[j].Partition, IsolationLevel: d.isolation}
			p, _ := kgo.ProcessFetchPartition(opts, &topic.Partitions[j], d.decompressor, nil)
			if p.Err != d.moved {
				return fmt.Errorf("%s: topic %s, partition %d: the client says %v where %v belongs", named(d.open), name, p.Partition, p.Err, d.moved)
			}
			see(&p, name)
		}
	}
	return nil
}

// touch is what the clock may see of a partition.
func (d *decoder) touch(p *kgo.FetchPartition, _ string) {
	for _, r := range p.Records {
		d.tally.touch(r)
	}
	if d.open.Shape.Polls() {
		d.tally.answered(p.Err)
	}
}

// hash covers everything that one response says.
func (d *decoder) hash(resp *kmsg.FetchResponse) (driver.Hashed, error) {
	hasher := shape.NewHasher()
	n := 0
	err := d.records(resp, func(p *kgo.FetchPartition, name string) {
		if d.open.Shape.Polls() {
			code := 0
			if told, ok := p.Err.(*kerr.Error); ok {
				code = int(told.Code)
			}
			bank.Say(hasher, d.topics[name], int(p.Partition), code, p.HighWatermark)
			n++
		}
		for _, r := range p.Records {
			hasher.Add(n, shaped(r, d.open.BaseTimestampMs))
			n++
		}
	})
	if err != nil {
		return driver.Hashed{}, err
	}
	return driver.Hashed{Records: n, Hash: hasher.Sum64(), Requests: 1}, nil
}
