// Command drops-field is a broken worker: it loses a field of two bytes of every message, and its counts say so.
package main

import (
	"protocolbench/internal/driver"
	"protocolbench/internal/worker/testdata/proxy"
)

func main() {
	messages := map[int]bool{}
	proxy.Main(proxy.Tamper{Answer: func(asked driver.Request, answer *driver.Response, _ func(driver.Request) driver.Response) {
		if asked.Open != nil {
			messages[asked.Open.Cell] = asked.Open.Message != nil
		}
		if answer.Batched != nil && messages[asked.Batch.Cell] {
			answer.Batched.Bytes -= 2 * int64(answer.Batched.Requests)
		}
	}})
}
