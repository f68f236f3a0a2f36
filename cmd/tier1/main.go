// Command tier1 is `protocolbench run --tier 1`, for `go run ./cmd/tier1`.
package main

import (
	"os"

	"protocolbench/internal/cli"
)

func main() {
	os.Exit(cli.Tier("1", os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
