// Command protocolbench measures every protocol version of a Kafka client against the others. See README.md.
package main

import (
	"os"

	"protocolbench/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
