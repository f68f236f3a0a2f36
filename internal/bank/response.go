package bank

import (
	"fmt"

	"protocolbench/internal/codec"
	"protocolbench/internal/shape"
)

// What a response tells of a leader that has moved: NOT_LEADER_OR_FOLLOWER, and by whom it was followed (KIP-951).
const (
	errorNotLeader = 6
	newLeader      = 2
	newLeaderEpoch = 7
	newLeaderHost  = "broker-2.protocolbench.invalid"
	newLeaderPort  = 9092

	tagCurrentLeader = 1
	tagNodeEndpoints = 0
)

// transactional is the id of the producer whose transactions are committed or aborted.
const transactional = 4000

// partitionData is what a partition's part of a response says, whatever the version.
type partitionData struct {
	errorCode int16
	end       int64 // high watermark and last stable offset
	aborted   []abortedTransaction
	isolated  bool // a reader of committed records: the list of aborted transactions is there, if empty
	records   []byte
}

type abortedTransaction struct{ producer, first int64 }

// response writes the body of a Fetch response (what follows the response header): of each partition, in order, what it is given.
func response(version int, s shape.Shape, of func(partition int) partitionData) ([]byte, error) {
	if version < MinFetch || version > MaxFetch {
		return nil, fmt.Errorf("a Fetch v%d response can't be written: only v%d to v%d carry record batches of format v2", version, MinFetch, MaxFetch)
	}
	w := &writer{traits: traitsOf(version)}
	w.int32(0) // throttle time
	if w.sessionHeader {
		w.int16(0) // error code
		w.int32(0) // session id: none
	}
	w.length(s.Topics)
	for t := range s.Topics {
		if w.topicIDs {
			id := TopicID(t)
			w.dst = append(w.dst, id[:]...)
		} else {
			w.string(TopicName(s, t))
		}
		w.length(s.Partitions)
		for p := range s.Partitions {
			w.partition(p, of(t*s.Partitions+p))
		}
		w.tags()
	}
	if w.nodeEndpoints && s.Answer == shape.AnswerError {
		w.tagged(tagNodeEndpoints, w.endpoints())
	} else {
		w.tags()
	}
	return w.dst, nil
}

func (w *writer) partition(index int, data partitionData) {
	w.int32(int32(index))
	w.int16(data.errorCode)
	w.int64(data.end) // high watermark
	w.int64(data.end) // last stable offset
	if w.logStartOffset {
		w.int64(min(0, data.end))
	}
	if !data.isolated {
		w.length(-1) // aborted transactions: null for a reader of uncommitted records
	} else {
		w.length(len(data.aborted))
	}
	for _, a := range data.aborted {
		w.int64(a.producer)
		w.int64(a.first)
		w.tags()
	}
	if w.preferredReplica {
		w.int32(-1)
	}
	w.length(len(data.records))
	w.dst = append(w.dst, data.records...)
	if w.flexible && data.errorCode == errorNotLeader {
		leader := &writer{traits: w.traits}
		leader.int32(newLeader)
		leader.int32(newLeaderEpoch)
		leader.tags()
		w.tagged(tagCurrentLeader, leader.dst)
		return
	}
	w.tags()
}

// endpoints is where the new leaders are: one node.
func (w *writer) endpoints() []byte {
	nodes := &writer{traits: w.traits}
	nodes.length(1)
	nodes.int32(newLeader)
	nodes.string(newLeaderHost)
	nodes.int32(newLeaderPort)
	nodes.length(-1) // rack: unknown
	nodes.tags()
	return nodes.dst
}

// log writes the records of one partition, and the list of its aborted transactions. With such, every batch is a transaction of one and the same
// producer, which commits some and aborts others, evenly: a reader that forgets where a transaction ends loses records here, and one that takes any marker for
// the end of an aborted one sees too many. Aborted records are those of the content that follow the committed ones of all partitions.
func log(s shape.Shape, content *shape.Content, partition int, baseTimestampMs int64, compress func([]byte) []byte) partitionData {
	data := partitionData{isolated: s.Aborted > 0}
	next := partition * s.BatchesPerPartition * s.RecordsPerBatch
	lost := s.RecordsPerRequest() + partition*s.Aborted*s.RecordsPerBatch
	batch := codec.Batch{Count: s.RecordsPerBatch, BaseTimestampMs: baseTimestampMs, ProducerID: -1, Compress: compress, Attributes: uint16(CompressionNumber(s.Compression))}
	if s.Aborted > 0 {
		batch.ProducerID = transactional
		batch.Attributes |= codec.Transactional
	}
	add := func(first int, commits bool) {
		batch.First, batch.BaseOffset = first, data.end
		data.records = codec.Append(data.records, content, batch)
		data.end += int64(s.RecordsPerBatch)
		if s.Aborted > 0 {
			marker := codec.Batch{BaseOffset: data.end, BaseTimestampMs: baseTimestampMs, ProducerID: batch.ProducerID}
			data.records = codec.AppendMarker(data.records, marker, commits)
			data.end++
		}
	}
	for b := range s.BatchesPerPartition {
		for len(data.aborted)*s.BatchesPerPartition < s.Aborted*(b+1) {
			data.aborted = append(data.aborted, abortedTransaction{transactional, data.end})
			add(lost, false)
			lost += s.RecordsPerBatch
		}
		add(next, true)
		next += s.RecordsPerBatch
	}
	return data
}
