package guards

import (
	"fmt"
	"maps"
	"slices"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
)

// Keys of APIs that a client may use by itself while a bracket is open (Kafka's protocol).
const (
	keyListOffsets      = 2
	keyMetadata         = 3
	keyAPIVersions      = 18
	keyGetSubscriptions = 71 // telemetry
	keyPushTelemetry    = 72
)

// apiNames are those that a client is likely to be caught with.
var apiNames = map[int16]string{0: "Produce", 1: "Fetch", keyListOffsets: "ListOffsets", keyMetadata: "Metadata", 8: "OffsetCommit", 10: "FindCoordinator", 12: "Heartbeat",
	keyAPIVersions: "ApiVersions", 22: "InitProducerId", 23: "OffsetForLeaderEpoch", keyGetSubscriptions: "GetTelemetrySubscriptions", keyPushTelemetry: "PushTelemetry"}

// refreshNs is the shortest time between two refreshes that are taken for routine: clients have five minutes and more, and hurry only after an error.
const refreshNs = int64(60e9)

// otherRequests asks what was sent beside the API under test. In 19,000 brackets of clients not one such request was seen: connections are
// made and topics known before one opens, and telemetry is off. Without a bracket the pin guard is blind, and says so.
func otherRequests(t *tally, f record.Family, b record.BlockRun) {
	if !hasWire(f) || !bracketed(b) {
		return
	}
	for _, c := range f.Cells {
		before, ok1 := snapshotOf(b.Open, c.Cell)
		after, ok2 := snapshotOf(b.Close, c.Cell)
		if !ok1 || !ok2 {
			continue
		}
		sent := sentBeside(f.Key, before.Frames, after.Frames)
		for _, key := range slices.Sorted(maps.Keys(sent)) {
			if most := routine(f, b, key); sent[key] > most {
				t.see(c.Version, b.Where, Fail, fmt.Sprintf("the client sent %d %s requests between or in its batches, where %d are routine: they are in its figures; look at why it sends them", sent[key], nameOfAPI(key), most),
					map[string]any{"cell": c.Cell, "key": key, "requests": sent[key]})
			}
		}
	}
	checking(t, b)
}

// sentBeside counts, by key, the frames of other APIs that left between two snapshots.
func sentBeside(own int16, before, after []driver.Frames) map[int16]int64 {
	sent := map[int16]int64{}
	for _, frames := range after {
		sent[frames.Key] += frames.Count
	}
	for _, frames := range before {
		sent[frames.Key] -= frames.Count
	}
	delete(sent, own)
	maps.DeleteFunc(sent, func(_ int16, n int64) bool { return n <= 0 })
	return sent
}

// routine is how many requests of another API a client may send in a block by itself.
func routine(f record.Family, b record.BlockRun, key int16) int64 {
	refreshes := 1 + openNs(b)/refreshNs
	switch key {
	case keyMetadata, keyAPIVersions:
		return refreshes
	case keyGetSubscriptions, keyPushTelemetry:
		if f.Mode == driver.ModeShipped {
			return refreshes
		}
	}
	return 0
}

// openNs is how long the bracket was open.
func openNs(b record.BlockRun) int64 {
	if b.Host != nil {
		return b.Host.WallNs
	}
	var ns int64
	for _, batch := range b.Batches {
		ns += batch.WallNs
	}
	return ns
}

// checking judges the connections of the workers themselves: they ask for offsets, as often as acks 0 makes them wait, and for nothing else.
func checking(t *tally, b record.BlockRun) {
	sent := sentBeside(keyListOffsets, framesOfWorkers(b.Open), framesOfWorkers(b.Close))
	for _, key := range slices.Sorted(maps.Keys(sent)) {
		if key != keyMetadata && key != keyAPIVersions {
			t.see(AllVersions, b.Where, Fail, fmt.Sprintf("the worker's own connections sent %d %s requests between batches: they are there to ask for offsets", sent[key], nameOfAPI(key)),
				map[string]any{"key": key, "requests": sent[key]})
		}
	}
}

// framesOfWorkers are those of connections that belong to no cell.
func framesOfWorkers(e *record.Evidence) (frames []driver.Frames) {
	for _, c := range e.CellSnapshots() {
		if c.Cell < 0 {
			frames = append(frames, c.Frames...)
		}
	}
	return frames
}

func nameOfAPI(key int16) string {
	if name, ok := apiNames[key]; ok {
		return name
	}
	return fmt.Sprintf("API %d", key)
}
