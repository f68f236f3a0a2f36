// Command fetch-in-flight is a broken worker: after each batch of a live Fetch one more Fetch request leaves, which nobody asked
// for and its answer does not mention. That is what a client does that fetches ahead and is not held back.
package main

import (
	"protocolbench/internal/driver"
	"protocolbench/internal/worker/testdata/proxy"
)

func main() {
	fetches := map[int]bool{}
	proxy.Main(proxy.Tamper{Answer: func(asked driver.Request, answer *driver.Response, ask func(driver.Request) driver.Response) {
		if asked.Open != nil {
			fetches[asked.Open.Cell] = asked.Open.Tier > 0 && asked.Open.API == "Fetch"
		}
		if answer.Batched != nil && fetches[asked.Batch.Cell] {
			ask(driver.Request{Op: driver.OpBatch, Batch: &driver.Batch{Cell: asked.Batch.Cell, Requests: 1}})
		}
	}})
}
