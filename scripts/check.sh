#!/usr/bin/env bash
# Everything that has to hold before a change goes in: formatting, vet, the pinned linter, tidy modules, the macOS build, the race
# detector on the orchestrator's packages, mutants of the guards, and all tests, those on real brokers among them. Fails when one of them fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

ci=${CI:-false}
failed=()

say() { printf '\n== %s\n' "$*"; }

loud() { printf '\n!!!!\n!!!! %s\n!!!!\n' "$*" >&2; }

# step NAME COMMAND... runs one check and remembers its failure, so that one run shows every fault.
step() {
	local name=$1
	shift
	say "$name"
	if ! "$@"; then
		failed+=("$name")
	fi
}

formatted() {
	local files
	files=$(gofmt -l .) || return 1
	[[ -z $files ]] || {
		printf 'gofmt -w would change:\n%s\n' "$files"
		return 1
	}
}

darwin() {
	GOOS=darwin CGO_ENABLED=0 go build ./... && GOOS=darwin CGO_ENABLED=0 go vet ./...
}

shell_scripts() {
	bash -n scripts/check.sh && bash -n scripts/fuzz.sh && sh -n scripts/run-protocol-load-test.sh && sh -n scripts/planted-faults.sh && sh -n .ci/run || return 1
	if command -v shellcheck >/dev/null 2>&1; then
		shellcheck scripts/*.sh .ci/run
	else
		echo "shellcheck is not installed (apt-get install shellcheck): scripts were only parsed"
	fi
}

# java_is_17 also refuses a java that is too old for Kafka 4.
java_is_17() {
	local major
	command -v java >/dev/null 2>&1 || return 1
	major=$(java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
	[[ -n $major && $major -ge 17 ]]
}

# install_missing does on a CI machine what the messages below tell a person to do.
install_missing() {
	local packages=()
	if ! java_is_17; then
		if apt-cache show openjdk-17-jre-headless >/dev/null 2>&1; then
			packages+=(openjdk-17-jre-headless)
		else
			packages+=(default-jre-headless)
		fi
	fi
	command -v mvn >/dev/null 2>&1 || packages+=(maven)
	command -v gcc >/dev/null 2>&1 || packages+=(gcc libc6-dev)
	[[ ${#packages[@]} -eq 0 ]] && return 0
	say "installing ${packages[*]}"
	DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${packages[@]}"
}

command -v go >/dev/null 2>&1 || {
	loud "go is not on the PATH: install Go 1.26 or later from https://go.dev/dl/"
	exit 1
}
# Go wants a home for its caches; a CI machine may give none.
if [[ -z ${HOME:-} ]]; then
	HOME=$(mktemp -d)
	export HOME
fi
# No revision is needed in a test binary, and git refuses to name one in a checkout that another user owns.
export GOFLAGS="${GOFLAGS:+$GOFLAGS }-buildvcs=false"

if [[ $ci == true && $(id -u) -eq 0 ]] && command -v apt-get >/dev/null 2>&1; then
	if ! java_is_17 || ! command -v mvn >/dev/null 2>&1 || ! command -v gcc >/dev/null 2>&1; then
		apt-get update -q
		install_missing
	fi
fi

missing=()
java_is_17 || missing+=("java 17 or later (apt-get install openjdk-17-jre-headless)")
command -v mvn >/dev/null 2>&1 || missing+=("mvn (apt-get install maven)")
for tool in "${missing[@]}"; do
	loud "NOT TESTED ON REAL BROKERS: there is no $tool"
done
if [[ $ci == true && ${#missing[@]} -gt 0 ]]; then
	exit 1
fi

step "formatting" formatted
step "vet" go vet ./...
step "staticcheck" go tool -modfile=tools/go.mod staticcheck ./...
step "modules tidy" go mod tidy -diff
step "build for macOS" darwin
step "shell scripts" shell_scripts
if [[ ${#failed[@]} -gt 0 ]]; then
	loud "failed: $(printf '%s; ' "${failed[@]}")"
	exit 1
fi

# -short keeps real brokers out of this round: the next one has them.
say "race detector"
if command -v "$(go env CC)" >/dev/null 2>&1; then
	CGO_ENABLED=1 go test -race -short -count=1 -timeout 10m ./internal/worker/... ./internal/cli ./internal/lock ./internal/jolokia ./internal/record ./tiers/...
else
	loud "RACE DETECTOR NOT RUN: it needs a C compiler, and $(go env CC) is not there (apt-get install gcc libc6-dev)"
	[[ $ci != true ]] || exit 1
fi

say "mutants of the guards"
go run ./cmd/mutate guards | sed -n '/^killed/!p'

say "tests"
go test -count=1 -timeout 18m ./...
