// Command drops-record is a broken worker: it loses the last record of each batch, and its counts say so.
package main

import (
	"protocolbench/internal/driver"
	"protocolbench/internal/worker/testdata/proxy"
)

func main() {
	valueBytes := map[int]int64{}
	proxy.Main(proxy.Tamper{Answer: func(asked driver.Request, answer *driver.Response, _ func(driver.Request) driver.Response) {
		if asked.Open != nil {
			valueBytes[asked.Open.Cell] = int64(asked.Open.Shape.ValueBytes)
		}
		if answer.Batched != nil && valueBytes[asked.Batch.Cell] > 0 { // messages alone have no records
			answer.Batched.Records--
			answer.Batched.Bytes -= valueBytes[asked.Batch.Cell]
		}
	}})
}
