package jolokia

import (
	"maps"
	"strings"
	"testing"

	"protocolbench/internal/measure"
)

var asked = []Attribute{{"kafka.server:type=T,name=N", "Count"}}

func TestOneCounter(t *testing.T) {
	for _, test := range []struct {
		name, body string
		want       measure.Counter
		why        string // part of Why
	}{
		{"a number", `[{"status":200,"value":42}]`, measure.Counter{State: measure.Number, Value: 42}, ""},
		{"zero is a number", `[{"status":200,"value":0}]`, measure.Counter{State: measure.Number}, ""},
		{"the largest", `[{"status":200,"value":9223372036854775807}]`, measure.Counter{State: measure.Number, Value: 9223372036854775807}, ""},
		{"a whole float", `[{"status":200,"value":12.0}]`, measure.Counter{State: measure.Number, Value: 12}, ""},
		{"echo with another order", `[{"request":{"mbean":"kafka.server:name=N,type=T"},"status":200,"value":3}]`, measure.Counter{State: measure.Number, Value: 3}, ""},
		{"no such bean", `[{"status":404,"error_type":"javax.management.InstanceNotFoundException","error":"kafka.server:x"}]`, measure.Counter{State: measure.Absent}, "kafka.server:x"},
		{"no such attribute", `[{"status":404,"error_type":"javax.management.AttributeNotFoundException","error":"No such attribute: Count"}]`, measure.Counter{State: measure.Absent}, "No such attribute"},
		{"404 for another reason", `[{"status":404,"error_type":"java.lang.IllegalStateException","error":"x"}]`, measure.Counter{State: measure.Unreadable}, "status 404"},
		{"error inside 200", `[{"status":500,"error_type":"java.lang.RuntimeException","error":"boom"}]`, measure.Counter{State: measure.Unreadable}, "boom"},
		{"access denied inside 200", `[{"status":403,"error_type":"java.lang.Exception","error":"Reading attribute is forbidden"}]`, measure.Counter{State: measure.Unreadable}, "forbidden"},
		{"null", `[{"status":200,"value":null}]`, measure.Counter{State: measure.Unreadable}, "null"},
		{"no value", `[{"status":200}]`, measure.Counter{State: measure.Unreadable}, "without a value"},
		{"no status", `[{"value":7}]`, measure.Counter{State: measure.Unreadable}, "without a status"},
		{"a string", `[{"status":200,"value":"7"}]`, measure.Counter{State: measure.Unreadable}, "not a whole number"},
		{"NaN", `[{"status":200,"value":"NaN"}]`, measure.Counter{State: measure.Unreadable}, "NaN"},
		{"a bare NaN", `[{"status":200,"value":NaN}]`, measure.Counter{State: measure.Unreadable}, "not a list of JMX reads"},
		{"a fraction", `[{"status":200,"value":1.5}]`, measure.Counter{State: measure.Unreadable}, "1.5"},
		{"too large", `[{"status":200,"value":9223372036854775808}]`, measure.Counter{State: measure.Unreadable}, "9223372036854775808"},
		{"an object", `[{"status":200,"value":{"Count":1}}]`, measure.Counter{State: measure.Unreadable}, "not a whole number"},
		{"true", `[{"status":200,"value":true}]`, measure.Counter{State: measure.Unreadable}, "true"},
		{"another bean's answer", `[{"request":{"mbean":"kafka.server:name=M,type=T"},"status":200,"value":3}]`, measure.Counter{State: measure.Unreadable}, "answered for"},
		{"too few", `[]`, measure.Counter{State: measure.Unreadable}, "0 answers to 1 reads"},
		{"too many", `[{"status":200,"value":1},{"status":200,"value":1}]`, measure.Counter{State: measure.Unreadable}, "2 answers to 1 reads"},
		{"refused as a whole", `{"status":400,"error":"Invalid JSON request"}`, measure.Counter{State: measure.Unreadable}, "Invalid JSON request"},
		{"html", `<html><body>Please log in</body></html>`, measure.Counter{State: measure.Unreadable}, "Please log in"},
		{"nothing", ``, measure.Counter{State: measure.Unreadable}, "(empty)"},
		{"null list", `null`, measure.Counter{State: measure.Unreadable}, "0 answers"},
	} {
		t.Run(test.name, func(t *testing.T) {
			answers, err := decodeBulk([]byte(test.body), asked)
			if err != nil {
				answers = Unread(1, err.Error())
			}
			got := answers[0].Counter()
			if !strings.Contains(got.Why, test.why) {
				t.Errorf("why = %q, want %q in it", got.Why, test.why)
			}
			if got.State == measure.Unreadable && got.Why == "" {
				t.Error("unreadable without a reason")
			}
			got.Why = ""
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestNumbersOfAPattern(t *testing.T) {
	decode := func(body string) (map[string]int64, error) {
		answers, err := decodeBulk([]byte(body), []Attribute{{"d:type=T,*", "Count"}})
		if err != nil {
			return nil, err
		}
		return answers[0].Numbers("Count")
	}
	got, err := decode(`[{"request":{"mbean":"d:type=T,*"},"status":200,"value":{"d:type=T,version=3":{"Count":5},"d:version=4,type=T":{"Count":6}}}]`)
	if err != nil || len(got) != 2 || got["d:type=T,version=3"] != 5 || got["d:version=4,type=T"] != 6 {
		t.Errorf("got %v, %v", got, err)
	}
	got, err = decode(`[{"status":404,"error_type":"javax.management.InstanceNotFoundException","error":"No MBean with pattern"}]`)
	if err != nil || got == nil || len(got) != 0 {
		t.Errorf("no match: got %v, %v; want an empty map", got, err)
	}
	for _, bad := range []string{
		`[{"status":200,"value":{"d:a=b":{"Count":"x"}}}]`, `[{"status":200,"value":{"d:a=b":{}}}]`, `[{"status":200,"value":{"d:a=b":null}}]`,
		`[{"status":200,"value":5}]`, `[{"status":200,"value":null}]`, `[{"status":500,"error":"x"}]`, `x`,
	} {
		if got, err := decode(bad); err == nil {
			t.Errorf("%s: got %v, want an error", bad, got)
		}
	}
}

func TestProperties(t *testing.T) {
	for name, want := range map[string]map[string]string{
		"d:type=T,name=N,version=12":     {"type": "T", "name": "N", "version": "12"},
		"d:type=T,*":                     {"type": "T", "*": ""},
		"d:*,type=T":                     {"type": "T", "*": ""},
		`d:type=T,x="a,b=\"c\"",name=N`:  {"type": "T", "x": `"a,b=\"c\""`, "name": "N"},
		`d:type=T,x="never closed`:       {"type": "T", "x": `"never closed`},
		"no domain":                      {},
		"kafka.server:type=app-info,id=": {"type": "app-info", "id": ""},
	} {
		got := Properties(name)
		if len(got) != len(want) {
			t.Errorf("Properties(%q) = %v, want %v", name, got, want)
		}
		for key, value := range want {
			if other, ok := got[key]; !ok || other != value {
				t.Errorf("Properties(%q) = %v, want %v", name, got, want)
			}
		}
	}
}

// bulk is what a reading of a block asks for: single counters and a pattern.
var bulk = []Attribute{{"kafka.server:type=T,name=N", "Count"}, {"kafka.network:type=R,name=P,*", "Count"}}

// FuzzDecode: whatever an agent answers, every read has one answer, no answer is a number without being one in the text, what can't be read has a reason, and nothing
// panics.
func FuzzDecode(f *testing.F) {
	const one = `{"request":{"mbean":"kafka.server:name=N,type=T"},"status":200,"value":42}`
	for _, body := range []string{
		`[{"status":200,"value":42}]`, `[{"status":404,"error_type":"javax.management.InstanceNotFoundException"}]`,
		`[{"request":{"mbean":"kafka.server:name=N,type=T"},"status":200,"value":{"kafka.server:name=N,type=T":{"Count":1}}}]`, `{"error":"x"}`, `[`, `[null]`, `[1e3]`,
		`[{"request":{"mbean":"kafka.server:name=\"N"},"status":200,"value":1e30}]`,
		`[` + one + `,{"request":{"mbean":"kafka.network:*,type=R,name=P"},"status":200,"value":{"kafka.network:name=P,type=R,version=9":{"Count":7},"kafka.network:name=P,type=R,version=\"1,0\"":{"Count":0}}}]`,
		`[` + one + `,{"status":404,"error_type":"javax.management.InstanceNotFoundException","error":"no bean"}]`, `[` + one + `,` + one + `]`,
		`{"request":{"type":"version"},"status":200,"value":{"agent":"2.0.3","protocol":"8.0"}}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, reads := range [][]Attribute{asked, bulk} {
			answers, err := decodeBulk(body, reads)
			if err != nil {
				answers = Unread(len(reads), err.Error())
			}
			if len(answers) != len(reads) {
				t.Fatalf("%d answers to %d reads", len(answers), len(reads))
			}
			for _, a := range answers {
				checkCounter(t, body, a)
				checkPattern(t, a)
			}
		}
		_ = decodeVersion(body)
	})
}

func checkCounter(t *testing.T, body []byte, a Answer) {
	t.Helper()
	counter := a.Counter()
	switch counter.State {
	case measure.Number:
		if !strings.ContainsAny(string(body), "0123456789") || !strings.Contains(string(body), "200") {
			t.Fatalf("%d was read from %q", counter.Value, body)
		}
	case measure.Absent:
		if !strings.Contains(string(body), "NotFoundException") && !strings.Contains(string(body), `\u`) {
			t.Fatalf("absent was read from %q", body)
		}
	case measure.Unreadable:
		if counter.Why == "" || counter.Value != 0 {
			t.Fatalf("unreadable: %+v", counter)
		}
	default:
		t.Fatalf("state %q", counter.State)
	}
}

// checkPattern: an answer to a pattern is numbers for all beans that it names, or an error.
func checkPattern(t *testing.T, a Answer) {
	t.Helper()
	numbers, err := a.Numbers("Count")
	names, nameless := a.Beans()
	switch {
	case err != nil && (numbers != nil || err.Error() == ""):
		t.Fatalf("numbers %v with the error %q", numbers, err)
	case err == nil && (nameless != nil || len(names) != len(numbers)):
		t.Fatalf("numbers of %v, and beans %v (%v)", numbers, names, nameless)
	}
	for _, name := range names {
		if Properties(name) == nil || !sameBean(name, name) {
			t.Fatalf("%q is not itself", name)
		}
	}
	if text, err := a.Text(); err == nil && text == "" {
		t.Fatal("an empty text")
	}
}

// FuzzBeans: names of beans are the same in both directions, and only with the same properties, whatever their order.
func FuzzBeans(f *testing.F) {
	f.Add("d:type=T,name=N", "d:name=N,type=T")
	f.Add("d:type=T,*", "d:*,type=T")
	f.Add(`d:x="a,b=\"c\"",y=1`, `d:y=1,x="a,b=\"c\""`)
	f.Add(`d:x="never closed`, "d")
	f.Fuzz(func(t *testing.T, a, b string) {
		same := sameBean(a, b)
		if same != sameBean(b, a) || !sameBean(a, a) {
			t.Fatalf("%q and %q: the same in one direction", a, b)
		}
		if same && !maps.Equal(Properties(a), Properties(b)) {
			t.Fatalf("%q and %q have the properties %v and %v", a, b, Properties(a), Properties(b))
		}
	})
}
