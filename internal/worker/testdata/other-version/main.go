// Command other-version is a broken worker: it opens the version before the pin, under the pin's label. The first version with record
// batches has none before it that a broker takes; there it opens the one after.
package main

import (
	"protocolbench/internal/driver"
	"protocolbench/internal/worker/testdata/proxy"
)

func main() {
	first := map[string]int{"Produce": 3, "Fetch": 4}
	proxy.Main(proxy.Tamper{
		Request: func(r *driver.Request, _ func(driver.Request) driver.Response) {
			if r.Open == nil || r.Open.Tier == 0 {
				return
			}
			if r.Open.Version > first[r.Open.API] {
				r.Open.Version--
			} else {
				r.Open.Version++
			}
		},
		Answer: func(asked driver.Request, answer *driver.Response, _ func(driver.Request) driver.Response) {
			if answer.Opened != nil {
				answer.Opened.AnswerVersion = asked.Open.Version
			}
		},
	})
}
