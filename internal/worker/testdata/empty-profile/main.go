// Command empty-profile is a broken worker: its CPU profiles have nothing in them.
package main

import (
	"protocolbench/internal/driver"
	"protocolbench/internal/worker/testdata/proxy"
)

func main() {
	proxy.Main(proxy.Tamper{Answer: func(_ driver.Request, answer *driver.Response, _ func(driver.Request) driver.Response) {
		if answer.Profiled != nil {
			answer.Profiled.Pprof = nil
		}
	}})
}
