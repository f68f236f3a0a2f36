// Command fetch-between is a broken worker: its batches have the right number of requests, but when it is left alone between two of
// them it fetches by itself, as a client does that polls in the background.
package main

import (
	"protocolbench/internal/driver"
	"protocolbench/internal/worker/testdata/proxy"
)

func main() {
	var fetch *driver.Open // the last live Fetch cell
	last := ""
	proxy.Main(proxy.Tamper{Request: func(r *driver.Request, ask func(driver.Request) driver.Response) {
		if r.Open != nil && r.Open.Tier > 0 && r.Open.API == "Fetch" {
			fetch = r.Open
		}
		if fetch != nil && r.Op == driver.OpSnapshot && last == driver.OpSnapshot {
			ask(driver.Request{Op: driver.OpBatch, Batch: &driver.Batch{Cell: fetch.Cell, Requests: 1}})
		}
		last = r.Op
	}})
}
