// Package protocolbench has the sources of the worker, so that this program can build it around another release of the client, or a checkout,
// wherever it was installed: it needs a Go toolchain then, and no source tree. A worker is always made from the same sources as the program that
// drives it; one of another revision could speak another protocol, or measure something else.
package protocolbench

import "embed"

// WorkerSource is cmd/franz-worker and all of ours that it imports, with go.mod and go.sum for the versions of what isn't ours.
//
//go:embed go.mod go.sum
//go:embed cmd/franz-worker/*.go internal/client/franz/*.go internal/bank/*.go internal/codec/*.go internal/driver/*.go internal/measure/*.go
//go:embed internal/shape/*.go internal/wire/*.go internal/worker/*.go seed/*.go
var WorkerSource embed.FS
