package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]Spec{
		"franz-go":         {Client: "franz-go"},
		"franz-go@v1.20.0": {Client: "franz-go", Release: "v1.20.0"},
		"franz-go@latest":  {Client: "franz-go", Release: "latest"},
		"franz-go=/a/b":    {Client: "franz-go", Dir: "/a/b"},
		"franz-go=../x y":  {Client: "franz-go", Dir: filepath.Join(filepath.Dir(here), "x y")},
		"franz-go=a@b=c":   {Client: "franz-go", Dir: filepath.Join(here, "a@b=c")},
	} {
		want.given = text
		if got, err := Parse(text); err != nil || got != want || got.String() != text || got.BuiltIn() != (text == "franz-go") {
			t.Errorf("%q is %+v, %v; want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                "unknown client",
		"kafka-go":        `unknown client "kafka-go"; give franz-go`,
		"franz-gox":       "unknown client",
		"franz-go@":       "no version stands after",
		"franz-go=":       "no folder stands after",
		"franz-go@v1=x":   "is no version",
		"franz-go@v1 v2":  "is no version",
		"franz-go@-mod=x": "is no version",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
