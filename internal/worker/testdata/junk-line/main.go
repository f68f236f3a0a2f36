// Command junk-line is a broken worker: it prints a line of its own to standard output after each batch.
package main

import (
	"fmt"
	"io"

	"protocolbench/internal/driver"
	"protocolbench/internal/worker/testdata/proxy"
)

func main() {
	proxy.Main(proxy.Tamper{Print: func(asked driver.Request, out io.Writer) {
		if asked.Op == driver.OpBatch {
			fmt.Fprintln(out, "batch done, going well")
		}
	}})
}
