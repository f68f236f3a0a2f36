package jolokia

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"protocolbench/internal/measure"
)

// Answer is what came back for one attribute.
type Answer struct {
	state measure.State
	value json.RawMessage // for Number, which here means: there is a value of any kind
	why   string
}

// response is one element of a bulk answer.
type response struct {
	Request *struct {
		MBean string `json:"mbean"`
	} `json:"request"`
	Value     json.RawMessage `json:"value"`
	Status    *int            `json:"status"`
	Error     string          `json:"error"`
	ErrorType string          `json:"error_type"`
}

func decodeVersion(body []byte) error {
	var r response
	if err := json.Unmarshal(body, &r); err != nil {
		return fmt.Errorf("the answer is not its JSON: %s", excerpt(body))
	}
	var version struct {
		Agent string `json:"agent"`
	}
	if r.Status == nil || *r.Status != 200 || json.Unmarshal(r.Value, &version) != nil || version.Agent == "" {
		return fmt.Errorf("the answer names no agent version: %s", excerpt(body))
	}
	return nil
}

// decodeBulk takes an answer apart. An error means that no part of it can be trusted.
func decodeBulk(body []byte, attributes []Attribute) ([]Answer, error) {
	var responses []response
	if err := json.Unmarshal(body, &responses); err != nil {
		var one response
		if json.Unmarshal(body, &one) == nil && one.Error != "" {
			return nil, fmt.Errorf("the agent refused the whole request: %s", one.Error)
		}
		return nil, fmt.Errorf("the answer is not a list of JMX reads: %s", excerpt(body))
	}
	if len(responses) != len(attributes) {
		return nil, fmt.Errorf("%d answers to %d reads: they can't be told apart", len(responses), len(attributes))
	}
	answers := make([]Answer, len(responses))
	for i := range responses {
		answers[i] = responses[i].answer(attributes[i])
	}
	return answers, nil
}

func (r *response) answer(asked Attribute) Answer {
	switch {
	case r.Status == nil:
		return Answer{state: measure.Unreadable, why: "an answer without a status"}
	case r.Request != nil && !sameBean(r.Request.MBean, asked.MBean):
		return Answer{state: measure.Unreadable, why: fmt.Sprintf("asked for %s, answered for %s", asked.MBean, r.Request.MBean)}
	case *r.Status == 404 && (strings.HasSuffix(r.ErrorType, ".InstanceNotFoundException") || strings.HasSuffix(r.ErrorType, ".AttributeNotFoundException")):
		return Answer{state: measure.Absent, why: r.Error}
	case *r.Status != 200:
		return Answer{state: measure.Unreadable, why: fmt.Sprintf("status %d: %s %s", *r.Status, r.ErrorType, r.Error)}
	case len(r.Value) == 0:
		return Answer{state: measure.Unreadable, why: "an answer without a value"}
	}
	return Answer{state: measure.Number, value: r.Value}
}

// Unread makes answers for reads that could not be sent, each with the reason.
func Unread(n int, why string) []Answer {
	answers := make([]Answer, n)
	for i := range answers {
		answers[i] = Answer{state: measure.Unreadable, why: why}
	}
	return answers
}

// Counter is the answer as a whole number.
func (a Answer) Counter() measure.Counter {
	if a.state != measure.Number {
		return measure.Counter{State: a.state, Why: a.why}
	}
	n, err := number(a.value)
	if err != nil {
		return measure.Counter{State: measure.Unreadable, Why: err.Error()}
	}
	return measure.Counter{State: measure.Number, Value: n}
}

// Text is the answer as a string that is not empty.
func (a Answer) Text() (string, error) {
	if a.state != measure.Number {
		return "", fmt.Errorf("%s: %s", a.state, a.why)
	}
	var text string
	if err := json.Unmarshal(a.value, &text); err != nil || text == "" {
		return "", fmt.Errorf("not a text: %s", excerpt(a.value))
	}
	return text, nil
}

// Numbers is the answer to a pattern: bean name -> number. One value that is no number makes all of it an error.
func (a Answer) Numbers(attribute string) (map[string]int64, error) {
	if a.state == measure.Absent {
		return map[string]int64{}, nil
	}
	if a.state != measure.Number {
		return nil, errors.New(a.why)
	}
	var beans map[string]map[string]json.RawMessage
	if err := json.Unmarshal(a.value, &beans); err != nil || beans == nil {
		return nil, fmt.Errorf("not an answer to a pattern: %s", excerpt(a.value))
	}
	numbers := make(map[string]int64, len(beans))
	for bean, attributes := range beans {
		n, err := number(attributes[attribute])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", bean, err)
		}
		numbers[bean] = n
	}
	return numbers, nil
}

// Beans are the names of the beans that answered to a pattern, whatever their attributes are.
func (a Answer) Beans() ([]string, error) {
	if a.state == measure.Absent {
		return nil, nil
	}
	if a.state != measure.Number {
		return nil, errors.New(a.why)
	}
	var beans map[string]map[string]json.RawMessage
	if err := json.Unmarshal(a.value, &beans); err != nil || beans == nil {
		return nil, fmt.Errorf("not an answer to a pattern: %s", excerpt(a.value))
	}
	return slices.Sorted(maps.Keys(beans)), nil
}

// number takes JSON numbers that are whole. A quoted number is refused: an agent that quotes also writes "NaN" so.
func number(raw json.RawMessage) (int64, error) {
	text := string(bytes.TrimSpace(raw))
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && json.Valid(raw) {
		return n, nil
	}
	var f float64
	if text == "null" || json.Unmarshal(raw, &f) != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, fmt.Errorf("not a whole number: %s", excerpt(raw))
	}
	return int64(f), nil
}

// Properties are the key properties of a bean name. Their order means nothing and differs between agents.
func Properties(mbean string) map[string]string {
	_, list, _ := strings.Cut(mbean, ":")
	properties := map[string]string{}
	for list != "" {
		key, rest, ok := strings.Cut(list, "=")
		if !ok { // the "*" of a pattern
			properties[list] = ""
			break
		}
		if tail, isStar := strings.CutPrefix(key, "*,"); isStar { // a pattern may begin with it, too
			properties["*"], key = "", tail
		}
		var value string
		if strings.HasPrefix(rest, `"`) {
			value, list = quoted(rest)
		} else {
			value, list, _ = strings.Cut(rest, ",")
		}
		properties[key] = value
	}
	return properties
}

// quoted splits a quoted value, in which a backslash escapes, from what follows its comma.
func quoted(text string) (value, rest string) {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return text[:i+1], strings.TrimPrefix(text[i+1:], ",")
		}
	}
	return text, ""
}

func sameBean(a, b string) bool {
	if a == b {
		return true
	}
	domainA, _, _ := strings.Cut(a, ":")
	domainB, _, _ := strings.Cut(b, ":")
	propertiesA, propertiesB := Properties(a), Properties(b)
	if domainA != domainB || len(propertiesA) != len(propertiesB) {
		return false
	}
	for key, value := range propertiesA {
		if other, ok := propertiesB[key]; !ok || other != value {
			return false
		}
	}
	return true
}

// excerpt is the beginning of what was answered, on one line.
func excerpt(body []byte) string {
	const most = 120
	text := strings.Join(strings.Fields(string(body)), " ")
	switch {
	case text == "":
		return "(empty)"
	case len(text) > most:
		text = text[:most] + "..."
	}
	return strconv.Quote(text)
}
