#!/usr/bin/env bash
# Fuzzes every decoder of what comes from outside (records, both directions of the driver protocol, JMX answers, frames, flags) for a while each: scripts/fuzz.sh [TIME], 60s by
# default. Fails at the first finding, whose input Go puts into the package's testdata/fuzz: mend what it shows and commit the input.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

time=${1:-60s}

# Inputs that earlier runs found interesting are not taken up again: running some hundreds of them once was all that happened in a few seconds.
found=$(mktemp -d)
trap 'rm -rf "$found"' EXIT

# An interesting input is made smaller in a few steps only: by default Go takes up to a minute for that, which was all of the minute where inputs are whole records.
grep -rHo --include='*_test.go' '^func Fuzz[A-Za-z0-9]*' . | sort | while IFS=: read -r file function; do
	target=${function#func }
	printf '%s %s: ' "$(dirname "$file")" "$target"
	if ! out=$(go test "$(dirname "$file")" -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 10x -args -test.fuzzcachedir="$found/$target" </dev/null 2>&1); then
		printf 'found something\n%s\n' "$out"
		exit 1
	fi
	sed -n 's/^fuzz: //p' <<<"$out" | tail -n 1
done
