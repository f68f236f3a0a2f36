// Command tier0 is `protocolbench run --tier 0`, for `go run ./cmd/tier0`.
package main

import (
	"os"

	"protocolbench/internal/cli"
)

func main() {
	os.Exit(cli.Tier("0", os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
