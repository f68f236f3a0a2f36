// Package jolokia reads JMX over HTTP from the Jolokia agent in a broker's JVM.
//
// A counter has three answers: a number, absent (the agent answered, and there is no such bean or attribute), unreadable
// (everything else). None of the last two is a zero, whatever a caller makes of them.
package jolokia

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-resty/resty/v2"

	"protocolbench/internal/measure"
)

// Attribute is one attribute of one bean; where it says so, MBean may be a pattern ("...,*").
type Attribute struct {
	MBean string `json:"mbean"`
	Name  string `json:"attribute"`
}

// bodyLimitBytes bounds an answer: a bulk of a broker's counters has a few KiB.
const bodyLimitBytes = 8 << 20

// Client reads from one agent. It may be used by several goroutines.
type Client struct {
	http *resty.Client
	url  string // without credentials, with a trailing slash
	bad  error  // the URL can't be used: every read says so
}

// New makes a client for an agent's base URL ("http://host:port/jolokia"; credentials as user:password@host). It sends nothing yet; a URL
// that cannot be used is reported by Ping and by every read.
func New(rawURL string, timeout time.Duration) *Client {
	c := &Client{http: resty.New()}
	c.http.SetTimeout(timeout)
	c.http.SetResponseBodyLimit(bodyLimitBytes)
	c.http.SetDisableWarn(true) // resty writes to standard error about credentials over plain HTTP
	c.http.SetLogger(quiet{})
	// A login page behind a redirect would be read as an answer.
	c.http.SetRedirectPolicy(resty.NoRedirectPolicy())
	u, err := url.Parse(rawURL)
	switch {
	case err != nil:
		c.url, c.bad = "the given URL", fmt.Errorf("the Jolokia URL cannot be read (%v): give http://HOST:PORT/jolokia", unwrapURL(err))
		return c
	case (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		c.url, c.bad = u.Redacted(), fmt.Errorf("the Jolokia URL %q is not http or https: give http://HOST:PORT/jolokia", u.Redacted())
		return c
	}
	if u.User != nil {
		password, _ := u.User.Password()
		c.http.SetBasicAuth(u.User.Username(), password)
		u.User = nil
	}
	u.Path = strings.TrimRight(u.Path, "/") + "/"
	c.url = u.String()
	return c
}

// Ping asks the agent for its version.
func (c *Client) Ping(ctx context.Context) error {
	body, err := c.post(ctx, map[string]string{"type": "version"})
	if err != nil {
		return err
	}
	if err := decodeVersion(body); err != nil {
		return fmt.Errorf("%s is not a Jolokia agent: %w", c.url, err)
	}
	return nil
}

// Read reads attributes in one request. There is one answer per attribute, in their order; failures of the request are in each of them.
func (c *Client) Read(ctx context.Context, attributes []Attribute) []Answer {
	if len(attributes) == 0 {
		return nil
	}
	type read struct {
		Type string `json:"type"`
		Attribute
	}
	reads := make([]read, len(attributes))
	for i, a := range attributes {
		reads[i] = read{"read", a}
	}
	body, err := c.post(ctx, reads)
	if err != nil {
		return Unread(len(attributes), err.Error())
	}
	answers, err := decodeBulk(body, attributes)
	if err != nil {
		return Unread(len(attributes), fmt.Sprintf("Jolokia at %s: %v", c.url, err))
	}
	return answers
}

// Counters reads attributes as numbers, in one request.
func (c *Client) Counters(ctx context.Context, attributes []Attribute) []measure.Counter {
	counters := make([]measure.Counter, len(attributes))
	for i, answer := range c.Read(ctx, attributes) {
		counters[i] = answer.Counter()
	}
	return counters
}

// Pattern reads one attribute of all beans that match a pattern: bean name -> number. No match is an empty map. The order of key
// properties in a bean name is not fixed: use Properties.
func (c *Client) Pattern(ctx context.Context, mbeanPattern, attribute string) (map[string]int64, error) {
	return c.Read(ctx, []Attribute{{mbeanPattern, attribute}})[0].Numbers(attribute)
}

// Text reads one attribute as a string.
func (c *Client) Text(ctx context.Context, attribute Attribute) (string, error) {
	return c.Read(ctx, []Attribute{attribute})[0].Text()
}

func (c *Client) post(ctx context.Context, body any) ([]byte, error) {
	if c.bad != nil {
		return nil, c.bad
	}
	response, err := c.http.R().SetContext(ctx).SetHeader("Content-Type", "application/json").
		// Stack traces and echoes of the request would be most of the answer, written on the broker's CPU.
		SetQueryParams(map[string]string{"includeStackTrace": "false"}).
		SetBody(body).Post(c.url)
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	switch code := response.StatusCode(); {
	case code == http.StatusOK:
		return response.Body(), nil
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return nil, fmt.Errorf("the Jolokia agent at %s answered %s: pass credentials in the URL (http://user:password@host:port/jolokia)", c.url, response.Status())
	case code == http.StatusNotFound:
		return nil, fmt.Errorf("%s answered %s: the server has no agent at this path (it usually is /jolokia)", c.url, response.Status())
	default:
		return nil, fmt.Errorf("%s answered %s, not as a Jolokia agent does: %s", c.url, response.Status(), excerpt(response.Body()))
	}
}

func (c *Client) explain(ctx context.Context, err error) error {
	var timeout interface{ Timeout() bool }
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("asking Jolokia at %s: %w", c.url, ctx.Err())
	case errors.Is(err, resty.ErrResponseBodyTooLarge):
		return fmt.Errorf("%s answered more than %d MiB: it is not a Jolokia agent's answer", c.url, bodyLimitBytes>>20)
	case errors.Is(err, resty.ErrAutoRedirectDisabled):
		return fmt.Errorf("%s answered with a redirect, which a Jolokia agent doesn't: check the URL", c.url)
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("the Jolokia agent at %s did not answer within %s", c.url, c.http.GetClient().Timeout)
	}
	return fmt.Errorf("the Jolokia agent at %s cannot be reached (%w): check that the agent listens there", c.url, unwrapURL(err))
}

// unwrapURL drops the method and URL that net/http and net/url put in front: the message has the URL already, without its password.
func unwrapURL(err error) error {
	var inner *url.Error
	if errors.As(err, &inner) {
		return inner.Err
	}
	return err
}

type quiet struct{}

func (quiet) Errorf(string, ...any) {}
func (quiet) Warnf(string, ...any)  {}
func (quiet) Debugf(string, ...any) {}
