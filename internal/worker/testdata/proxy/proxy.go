// Package proxy stands between the parent and a real worker and tampers with what passes. The broken workers are made of it: each is
// one lie, told by a worker that is right in everything else, whatever client it has.
package proxy

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"protocolbench/internal/driver"
)

// Tamper is the lie. Nil functions change nothing.
type Tamper struct {
	// Request may change a request before the worker sees it. Here and below ask lets the worker do something that nobody asked for.
	Request func(r *driver.Request, ask func(driver.Request) driver.Response)
	// Answer may change an answer before the parent sees it.
	Answer func(asked driver.Request, answer *driver.Response, ask func(driver.Request) driver.Response)
	// Print writes lines of its own to the parent after an answer.
	Print func(asked driver.Request, out io.Writer)
}

// Main runs the worker that the arguments name, in this process's group, and ends as it ends.
func Main(t Tamper) {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: a broken worker takes the real worker's command as its arguments")
		os.Exit(2)
	}
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stderr = os.Stderr
	toWorker, err := cmd.StdinPipe()
	check(err)
	fromWorker, err := cmd.StdoutPipe()
	check(err)
	check(cmd.Start())
	p := &session{tamper: t, toWorker: toWorker, fromWorker: bufio.NewReader(fromWorker), stray: strayID}
	p.pass(bufio.NewReader(os.Stdin), os.Stdout)
	toWorker.Close()
	var exit *exec.ExitError
	if err := cmd.Wait(); errors.As(err, &exit) {
		os.Exit(exit.ExitCode())
	}
}

// strayID numbers the proxy's own requests, far from the parent's.
const strayID = 1_000_000

type session struct {
	tamper     Tamper
	toWorker   io.Writer
	fromWorker *bufio.Reader
	stray      int
}

// pass hands lines on until one side ends.
func (s *session) pass(fromParent *bufio.Reader, toParent io.Writer) {
	for {
		line, err := fromParent.ReadBytes('\n')
		if err != nil {
			return
		}
		asked, sent := s.request(line)
		answer := s.exchange(sent)
		if answer == nil {
			return
		}
		var response driver.Response
		if asked.Op != "" && s.tamper.Answer != nil && json.Unmarshal(answer, &response) == nil && response.Error == "" {
			s.tamper.Answer(asked, &response, s.ask)
			answer = encode(response)
		}
		if _, err := toParent.Write(answer); err != nil {
			return
		}
		if s.tamper.Print != nil {
			s.tamper.Print(asked, toParent)
		}
		if asked.Op == driver.OpClose && asked.Cell == nil {
			return // the worker ends now, and so does its proxy
		}
	}
}

// request gives what the parent asked, and the line for the worker: junk is passed on as it came.
func (s *session) request(line []byte) (asked driver.Request, sent []byte) {
	var d driver.Decoder
	asked, err := d.Request(line)
	if err != nil || s.tamper.Request == nil {
		return asked, line
	}
	changed, _ := d.Request(line) // a copy: the parent's words stay as they were
	s.tamper.Request(&changed, s.ask)
	return asked, encode(changed)
}

func (s *session) exchange(line []byte) []byte {
	if _, err := s.toWorker.Write(line); err != nil {
		return nil
	}
	answer, err := s.fromWorker.ReadBytes('\n')
	if err != nil {
		return nil
	}
	return answer
}

func (s *session) ask(r driver.Request) (response driver.Response) {
	s.stray++
	r.ID = s.stray
	if answer := s.exchange(encode(r)); answer != nil {
		check(json.Unmarshal(answer, &response))
	}
	return response
}

func encode(v any) []byte {
	line, err := json.Marshal(v)
	check(err)
	return append(line, '\n')
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
