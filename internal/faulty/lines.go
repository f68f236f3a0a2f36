package faulty

import (
	"bufio"
	"encoding/json"
	"io"

	"protocolbench/internal/driver"
)

// requests changes what the worker reads. A line that is no request passes as it is.
type requests struct {
	from   io.Reader
	lines  *bufio.Reader
	change func(*driver.Request)
	left   []byte
}

func (r *requests) Read(p []byte) (int, error) {
	if r.lines == nil {
		r.lines = bufio.NewReader(r.from)
	}
	if len(r.left) == 0 {
		line, err := r.lines.ReadBytes('\n')
		if len(line) == 0 {
			return 0, err
		}
		r.left = line
		var request driver.Request
		if json.Unmarshal(line, &request) == nil {
			r.change(&request)
			r.left = encoded(request, line)
		}
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// answers changes what the worker writes: Serve writes one whole answer at a time.
type answers struct {
	to     io.Writer
	change func(*driver.Response)
}

func (a *answers) Write(line []byte) (int, error) {
	var response driver.Response
	changed := line
	if json.Unmarshal(line, &response) == nil {
		a.change(&response)
		changed = encoded(response, line)
	}
	if _, err := a.to.Write(changed); err != nil {
		return 0, err
	}
	return len(line), nil
}

func encoded(message any, otherwise []byte) []byte {
	line, err := json.Marshal(message)
	if err != nil {
		return otherwise
	}
	return append(line, '\n')
}
