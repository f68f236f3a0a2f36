package pin

import (
	"slices"
	"strings"
	"testing"
)

// The newest versions that Kafka 4.4 and franz-go v1.22.3 have: a newer one is to be looked up and written down, not guessed.
var newest = map[string]int{Produce.Name: 13, Fetch.Name: 18}

func TestEveryVersionHasItsChange(t *testing.T) {
	for _, api := range []API{Produce, Fetch} {
		for v := api.Floor; v <= newest[api.Name]; v++ {
			text, ok := Change(api.Name, v)
			c := changes[api.Name][v]
			switch {
			case !ok || c.text == "":
				t.Errorf("%s v%d: nobody has written down what it changed", api.Name, v)
			case c.kip != "" && !strings.Contains(text, c.kip):
				t.Errorf("%s v%d: %q doesn't name %s", api.Name, v, text, c.kip)
			case strings.HasSuffix(c.text, "."), strings.ToUpper(c.text[:1]) == c.text[:1]:
				t.Errorf("%s v%d: %q is to stand inside a sentence", api.Name, v, text)
			}
			for _, field := range c.fields {
				side, name, _ := strings.Cut(field, ".")
				if side != "request" && side != "answer" || name == "" || strings.ToUpper(name[:1]) != name[:1] || !strings.Contains(text, field) {
					t.Errorf("%s v%d: field %q", api.Name, v, field)
				}
			}
			flexible := strings.Contains(c.text, "flexible encoding")
			if unchanged := strings.HasPrefix(c.text, "no field"); unchanged != (len(c.fields) == 0 && !flexible) {
				t.Errorf("%s v%d: %q, fields %v", api.Name, v, c.text, c.fields)
			}
		}
		if n, want := len(changes[api.Name]), newest[api.Name]-api.Floor+1; n != want {
			t.Errorf("%s has %d entries, want %d", api.Name, n, want)
		}
	}
}

func TestChangeNamesSchemaFields(t *testing.T) {
	for _, c := range []struct {
		api     string
		version int
		want    []string
	}{
		{"Fetch", 12, []string{"flexible", "tagged fields", "KIP-482", "answer.DivergingEpoch"}},
		{"Fetch", 13, []string{"topic ids", "KIP-516", "answer.TopicId"}},
		{"Fetch", 7, []string{"sessions", "KIP-227", "request.SessionEpoch"}},
		{"Produce", 8, []string{"KIP-467", "answer.RecordErrors"}},
		{"Produce", 5, []string{"(answer.LogStartOffset)"}},
	} {
		text, _ := Change(c.api, c.version)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s v%d: %q lacks %q", c.api, c.version, text, want)
			}
		}
	}
}

func TestChangeOfUnknownVersions(t *testing.T) {
	for _, c := range []struct {
		api     string
		version int
	}{{"Fetch", 3}, {"Fetch", 19}, {"Produce", 2}, {"Produce", 14}, {"Produce", -1}, {"Metadata", 12}, {"", 4}} {
		if text, ok := Change(c.api, c.version); ok || text != "" {
			t.Errorf("%s v%d: %q", c.api, c.version, text)
		}
	}
	if !slices.Contains(changes[Fetch.Name][18].fields, "request.HighWatermark") {
		t.Error("v18 is the high watermark's")
	}
}
