package guards

import (
	"testing"

	"protocolbench/internal/record"
)

func TestLog(t *testing.T) {
	finding := func(family, outcome string) []string { return []string{"log|" + family + "|-1|" + outcome} }
	checkBreakages(t, []breakage{
		{"records deleted under a reader", func(t *testing.T, run *record.Run) {
			block(t, run, liveFetch, 1).Close.Broker.LogStartOffset = 3
		}, finding(liveFetch, "fail"), "from 0 to 3"},
		{"records deleted under a writer", func(t *testing.T, run *record.Run) {
			block(t, run, liveProduce, 1).Close.Broker.LogStartOffset = 3
		}, finding(liveProduce, "fail"), "deleted"},
		{"sent and not stored", func(t *testing.T, run *record.Run) {
			block(t, run, liveProduce, 0).Close.Broker.LogEndOffset--
		}, finding(liveProduce, "fail"), "1440 records were sent to topic and 1439 stored"},
		{"nothing stored", func(t *testing.T, run *record.Run) {
			b := block(t, run, liveProduce, 0)
			b.Close.Broker.LogEndOffset = b.Open.Broker.LogEndOffset
		}, finding(liveProduce, "fail"), "and 0 stored"},
		{"stored twice", func(t *testing.T, run *record.Run) {
			block(t, run, sanityProduce, 0).Close.Broker.LogEndOffset++
		}, finding(sanityProduce, "fail"), "retries"},
		{"somebody writes to a topic that is read", func(t *testing.T, run *record.Run) {
			block(t, run, liveFetch, 0).Close.Broker.LogEndOffset++
		}, finding(liveFetch, "fail"), "grew by 1 records"},
		{"offsets unreadable at the start", func(t *testing.T, run *record.Run) {
			b := block(t, run, liveFetch, 0).Open.Broker
			b.LogStartOffset, b.LogEndOffset, b.OffsetsWhy = -1, -1, "timed out"
		}, finding(liveFetch, "blind"), "timed out"},
		{"offsets unreadable at the end", func(t *testing.T, run *record.Run) {
			b := block(t, run, liveProduce, 0).Close.Broker
			b.LogEndOffset, b.OffsetsWhy = -1, "timed out"
		}, finding(liveProduce, "blind"), "timed out"},
	})
}
