#!/bin/sh
# Shows what a comparison of two builds is worth on this machine: validate-builds.sh [RUNS [FLAGS of `protocolbench run`]].
#  1. RUNS comparisons (20) of one release with itself, as two checkouts under different paths and in different layouts: none may call a version slower.
#  2. A checkout with a slowdown planted in the decoding of Fetch v9: it has to be found there, and nowhere else.
# METHODOLOGY.md has its output. Each run takes about two minutes.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
runs=${1:-20}
[ $# -eq 0 ] || shift

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

go build -C "$root" -buildvcs=false -o "$work/protocolbench" ./cmd/protocolbench

# checkout FOLDER lays out the release of go.mod as a checkout has it.
checkout() {
	mkdir -p "$1"
	cp -r "$(cd "$root" && go list -m -f '{{.Dir}}' github.com/twmb/franz-go)/." "$1"
	chmod -R u+w "$1"
	rm -rf "$1/pkg/kmsg"
	cp -r "$(cd "$root" && go list -m -f '{{.Dir}}' github.com/twmb/franz-go/pkg/kmsg)" "$1/pkg/kmsg"
	chmod -R u+w "$1"
}

# compare NAME PROFILE FLAGS... runs one comparison, and prints of each family its words and what one pair of layouts alone would have said.
compare() {
	name=$1
	profile=$2
	shift 2
	code=0
	"$work/protocolbench" run --tier 0 --profile "$profile" --out "$work/results" "$@" >"$work/out" 2>"$work/err" || code=$?
	printf '%s: exit code %s, %s\n' "$name" "$code" "$(tail -n 1 "$work/out")"
	case $code in
	1 | 2) cat "$work/err" ;;
	esac
	# Running text is wrapped: a family's lines are put together again.
	awk '/^tier0/ { if (f != "") print f; f = $0; next } f != "" && /^    |^  against/ { sub(/^ +/, " "); f = f $0; next } f != "" { print f; f = "" }' "$work/out" |
		sed -E 's/^([^:]*): (.*) against the baseline: margin [^,]*, (floor [^;]*);.*one pair of layouts alone would have said (.*), and been sure of a difference in ([0-9]+ of [0-9]+) cases.*/  \1: \2; \3; one pair alone: \4, sure in \5/'
	grep -E '^  v[0-9]+.* slower' "$work/out" | grep -v 'not slower' || true
}

checkout "$work/a"
checkout "$work/another-and-longer/franz-go"

loud=0
run=0
while [ "$run" -lt "$runs" ]; do
	run=$((run + 1))
	compare "equal builds, run $run" quick --seed "$((300 + run))" --client "franz-go=$work/a" --baseline "franz-go=$work/another-and-longer/franz-go" "$@"
	if [ "$code" -eq 3 ]; then
		loud=$((loud + 1))
	fi
done
printf 'equal builds: %s of %s runs called nothing slower\n' "$((runs - loud))" "$runs"

checkout "$work/planted"
generated=$work/planted/pkg/kmsg/generated.go
# About a tenth of what decoding records of 105 bytes costs here: one byte in 29 of what version 9 carries is looked at. The quick profile's margin is as wide
# as the plant, so this one takes the standard profile, where it is 5 %.
awk '{ print } /readNullableBytes\(&b, &s.RecordBatches, isFlexible\)/ { print "if version == 9 { for i := 0; i < len(s.RecordBatches); i += 29 { Planted += s.RecordBatches[i] } }" }
	END { print "var Planted byte" }' "$generated" >"$work/generated.go"
cmp -s "$generated" "$work/generated.go" && {
	echo "validate-builds.sh: nothing could be planted in $generated" >&2
	exit 1
}
mv "$work/generated.go" "$generated"
compare "planted in Fetch v9" standard --seed 401 --only tier0/fetch/batches=1000x10/bare --client "franz-go=$work/planted" --baseline "franz-go=$work/a" "$@"
