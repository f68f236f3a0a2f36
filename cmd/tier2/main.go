// Command tier2 is `protocolbench run --tier 2`, for `go run ./cmd/tier2`.
package main

import (
	"os"

	"protocolbench/internal/cli"
)

func main() {
	os.Exit(cli.Tier("2", os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
