#!/bin/sh
# Shows that every guard, and every rule of the run's verdict, would be missed: each is replaced by "pass", one at a time, and a test has to fail.
# mutate-guards.sh [guards] [internal/verdict]; without a name both. Ends with 1 where one survived. It needs no broker.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
exec go run ./cmd/mutate "$@"
