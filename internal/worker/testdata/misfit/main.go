// Command misfit is a worker that behaves until it is asked for a batch, and then fails in the way that its first argument names. The
// rest is the real worker's command. It tests the parent's end, not the conformance suite.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"protocolbench/internal/driver"
	"protocolbench/internal/worker/testdata/proxy"
)

func main() {
	way := os.Args[1]
	os.Args = append(os.Args[:1], os.Args[2:]...)
	if way == "loud start" {
		fmt.Println("Welcome to the worker!")
	}
	for i := range 300 {
		fmt.Fprintf(os.Stderr, "log line %d\n", i)
	}
	proxy.Main(proxy.Tamper{
		Answer: func(asked driver.Request, answer *driver.Response, _ func(driver.Request) driver.Response) {
			switch asked.Op {
			case driver.OpHello:
				hello(way, answer)
			case driver.OpBatch:
				fail(way, answer)
			case driver.OpClose:
				if way == "never ends" {
					time.Sleep(time.Hour)
				}
				if way == "ends badly" && asked.Cell == nil {
					os.Exit(7)
				}
			}
		},
		Print: func(asked driver.Request, out io.Writer) {
			if asked.Op == driver.OpBatch && way == "line after" {
				fmt.Fprintln(out, "and by the way")
			}
		},
	})
}

func hello(way string, answer *driver.Response) {
	switch way {
	case "other protocol":
		answer.Hello.Protocol = 99
	case "other pid":
		answer.Hello.PID = os.Getppid()
	case "no hello":
		time.Sleep(time.Hour)
	}
}

func fail(way string, answer *driver.Response) {
	switch way {
	case "panics":
		panic("the engine is on fire")
	case "exits":
		os.Exit(3)
	case "hangs":
		child := exec.Command("sleep", "3600") // holds the pipes; has to go with the group
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		_ = child.Start()
		fmt.Fprintf(os.Stderr, "child %d\n", child.Process.Pid)
		time.Sleep(time.Hour)
	case "wrong id":
		answer.ID += 5
	case "new field":
		fmt.Printf(`{"id":%d,"batched":{"cpuNs":1,"mood":"good"}}`+"\n", answer.ID)
	case "other answer":
		answer.Batched = nil
		answer.Steadied = &driver.Steadied{}
	case "endless line":
		fmt.Print(strings.Repeat("x", 5<<20))
		fmt.Println()
	case "closes stdout":
		os.Stdout.Close()
		time.Sleep(time.Hour)
	}
}
