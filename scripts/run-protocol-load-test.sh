#!/bin/sh
# Builds protocolbench and runs it: run-protocol-load-test.sh [all|0|1|2] [flags of `protocolbench run`].
# Ends with the run's own exit code; `go run` would turn every code but 0 into 1.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)

if ! command -v go >/dev/null 2>&1; then
	echo "run-protocol-load-test.sh: go is not on the PATH; install Go 1.26 or later from https://go.dev/dl/ (or: apt-get install golang-go)" >&2
	exit 1
fi

# The revision goes into the record. Where git can't say it (an archive, a checkout that another user owns) the build would fail.
vcs=false
if git -C "$root" rev-parse HEAD >/dev/null 2>&1; then
	vcs=true
fi
go build -C "$root" -buildvcs="$vcs" -o bin/protocolbench ./cmd/protocolbench || {
	echo "run-protocol-load-test.sh: the build failed, see above" >&2
	exit 1
}

case "${1:-}" in
all | 0 | 1 | 2)
	tier=$1
	shift
	exec "$root/bin/protocolbench" run --tier "$tier" "$@"
	;;
esac
exec "$root/bin/protocolbench" run "$@"
