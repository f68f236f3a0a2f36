// Command halves-cpu is a broken worker: it reports half the CPU that its batches took.
package main

import (
	"protocolbench/internal/driver"
	"protocolbench/internal/worker/testdata/proxy"
)

func main() {
	proxy.Main(proxy.Tamper{Answer: func(_ driver.Request, answer *driver.Response, _ func(driver.Request) driver.Response) {
		if answer.Batched != nil {
			answer.Batched.CPUNs /= 2
		}
	}})
}
