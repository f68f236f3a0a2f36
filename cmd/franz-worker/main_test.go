package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"protocolbench/internal/driver"
)

// TestHelloOfARealBuild asks the worker as it is shipped: the linker tells only a real binary which modules it has.
func TestHelloOfARealBuild(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "franz-worker")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(binary)
	cmd.Stdin = strings.NewReader(`{"id":7,"op":"hello"}` + "\n" + `{"id":8,"op":"close"}` + "\n")
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	line, _, _ := bytes.Cut(out, []byte("\n"))
	var response driver.Response
	if err := json.Unmarshal(line, &response); err != nil || response.Hello == nil {
		t.Fatalf("%v: %s", err, out)
	}
	hello := response.Hello
	if response.ID != 7 || hello.Client != "franz-go" || hello.Protocol != driver.ProtocolVersion || !strings.HasPrefix(hello.Version, "v1.") ||
		!strings.HasPrefix(hello.Build["franz-go sum"], "h1:") || !strings.HasPrefix(hello.Build["kmsg"], "v1.") {
		t.Errorf("%s", line)
	}
	if log.Len() > 0 {
		t.Errorf("a quiet session logs: %s", &log)
	}
}
