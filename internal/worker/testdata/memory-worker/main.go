// Command memory-worker serves the memory engine: a worker that knows no Kafka client. With the argument noisy its engine
// prints to standard output.
package main

import (
	"context"
	"fmt"
	"os"

	"protocolbench/internal/worker"
	"protocolbench/internal/worker/testdata/memory"
)

func main() {
	fmt.Fprintln(os.Stderr, "memory worker: up")
	if err := worker.Serve(context.Background(), os.Stdin, os.Stdout, &memory.Engine{Noisy: len(os.Args) > 1 && os.Args[1] == "noisy"}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
