package broker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"protocolbench/internal/jolokia"
	"protocolbench/internal/measure"
	"protocolbench/internal/record"
	"protocolbench/internal/shape"
	"protocolbench/pin"
)

// controlShape: incompressible content of any kind does; what matters is the count.
var controlShape = shape.Shape{
	Name: "control", RecordsPerBatch: 100, BatchesPerPartition: 1, Partitions: 1, Topics: 1, KeyBytes: 16, ValueBytes: 100, RequiredAcks: -1,
}

const (
	recompressedRecords = 100
	oldFetchRecords     = 600
	oldFetchVersion     = 3 // the last that carries format v1
)

// control is one planted conversion: what to send, and the bean that has to move.
type control struct {
	name     string
	bean     string // without its topic
	expected int64
	configs  map[string]string
	records  int
	plant    func(ctx context.Context, topic string) error // after the records have been sent; may be nil
	// plantedByFill: the conversion happens while the records are sent.
	plantedByFill bool
}

// Recompression sends uncompressed records into a topic that stores gzip: the broker has to convert every one of them, and to say so. It sends
// Produce requests, so it belongs outside every block's bracket.
func (o *Observer) Recompression(ctx context.Context) record.Control {
	return o.runControl(ctx, control{
		name: record.ControlRecompression, bean: produceConversions, expected: recompressedRecords, records: recompressedRecords,
		configs: map[string]string{"compression.type": "gzip"}, plantedByFill: true,
	})
}

// OldFetch reads records of format v2 with Fetch v3, which carries format v1: a broker below 4.0 has to convert every one of them. 4.0 removed
// that, so there the control is impossible, which proves nothing either way. It sends Produce and Fetch requests.
func (o *Observer) OldFetch(ctx context.Context) record.Control {
	if !o.row.FetchConverts {
		return record.Control{
			Kind: record.KindControl, Tier: o.row.Tier, Control: record.ControlOldFetch, Applies: false,
			Observed: notTried, TopicObserved: notTried,
			Why: "impossible on this broker: down-conversion was removed in 4.0",
		}
	}
	return o.runControl(ctx, control{
		name: record.ControlOldFetch, bean: fetchConversions, expected: oldFetchRecords, records: oldFetchRecords,
		plant: func(ctx context.Context, topic string) error {
			_, err := o.admin.FetchAt(ctx, topic, 0, oldFetchVersion)
			return err
		},
	})
}

const (
	deletedRecords = 30
	scratchRecords = 100
)

// DeletedRecords deletes the first records of a scratch topic between two readings of the evidence, as a block's is read. Whether that would have been objected to is for
// the log guard to say. It sends Produce requests.
func (o *Observer) DeletedRecords(ctx context.Context) record.Control {
	row := record.Control{
		Kind: record.KindControl, Tier: o.row.Tier, Control: record.ControlDeletedRecords, Applies: true, Expected: deletedRecords, Observed: notTried, TopicObserved: notTried,
	}
	err := o.onScratchTopic(ctx, row.Control, nil, func(topic string) error {
		content := shape.NewContent(controlShape, 1)
		if err := o.admin.Fill(ctx, topic, content, controlShape.RecordsPerBatch, scratchRecords/controlShape.RecordsPerBatch, time.Now().UnixMilli()); err != nil {
			return err
		}
		open := o.Evidence(ctx, pin.Fetch, topic)
		row.Open = &open
		if err := o.admin.DeleteRecords(ctx, topic, deletedRecords); err != nil {
			return err
		}
		closing := o.Evidence(ctx, pin.Fetch, topic)
		row.Close = &closing
		return nil
	})
	if err != nil {
		row.Why = err.Error()
	}
	return row
}

// onScratchTopic does something with a topic that is there for that alone.
func (o *Observer) onScratchTopic(ctx context.Context, control string, configs map[string]string, do func(topic string) error) error {
	topic := "protocolbench-control-" + strings.ReplaceAll(control, " ", "-") + "-" + strings.ToLower(rand.Text()[:8])
	if err := o.admin.CreateTopic(ctx, topic, configs); err != nil {
		return err
	}
	err := do(topic)
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return errors.Join(err, o.admin.DeleteTopic(after, topic))
}

var notTried = measure.Counter{State: measure.Unreadable, Why: "not tried"}

func (o *Observer) runControl(ctx context.Context, c control) record.Control {
	row := record.Control{
		Kind: record.KindControl, Tier: o.row.Tier, Control: c.name, Applies: true, Expected: c.expected, Observed: notTried, TopicObserved: notTried,
	}
	err := o.onScratchTopic(ctx, c.name, c.configs, func(topic string) error { return o.plantAndRead(ctx, c, topic, &row) })
	if err != nil {
		row.Why = err.Error()
	}
	return row
}

// plantAndRead brackets the plant with two readings of the all-topics bean.
func (o *Observer) plantAndRead(ctx context.Context, c control, topic string, row *record.Control) error {
	fill := func() error {
		content := shape.NewContent(controlShape, 1)
		return o.admin.Fill(ctx, topic, content, controlShape.RecordsPerBatch, c.records/controlShape.RecordsPerBatch, time.Now().UnixMilli())
	}
	if !c.plantedByFill {
		if err := fill(); err != nil {
			return err
		}
	}
	total := jolokia.Attribute{MBean: c.bean, Name: "Count"}
	own := jolokia.Attribute{MBean: c.bean + ",topic=" + topic, Name: "Count"}
	reading, _ := o.read(ctx, topic, total)
	before := reading[0].Counter()
	if before.State != measure.Number {
		row.Observed = before
		return fmt.Errorf("the counter of conversions can't be read, so no conversion would be seen: %s", before.Why)
	}
	plant := fill
	if !c.plantedByFill {
		plant = func() error { return c.plant(ctx, topic) }
	}
	if err := plant(); err != nil {
		return err
	}
	// A fetch is counted after its answer has left.
	deadline := time.Now().Add(3 * time.Second)
	for {
		answers, _ := o.read(ctx, topic, total, own)
		row.Observed, row.TopicObserved = moved(before, answers[0].Counter()), answers[1].Counter()
		done := row.Observed.State != measure.Number || row.Observed.Value >= c.expected && row.TopicObserved.State == measure.Number
		if done || ctx.Err() != nil || time.Now().After(deadline) {
			return ctx.Err()
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func moved(before, after measure.Counter) measure.Counter {
	if after.State == measure.Number {
		after.Value -= before.Value
	}
	return after
}
