package tiers

import (
	"context"
	"time"

	"protocolbench/internal/driver"
	"protocolbench/internal/measure"
	"protocolbench/pin"
)

// longestPoll is how long a broker may keep a Fetch of a cell that finds nothing (DRIVER.md). The broker counts a request when it has answered it, so a long poll is counted
// only when it ends: settleLimit waits for one that was sent at the last moment, twice over.
const (
	longestPoll = time.Second
	settleLimit = 2 * longestPoll
)

// settling says how a wait for counters ended.
type settling struct {
	agreed bool
	waited time.Duration
}

// brokerCounts are requests of one API by version, or under key -1 all together where the broker has no version tag.
type brokerCounts map[int]int64

func countsOf(counters map[int]measure.Counter) brokerCounts {
	counts := brokerCounts{}
	for v, c := range counters {
		if c.State == measure.Number {
			counts[v] = c.Value
		}
	}
	return counts
}

// counts reads the request counters of an API, cheaply, of the broker that leads topic.
func (l *live) counts(ctx context.Context, api pin.API, topic string) (map[int]measure.Counter, brokerCounts) {
	byVersion, all, _ := l.observer.RequestCountOn(ctx, api, topic)
	if l.row().VersionTags {
		return byVersion, countsOf(byVersion)
	}
	return byVersion, countsOf(map[int]measure.Counter{-1: all})
}

// waitForCounts waits until the broker has counted what the wire sent since base was read. Without agreement it gives up at
// the limit: what that means is the pin guard's business.
func (l *live) waitForCounts(ctx context.Context, api pin.API, topic string, base brokerCounts, sent map[int]int64) (map[int]measure.Counter, settling) {
	started := l.now()
	for {
		byVersion, now := l.counts(ctx, api, topic)
		waited := l.now().Sub(started)
		if agrees(l.row().VersionTags, base, now, sent) {
			return byVersion, settling{true, waited}
		}
		if !l.jmx() || waited > settleLimit || ctx.Err() != nil {
			return byVersion, settling{false, waited}
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func agrees(byVersion bool, base, now brokerCounts, sent map[int]int64) bool {
	if !byVersion {
		return now[-1]-base[-1] == total(sent)
	}
	for v, n := range now {
		if n-base[v] != sent[v] {
			return false
		}
	}
	for v, n := range sent {
		if now[v]-base[v] != n {
			return false
		}
	}
	return true
}

// framesByVersion sums the frames of one API over all connections of a worker.
func framesByVersion(snapshot driver.Snapshot, key int16) map[int]int64 {
	sent := map[int]int64{}
	for _, cell := range snapshot.Cells {
		for _, f := range cell.Frames {
			if f.Key == key {
				sent[int(f.Version)] += f.Count
			}
		}
	}
	return sent
}

func total(sent map[int]int64) int64 {
	var sum int64
	for _, n := range sent {
		sum += n
	}
	return sum
}
