// Command validate shows what the judge is worth, on made-up records and on recorded runs. METHODOLOGY.md has its output.
package main

import (
	"os"

	"protocolbench/internal/validate"
)

func main() {
	os.Exit(validate.Command(os.Args[1:], os.Stdout, os.Stderr))
}
