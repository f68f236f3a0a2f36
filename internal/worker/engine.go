// Package worker has both ends of the driver protocol: Process, the parent's view of a worker, and Serve, the loop that a
// worker written in Go runs around an Engine. DRIVER.md is the protocol for authors in other languages.
package worker

import (
	"context"

	"protocolbench/internal/driver"
)

// Engine is a client library as a worker sees it: what a Go worker has to implement.
type Engine interface {
	// Hello fills everything but Protocol, PID and Clock.
	Hello() driver.Hello
	// Open connects, pins and preflights one cell.
	Open(ctx context.Context, open driver.Open) (Cell, driver.Opened, error)
	// Checking gives the counts of connections that belong to no cell (offset reads), as cell -1.
	Checking() driver.CellSnapshot
}

// Staged is a cell that can tell what of a batch's CPU time went where: until all records are handed over, and from there until the request is written.
type Staged interface {
	Stage(on bool)
	Stages() (bufferNs, encodeNs int64) // since they were asked for last
}

// Cell is one open client. Serve calls Prepare, then runtime.GC and the clocks, then Run, the clocks, then Finish.
type Cell interface {
	// Prepare does what must not be timed: rewind, lay out the payload, read the log end offset.
	Prepare(ctx context.Context, batch driver.Batch) error
	// Run is the timed part: exactly batch.Requests requests, starting and ending on request boundaries, none in flight after. It calls
	// done after each request (the canary's plant and the request times are behind it).
	Run(ctx context.Context, batch driver.Batch, done func()) error
	// Finish stops what Run left armed, waits for the barrier, and fills what came of the batch: counts, sums, keys, wire
	// counts, offsets. Times are not its business.
	Finish(ctx context.Context) (driver.Batched, error)
	// Hash runs one untimed batch and hashes all of it.
	Hash(ctx context.Context, batch driver.Batch) (driver.Hashed, error)
	// Snapshot gives the wire counts of the cell's connections since open.
	Snapshot() driver.CellSnapshot
	Close() error
}
