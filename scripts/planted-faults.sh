#!/bin/sh
# Plants faults in copies of the client, one after the other, and shows what tier 0 calls in each, and in a copy without one; then those that need a real broker (Java 17 and Maven).
# Each takes a minute or less beside the build of its copy, on a machine with nothing else to do. Arguments are those of `go run ./cmd/planted`: -only NAME takes one. Ends with 1 where a fault was missed, or something else was called.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
exec go run ./cmd/planted "$@"
