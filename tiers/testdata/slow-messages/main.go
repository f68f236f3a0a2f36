// A franz-go worker with two faults in its messages: metadata responses cost more from v7 on, and responses of list offsets cost more per element, the more elements there are, from v6 on.
package main

import (
	"context"
	"hash/fnv"
	"os"

	"protocolbench/internal/client/franz"
	"protocolbench/internal/driver"
	"protocolbench/internal/worker"
)

type engine struct{ worker.Engine }

type slowCell struct {
	worker.Cell
	bytes  []byte
	passes int
	sink   uint64
}

func (e engine) Open(ctx context.Context, open driver.Open) (worker.Cell, driver.Opened, error) {
	cell, opened, err := e.Engine.Open(ctx, open)
	if err != nil || open.Message == nil {
		return cell, opened, err
	}
	slow := &slowCell{Cell: cell, bytes: open.Message.Bytes}
	switch {
	case open.API == "MetadataResponse" && open.Version >= 7:
		slow.passes = 4
	case open.API == "ListOffsetsResponse" && open.Version >= 6:
		slow.passes = open.Shape.Elements / 10
	}
	return slow, opened, nil
}

func (c *slowCell) Run(ctx context.Context, batch driver.Batch, done func()) error {
	return c.Cell.Run(ctx, batch, func() {
		h := fnv.New64a()
		for range c.passes {
			h.Write(c.bytes)
		}
		c.sink += h.Sum64()
		done()
	})
}

func main() {
	if err := worker.Serve(context.Background(), os.Stdin, os.Stdout, engine{franz.New()}); err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}
