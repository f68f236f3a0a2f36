#!/bin/sh
# Shows what the statistics are worth: validate-statistics.sh [DIR...]. Made-up records first (about a quarter of an hour of one core), then the recorded runs in
# the folders, if any. METHODOLOGY.md has its output. Ends with 1 where a promise was not kept.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

go build -C "$root" -buildvcs=false -o "$work/validate" ./cmd/validate

code=0
GOMAXPROCS=1 nice -n 10 "$work/validate" simulated || code=$?
if [ $# -gt 0 ]; then
	GOMAXPROCS=1 nice -n 10 "$work/validate" records "$@" || code=$?
fi
exit "$code"
