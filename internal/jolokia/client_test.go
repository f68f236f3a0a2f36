package jolokia

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"protocolbench/internal/measure"
)

const version = `{"request":{"type":"version"},"value":{"agent":"2.5.0","protocol":"8.2"},"status":200}`

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL + "/jolokia"
}

func answering(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestPingSaysWhatIsWrong(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + closed.Addr().String() + "/jolokia"
	_ = closed.Close()
	for _, test := range []struct{ name, url, want string }{
		{"an agent", serve(t, answering(200, version)), ""},
		{"401", serve(t, answering(401, "")), "401 Unauthorized: pass credentials in the URL"},
		{"403", serve(t, answering(403, "")), "pass credentials in the URL"},
		{"404", serve(t, answering(404, "<h1>404</h1>")), "no agent at this path"},
		{"500", serve(t, answering(500, "boom")), "boom"},
		{"garbage", serve(t, answering(200, "hello")), "not a Jolokia agent"},
		{"empty", serve(t, answering(200, "")), "(empty)"},
		{"JSON of others", serve(t, answering(200, `{"status":"ok"}`)), "not a Jolokia agent"},
		{"a redirect", serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) }), "redirect"},
		{"nobody", nobody, "cannot be reached"},
		{"no scheme", "127.0.0.1:8778/jolokia", "give http://HOST:PORT/jolokia"},
		{"a bad URL", "http://user:secret@host:x/", "give http://HOST:PORT/jolokia"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := New(test.url, time.Minute).Ping(context.Background())
			switch {
			case test.want == "" && err != nil:
				t.Errorf("got %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %q in it", err, test.want)
			case err != nil && strings.Contains(err.Error(), "secret"):
				t.Errorf("the password is in the message: %v", err)
			}
		})
	}
}

func TestCredentialsAreSentAndNotShown(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := r.BasicAuth(); !ok || user != "anna" || password != "s3cret" {
			w.WriteHeader(401)
			return
		}
		_, _ = io.WriteString(w, version)
	})
	if err := New(strings.Replace(url, "http://", "http://anna:s3cret@", 1), time.Minute).Ping(context.Background()); err != nil {
		t.Errorf("right credentials: %v", err)
	}
	err := New(strings.Replace(url, "http://", "http://anna:wr0ng@", 1), time.Minute).Ping(context.Background())
	if err == nil || strings.Contains(err.Error(), "wr0ng") {
		t.Errorf("wrong credentials: %v", err)
	}
}

func TestCountersAreOneRequest(t *testing.T) {
	requests := 0
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		var reads []map[string]string
		if err := json.NewDecoder(r.Body).Decode(&reads); err != nil || r.Method != http.MethodPost || len(reads) != 2 ||
			reads[0]["type"] != "read" || reads[0]["mbean"] != "a:b=c" || reads[1]["attribute"] != "Value" {
			t.Errorf("request %v, %v", reads, err)
		}
		_, _ = io.WriteString(w, `[{"status":200,"value":1},{"status":404,"error_type":"javax.management.InstanceNotFoundException","error":"d:e=f"}]`)
	})
	got := New(url, time.Minute).Counters(context.Background(), []Attribute{{"a:b=c", "Count"}, {"d:e=f", "Value"}})
	if len(got) != 2 || got[0] != (measure.Counter{State: measure.Number, Value: 1}) || got[1].State != measure.Absent || requests != 1 {
		t.Errorf("got %+v in %d requests", got, requests)
	}
}

// A failed request is no zero and no absence: each counter says so.
func TestEveryFailureIsUnreadable(t *testing.T) {
	for name, url := range map[string]string{
		"401":          serve(t, answering(401, "")),
		"a 404 page":   serve(t, answering(404, `[{"status":404,"error_type":"javax.management.InstanceNotFoundException"}]`)),
		"garbage":      serve(t, answering(200, "garbage")),
		"wrong length": serve(t, answering(200, `[{"status":200,"value":1}]`)),
		"too long":     serve(t, answering(200, strings.Repeat("[", bodyLimitBytes+1))),
		"a hang-up": serve(t, func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_ = conn.Close()
			}
		}),
		"bad URL": "::",
	} {
		t.Run(name, func(t *testing.T) { wantUnreadable(t, New(url, time.Minute), context.Background()) })
	}
	hang := make(chan struct{})
	slow := serve(t, func(http.ResponseWriter, *http.Request) { <-hang })
	t.Cleanup(func() { close(hang) }) // before the server's own, which waits for its handlers
	t.Run("time-out", func(t *testing.T) { wantUnreadable(t, New(slow, 50*time.Millisecond), context.Background()) })
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		wantUnreadable(t, New(slow, time.Minute), ctx)
	})
}

func wantUnreadable(t *testing.T, c *Client, ctx context.Context) {
	t.Helper()
	got := c.Counters(ctx, []Attribute{{"a:b=c", "Count"}, {"a:b=d", "Count"}})
	if len(got) != 2 {
		t.Fatalf("%d counters", len(got))
	}
	for _, counter := range got {
		if counter.State != measure.Unreadable || counter.Why == "" || counter.Value != 0 {
			t.Errorf("got %+v", counter)
		}
	}
	if beans, err := c.Pattern(ctx, "a:*", "Count"); err == nil {
		t.Errorf("pattern: %v", beans)
	}
	if text, err := c.Text(ctx, Attribute{"a:b=c", "Value"}); err == nil {
		t.Errorf("text: %q", text)
	}
}
