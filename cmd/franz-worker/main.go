// Command franz-worker runs one build of franz-go behind the driver protocol (DRIVER.md): standard input carries requests, standard
// output answers, standard error the log. Its imports are few, so that it compiles against other releases of franz-go.
package main

import (
	"context"
	"fmt"
	"os"

	"protocolbench/internal/client/franz"
	"protocolbench/internal/worker"
)

func main() {
	if err := worker.Serve(context.Background(), os.Stdin, os.Stdout, franz.New()); err != nil {
		fmt.Fprintln(os.Stderr, "franz-worker:", err)
		os.Exit(1)
	}
}
