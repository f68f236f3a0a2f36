package worker

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"protocolbench/internal/driver"
	"protocolbench/internal/shape"
)

// RuleMessages: a worker with the ability "messages" reads a message that it is given and writes it as it was.
const RuleMessages = "messages"

// conformMessages were written by hand after Kafka's schemas, so that no client's own writer vouches for itself: an old encoding and a flexible one, in both directions.
var conformMessages = []struct {
	api       string
	key       int16
	version   int
	direction string
	elements  int
	bytes     string
}{
	{"Metadata", 3, 0, driver.DirectionRequest, 2, "\x00\x00\x00\x02" + "\x00\x03one" + "\x00\x05three"},
	{"Metadata", 3, 0, driver.DirectionResponse, 1, "\x00\x00\x00\x01" + "\x00\x00\x00\x07\x00\x04host\x00\x00\x23\x84" + // a broker
		"\x00\x00\x00\x01\x00\x00\x00\x03one" + "\x00\x00\x00\x01" + // a topic without an error and its partition
		"\x00\x00\x00\x00\x00\x05\x00\x00\x00\x07" + "\x00\x00\x00\x01\x00\x00\x00\x07" + "\x00\x00\x00\x01\x00\x00\x00\x07"},
	{"Heartbeat", 12, 4, driver.DirectionRequest, 1, "\x06group" + "\x00\x00\x00\x09" + "\x07member" + "\x00" + "\x00"}, // no instance id, no tags
	{"Heartbeat", 12, 4, driver.DirectionResponse, 1, "\x00\x00\x00\x64" + "\x00\x1b" + "\x00"},
}

// messageCells are numbers that no other cell of the suite has.
const messageCells = 9000

// checkMessages gives a worker that has the ability these messages, of the APIs and versions that it says it has.
func (c *conformance) checkMessages(ctx context.Context) {
	hello := c.p.Hello()
	if !slices.Contains(hello.Abilities, driver.AbilityMessages) {
		return
	}
	for i, m := range conformMessages {
		has := slices.ContainsFunc(hello.Messages, func(r driver.Range) bool { return r.Key == m.key && int(r.Min) <= m.version && m.version <= int(r.Max) })
		if !has || c.stopped {
			continue
		}
		name := m.api + map[string]string{driver.DirectionRequest: "Request", driver.DirectionResponse: "Response"}[m.direction]
		open := driver.Open{Cell: messageCells + i, API: name, Version: m.version, Mode: driver.ModeBare, MaxRequests: conformMax,
			Shape:   shape.Shape{Name: fmt.Sprintf("elements=%d", m.elements), Elements: m.elements},
			Message: &driver.Message{Key: m.key, Direction: m.direction, Bytes: []byte(m.bytes)}}
		c.checkMessage(ctx, open)
	}
}

func (c *conformance) checkMessage(ctx context.Context, open driver.Open) {
	what := fmt.Sprintf("%s v%d", open.API, open.Version)
	opened, err := c.p.Open(ctx, open)
	if c.broke(RuleMessages, err) {
		return
	}
	if opened.RecordsPerRequest != open.Shape.Elements || opened.AnswerVersion != open.Version && opened.AnswerVersion != driver.Unpinned {
		c.fail(RuleMessages, "%s: it opens as %+v, with %d elements", what, opened, open.Shape.Elements)
	}
	h := fnv.New64a()
	h.Write(open.Message.Bytes)
	var byteSum uint64
	for _, b := range open.Message.Bytes {
		byteSum += uint64(b)
	}
	want := driver.Batched{Requests: conformRequests, Records: conformRequests * open.Shape.Elements, Bytes: conformRequests * int64(len(open.Message.Bytes)), ByteSum: conformRequests * byteSum,
		FirstKey: what, LastKey: fmt.Sprintf("%016x", h.Sum64())}
	got, err := c.p.Batch(ctx, driver.Batch{Cell: open.Cell, Requests: conformRequests, Placement: 5})
	if c.broke(RuleMessages, err) {
		return
	}
	has := driver.Batched{Requests: got.Requests, Records: got.Records, Bytes: got.Bytes, ByteSum: got.ByteSum, FirstKey: got.FirstKey, LastKey: got.LastKey}
	if has != want || got.WireBytesIn != want.Bytes {
		c.fail(RuleMessages, "%s: a batch came back as %+v, %d wire bytes; it has to be %+v", what, has, got.WireBytesIn, want)
	}
	if hashed, err := c.p.Hash(ctx, driver.Batch{Cell: open.Cell, Requests: 1}); !c.broke(RuleMessages, err) && hashed.Hash != h.Sum64() {
		c.fail(RuleMessages, "%s: its hash is %d, of the bytes that it was given %d", what, hashed.Hash, h.Sum64())
	}
	if !c.stopped {
		c.broke(RuleMessages, c.p.CloseCell(ctx, open.Cell))
	}
}
