package franz

import (
	"reflect"
	"runtime/debug"
	"testing"

	"protocolbench/internal/driver"
)

func TestHelloSaysWhatIsImplemented(t *testing.T) {
	hello := New().Hello()
	want := []driver.Range{{API: "Produce", Key: 0, Min: 0, Max: 13}, {API: "Fetch", Key: 1, Min: 0, Max: 18}}
	if hello.Client != "franz-go" || !reflect.DeepEqual(hello.Implemented, want) {
		t.Errorf("%+v", hello)
	}
	// The linker leaves the modules out of a test binary; cmd/franz-worker's test asks a real one.
	if hello.Version != unknown || hello.Build["go"] == "" {
		t.Errorf("%+v", hello)
	}
}

func TestHelloNamesWhatReplacesAModule(t *testing.T) {
	for name, c := range map[string]struct {
		replace *debug.Module
		want    map[string]string
	}{
		"a release": {nil, map[string]string{"franz-go": "v1.22.3", "franz-go sum": "h1:a="}},
		"another release": {&debug.Module{Path: moduleClient, Version: "v1.20.0", Sum: "h1:b="},
			map[string]string{"franz-go": "v1.20.0", "franz-go sum": "h1:b=", "franz-go replaced by": moduleClient + " v1.20.0"}},
		"a checkout": {&debug.Module{Path: "/src/franz-go"},
			map[string]string{"franz-go": "/src/franz-go", "franz-go replaced by": "/src/franz-go"}},
	} {
		hello := driver.Hello{Build: map[string]string{}}
		describe(&hello, &debug.BuildInfo{Deps: []*debug.Module{
			{Path: "example.org/other", Version: "v9"},
			{Path: moduleClient, Version: "v1.22.3", Sum: "h1:a=", Replace: c.replace},
		}})
		if !reflect.DeepEqual(hello.Build, c.want) || hello.Version != c.want["franz-go"] {
			t.Errorf("%s: %q, %v", name, hello.Version, hello.Build)
		}
	}
}
