package pin

import (
	"strings"
	"testing"

	"protocolbench/internal/record"
)

func TestJudgeOfAPreflight(t *testing.T) {
	right := func(change func(*record.Try)) record.Try {
		try := record.Try{Version: 9, Outcome: record.TryOpened, AnswerVersion: 9, Sent: map[int]int64{9: 1}, Arrived: map[int]int64{9: 1}}
		change(&try)
		return try
	}
	for _, c := range []struct {
		name  string
		try   record.Try
		fault Fault
		sent  int
		words string
	}{
		{"as it should be", right(func(*record.Try) {}), Held, -1, ""},
		{"no witness but the client", right(func(t *record.Try) { t.Sent, t.Arrived = nil, nil }), Held, -1, ""},
		{"another version left, and the client failed on the answer", right(func(t *record.Try) {
			t.Outcome, t.AnswerVersion, t.Sent, t.Arrived, t.Error = record.TryRefused, -1, map[int]int64{18: 1}, map[int]int64{18: 1}, "EOF"
		}), OtherVersion, 18, "asked for Fetch v9, v18 was sent (1 request on the wire; the client's words: EOF)"},
		{"another version left beside the right one", right(func(t *record.Try) { t.Sent[8] = 2 }), OtherVersion, 8, "v8 was sent (2 requests"},
		{"the worker's count lies", right(func(t *record.Try) { t.Arrived = map[int]int64{17: 1} }), OtherVersion, 17, "asked for Fetch v9, v17 arrived"},
		{"others use the broker, too", right(func(t *record.Try) { t.Arrived[17], t.Foreign = 5, true }), Held, -1, ""},
		{"the client's own word", right(func(t *record.Try) { t.AnswerVersion = 10 }), OtherVersion, 10, "says that it spoke v10"},
		{"an error", right(func(t *record.Try) { t.Outcome, t.AnswerVersion, t.Error = record.TryRefused, -1, "not supported yet" }), Incompatible, -1,
			"can't speak Fetch v9 with a broker that takes it: not supported yet"},
		{"an error before anything was sent", right(func(t *record.Try) {
			t.Outcome, t.AnswerVersion, t.Sent, t.Arrived, t.Error = record.TryRefused, -1, map[int]int64{}, map[int]int64{}, "no"
		}),
			Incompatible, -1, "can't speak"},
		{"a hang", right(func(t *record.Try) {
			t.Outcome, t.AnswerVersion, t.Sent, t.Log = record.TryHung, -1, nil, []string{"a", "stuck"}
		}), Incompatible, -1, "its last log line: stuck"},
		{"an answer to nothing", right(func(t *record.Try) { t.Sent, t.Arrived = map[int]int64{}, map[int]int64{} }), NothingSent, -1, "no request left"},
		{"a count of what never arrived", right(func(t *record.Try) { t.Arrived = map[int]int64{} }), NothingSent, -1, "the broker counted no request of it"},
	} {
		got := Judge("Fetch", c.try)
		if got.Fault != c.fault || got.Sent != c.sent || !strings.Contains(got.Why, c.words) || (got.Why == "") != (c.fault == Held) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestJudgeOfAClientLeftAlone(t *testing.T) {
	for _, c := range []struct {
		name  string
		try   record.Try
		fault Fault
		words string
	}{
		{"the newest", record.Try{Outcome: record.TryOpened, AnswerVersion: 17, Sent: map[int]int64{17: 1}}, Held, ""},
		{"says nothing, counts nothing", record.Try{Outcome: record.TryOpened, AnswerVersion: -1}, Held, ""},
		{"a version that it hides", record.Try{Outcome: record.TryOpened, AnswerVersion: 18, Sent: map[int]int64{18: 1}}, OtherVersion, "it says that it implements v4-v17"},
		{"by the wire alone", record.Try{Outcome: record.TryOpened, AnswerVersion: -1, Sent: map[int]int64{18: 1}}, OtherVersion, "v18"},
		{"says one and sends another", record.Try{Outcome: record.TryOpened, AnswerVersion: 17, Sent: map[int]int64{12: 1}}, OtherVersion, "says that it spoke Fetch v17, and v12 was sent"},
		{"its loop sends another than a direct request", record.Try{Outcome: record.TryOpened, AnswerVersion: 17, Sent: map[int]int64{17: 1, 16: 1}}, OtherVersion, "says that it spoke Fetch v17, and v16 was sent (1 request)"},
		{"its loop sends one that it hides", record.Try{Outcome: record.TryOpened, AnswerVersion: 17, Sent: map[int]int64{17: 1, 18: 1}}, OtherVersion, "versions that it hides"},
		{"can't", record.Try{Outcome: record.TryRefused, AnswerVersion: -1, Error: "no usable version"}, Incompatible, "no usable version"},
	} {
		got := Alone("Fetch", c.try, [2]int{4, 17}, [2]int{4, 18})
		if got.Fault != c.fault || !strings.Contains(got.Why, c.words) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	if got := Alone("Fetch", record.Try{Outcome: record.TryOpened, AnswerVersion: 8}, [2]int{4, 18}, [2]int{0, 7}); got.Fault != OtherVersion || !strings.Contains(got.Why, "advertises v0-v7") {
		t.Errorf("more than the broker names: %+v", got)
	}
}
