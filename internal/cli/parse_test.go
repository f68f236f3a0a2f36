package cli

import (
	"maps"
	"strings"
	"testing"
)

func TestParseMargin(t *testing.T) {
	for text, want := range map[string]float64{"3%": 0.03, "0.03": 0.03, "7.5 %": 0.075, "99%": 0.99} {
		got, err := parseMargin(text)
		if err != nil || got < want-1e-12 || got > want+1e-12 {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "3", "0", "0%", "-1%", "100%", "x", "NaN", "%", "1e400"} {
		if got, err := parseMargin(text); err == nil {
			t.Errorf("%q: accepted as %v", text, got)
		}
	}
}

func TestParseVersions(t *testing.T) {
	got, err := parseVersions([]string{"fetch=4-18", "Produce=v13"})
	want := map[string][2]int{"fetch": {4, 18}, "produce": {13, 13}}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for _, text := range []string{"fetch", "fetch=", "fetch=a", "fetch=-1", "fetch=5-4", "fetch=4-", "fetch=1-2-3", "fetch=99999", "metadata=1"} {
		if got, err := parseVersions([]string{text}); err == nil {
			t.Errorf("%q: accepted as %v", text, got)
		}
	}
	if _, err := parseVersions([]string{"fetch=4", "fetch=5"}); err == nil {
		t.Error("two answers for one API were accepted")
	}
}

func TestParseBroker(t *testing.T) {
	for _, text := range []string{"", "jvm", "embedded", "localhost:9092", "10.0.0.1:9092,10.0.0.2:9093", "[::1]:9092"} {
		if got, err := parseBroker(text); err != nil || got != text {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"docker", "JVM", "localhost", "localhost:", ":9092", "localhost:0", "localhost:70000", "a:1,", "a:1,b", "a:1 b:2", "::1:9092"} {
		if got, err := parseBroker(text); err == nil {
			t.Errorf("%q: accepted as %q", text, got)
		}
	}
}

func TestParseJolokia(t *testing.T) {
	for _, text := range []string{"", "http://127.0.0.1:8778/jolokia", "https://user:word@host/jolokia", "http://a:1/jolokia,http://b:2/jolokia"} {
		if got, err := parseJolokia(text); err != nil || got != text {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"127.0.0.1:8778", "host/jolokia", "ftp://host/", "http:///jolokia", "http://a b/", "http://a:1/jolokia,", "http://a:1/jolokia,b:2"} {
		if got, err := parseJolokia(text); err == nil {
			t.Errorf("%q: accepted as %q", text, got)
		}
	}
}

func TestParseTiers(t *testing.T) {
	for text, want := range map[string]int{"all": 3, "0": 1, "2": 1} {
		if got, err := parseTiers(text); err != nil || len(got) != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "3", "-1", "01", "0,1"} {
		if got, err := parseTiers(text); err == nil {
			t.Errorf("%q: accepted as %v", text, got)
		}
	}
}

func FuzzParseVersions(f *testing.F) {
	for _, text := range []string{"fetch=4-18", "produce=v3", "fetch=4-18-3", "=", "-"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseVersions(strings.Split(text, ","))
		if err != nil {
			return
		}
		for api, r := range got {
			if (api != "fetch" && api != "produce") || r[0] < 0 || r[1] < r[0] || r[1] > 32767 {
				t.Errorf("%q gave %s %v", text, api, r)
			}
		}
	})
}
