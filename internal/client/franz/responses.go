package franz

import (
	"protocolbench/internal/bank"
	"protocolbench/internal/driver"
	"protocolbench/internal/shape"
	"protocolbench/seed"
)

// bankKey: cells with equal keys decode the same responses, and share one place to lay them out in.
type bankKey struct {
	shape           shape.Shape
	contentSeed     uint64
	baseTimestampMs int64
}

// responses are what the cells of one shape decode: made once for each version, and laid out anew for each batch. One cell runs at a time, and a long
// response in each of 18 cells would be most of the machine's memory.
type responses struct {
	*bank.Bank
	key   bankKey
	arena []byte
}

func (e *Engine) responsesFor(open driver.Open) *responses {
	key := bankKey{open.Shape, open.ContentSeed, open.BaseTimestampMs}
	return e.banks.take(key, func() *responses {
		return &responses{Bank: bank.New(open.Shape, open.ContentSeed, open.BaseTimestampMs), key: key}
	})
}

// reserve makes room for a response of so many bytes: when cells open, so that no batch pays for it.
func (r *responses) reserve(bytes int) {
	if bytes+slack > len(r.arena) {
		r.arena = make([]byte, bytes+slack)
	}
}

// lay copies a response to a place that is drawn for this batch.
func (r *responses) lay(body []byte, placement uint64) []byte {
	draw := seed.SplitMix64(placement)
	at := r.arena[draw.Next()%slack:][:len(body):len(body)]
	copy(at, body)
	return at
}
