package selftest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync/atomic"
)

// agent stands before a Jolokia agent and changes what it says of the broker's start, once it is told to.
type agent struct {
	*httputil.ReverseProxy
	later atomic.Bool
}

func newAgent(jolokiaURL string) (*agent, error) {
	target, err := url.Parse(jolokiaURL)
	if err != nil {
		return nil, err
	}
	a := &agent{}
	a.ReverseProxy = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host
			r.Out.Header.Del("Accept-Encoding") // what comes back has to be readable here
		},
		ModifyResponse: a.rewrite,
	}
	return a, nil
}

const startTime = "StartTime"

// rewrite goes through the answers of a bulk read.
func (a *agent) rewrite(response *http.Response) error {
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if a.later.Load() {
		body = secondLater(body)
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	response.ContentLength = int64(len(body))
	response.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}

func secondLater(body []byte) []byte {
	var answers []map[string]json.RawMessage
	if json.Unmarshal(body, &answers) != nil {
		return body
	}
	for _, answer := range answers {
		var asked struct{ Attribute any }
		var startMs int64
		if json.Unmarshal(answer["request"], &asked) == nil && fmt.Sprint(asked.Attribute) == startTime && json.Unmarshal(answer["value"], &startMs) == nil {
			answer["value"] = json.RawMessage(strconv.FormatInt(startMs+1000, 10))
		}
	}
	changed, err := json.Marshal(answers)
	if err != nil {
		return body
	}
	return changed
}
