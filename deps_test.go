package protocolbench_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "protocolbench"

// pkg is what `go list -json` says of a package; test files are not part of it.
type pkg struct {
	ImportPath string
	Name       string
	Dir        string
	GoFiles    []string
	Imports    []string
	Deps       []string // transitive
}

// An importRule says who alone may import what.
type importRule struct {
	what string   // import path; a trailing "/..." takes everything below, too
	by   []string // packages of ours
	why  string
}

var importRules = []importRule{
	{"math/rand", nil, "it has an unseeded global; package seed has all randomness"},
	{"math/rand/v2", []string{"seed", "internal/stats"}, "package seed has all randomness (stats takes a stream as an argument)"},
	{"crypto/rand", []string{"internal/cli", "internal/broker"}, "only what no seed may decide: the seed that nobody gave, and names that must not meet another run's"},
	{"github.com/twmb/franz-go/pkg/kfake", []string{"internal/broker"}, "the embedded broker"},
	{"github.com/twmb/franz-go/pkg/kadm", []string{"internal/admin"}, "cmd/franz-worker has to compile against releases that kadm doesn't"},
	{"github.com/twmb/franz-go/...", []string{"internal/client/franz", "internal/admin", "internal/broker", "internal/messages"}, "a client library is imported only in its own client package, and where this program itself speaks the protocol"},
	{"github.com/go-resty/resty/v2", []string{"internal/jolokia"}, "JMX over HTTP is in one place"},
	{"github.com/spf13/cobra", []string{"internal/cli"}, "flags are the command line's business"},
	{"github.com/schollz/progressbar/v3", []string{"internal/cli"}, "progress is the command line's business"},
	{"github.com/klauspost/compress/...", []string{"internal/bank"}, "what is compressed for a client is compressed in one place"},
	{"github.com/google/pprof/...", []string{"internal/cpuprofile"}, "profiles are read in one place"},
	{"github.com/pierrec/lz4/...", []string{"internal/bank"}, "what is compressed for a client is compressed in one place"},
	{"testing", []string{"internal/build/buildtest"}, "test code stays in test files"},
	{module, []string{"internal/build"}, "the embedded sources are for building workers"},
}

// A forbidding says what a package must not reach, even through others.
type forbidding struct {
	who  []string
	what []string // packages of ours, "/..." as above; "..." is everything of ours
	why  string
}

var forbiddings = []forbidding{
	{[]string{"internal/stats", "internal/measure"}, []string{"..."}, "units and maths import nothing of ours"},
	{
		[]string{"guards", "internal/verdict", "internal/report", "internal/record"},
		[]string{"internal/broker", "internal/worker/...", "internal/client/...", "internal/admin", "internal/jolokia", "tiers/..."},
		"a saved run is judged and shown without broker, worker or client",
	},
	{[]string{"seed", "internal/shape", "pin", "internal/schedule"}, []string{"internal/broker", "internal/worker/...", "internal/client/...", "tiers/...", "internal/cli"}, "the core is functions of values"},
	{[]string{"internal/broker", "internal/worker", "internal/client/franz", "internal/admin", "internal/jolokia", "internal/build", "tiers"}, []string{"internal/cli"}, "the command line is on top"},
	{
		[]string{"guards", "tiers", "internal/verdict", "internal/report", "internal/record", "internal/schedule", "internal/stats", "internal/cli", "cmd/protocolbench"},
		[]string{"internal/validate", "internal/synthetic"}, "what shows that the product is right, and what is made up for it, is no part of the product",
	},
	{[]string{"tiers"}, []string{"internal/build"}, "a client comes as a value: a tier doesn't know how it was built"},
	{[]string{"internal/build"}, []string{"internal/broker", "internal/worker/...", "internal/client/...", "internal/admin", "tiers"}, "the worker's sources are built, not linked in"},
}

// closed lists packages that may depend on these packages of ours and on no others.
var closed = map[string][]string{
	"cmd/franz-worker": {
		"internal/driver", "internal/worker", "internal/shape", "internal/wire", "internal/measure", "internal/codec", "internal/bank", "internal/client/franz", "seed",
	},
	// The bank is what clients are measured with, also those of other languages: it knows records, and nobody who reads them.
	"internal/bank":      {"internal/codec", "internal/shape", "seed"},
	"internal/synthetic": madeUp,
	"internal/validate":  slices.Concat(madeUp, []string{"internal/synthetic", "internal/verdict", "internal/stats", "guards"}, judging),
}

// madeUp is what a made-up record is made of, judging what the judge stands on: a validation that reached the tiers would simulate what they happen to do.
var (
	madeUp  = []string{"internal/record", "internal/schedule", "internal/shape", "internal/driver", "internal/measure", "seed"}
	judging = []string{"pin", "internal/codec", "internal/bank"}
)

// meaningless names say where code ended up, not what it is.
var meaningless = []string{"util", "utils", "common", "types", "helper", "helpers", "misc", "base", "lib"}

func TestImports(t *testing.T) {
	packages := listPackages(t)
	if len(packages) < 10 {
		t.Fatalf("go list found %d packages; the rules would hold of nothing", len(packages))
	}
	for _, violation := range violations(packages) {
		t.Error(violation)
	}
}

// The checker itself: each rule broken once, and found once, by name.
func TestImportsCheckerCanFail(t *testing.T) {
	p := func(name string, imports ...string) pkg {
		return pkg{ImportPath: module + "/" + name, Name: path.Base(name), Imports: imports, Deps: imports}
	}
	ours := func(name string) string { return module + "/" + name }
	for _, test := range []struct {
		broken pkg
		want   string
	}{
		{p("tiers", "math/rand/v2"), "tiers imports math/rand/v2"},
		{p("seed", "math/rand"), "seed imports math/rand"},
		{p("tiers", "github.com/twmb/franz-go/pkg/kgo"), "tiers imports github.com/twmb/franz-go/pkg/kgo"},
		{p("internal/client/franz", "github.com/twmb/franz-go/pkg/kadm"), "internal/client/franz imports github.com/twmb/franz-go/pkg/kadm"},
		{p("internal/stats", ours("seed")), "internal/stats reaches seed"},
		{p("guards", ours("internal/worker/conformance")), "guards reaches internal/worker/conformance"},
		{p("internal/verdict", ours("internal/client/franz")), "internal/verdict reaches internal/client/franz"},
		{p("cmd/franz-worker", ours("internal/admin")), "cmd/franz-worker reaches internal/admin"},
		{p("internal/verdict", ours("internal/synthetic")), "internal/verdict reaches internal/synthetic"},
		{p("internal/validate", ours("tiers")), "internal/validate reaches tiers"},
		{p("internal/bank", "github.com/twmb/franz-go/pkg/kmsg"), "internal/bank imports github.com/twmb/franz-go/pkg/kmsg"},
		{p("internal/bank", ours("internal/client/franz")), "internal/bank reaches internal/client/franz"},
		{p("internal/codec", "github.com/klauspost/compress/zstd"), "internal/codec imports github.com/klauspost/compress/zstd"},
		{p("internal/helpers"), "internal/helpers has a name that says nothing"},
	} {
		got := violations([]pkg{test.broken})
		if len(got) != 1 || !strings.HasPrefix(got[0], test.want) {
			t.Errorf("want one violation %q, got %q", test.want, got)
		}
	}
	clean := []pkg{p("seed", "math/rand/v2"), p("internal/client/franz", "github.com/twmb/franz-go/pkg/kgo"), p("cmd/franz-worker", ours("internal/wire"))}
	if got := violations(clean); len(got) != 0 {
		t.Errorf("clean packages: %q", got)
	}
}

func violations(packages []pkg) []string {
	var found []string
	for _, p := range packages {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		for _, imported := range p.Imports {
			if rule, ok := ruleFor(imported); ok && !slices.Contains(rule.by, name) {
				found = append(found, fmt.Sprintf("%s imports %s: %s", name, imported, rule.why))
			}
		}
		for _, dep := range p.Deps {
			dep, ok := strings.CutPrefix(dep, module+"/")
			if !ok {
				continue
			}
			if why := forbidden(name, dep); why != "" {
				found = append(found, fmt.Sprintf("%s reaches %s: %s", name, dep, why))
			}
		}
		if slices.Contains(meaningless, path.Base(name)) || slices.Contains(meaningless, p.Name) {
			found = append(found, name+" has a name that says nothing")
		}
	}
	return found
}

// ruleFor gives the first rule that takes an import path, so that special ones stand before general ones.
func ruleFor(imported string) (importRule, bool) {
	i := slices.IndexFunc(importRules, func(r importRule) bool { return takes(r.what, imported) })
	if i < 0 {
		return importRule{}, false
	}
	return importRules[i], true
}

func forbidden(name, dep string) string {
	for _, f := range forbiddings {
		if slices.Contains(f.who, name) && slices.ContainsFunc(f.what, func(what string) bool { return takes(what, dep) }) {
			return f.why
		}
	}
	if allowed, ok := closed[name]; ok && !slices.Contains(allowed, dep) {
		return "its dependencies are a closed list"
	}
	return ""
}

func takes(pattern, importPath string) bool {
	if pattern == "..." || pattern == importPath {
		return true
	}
	below, ok := strings.CutSuffix(pattern, "/...")
	return ok && (importPath == below || strings.HasPrefix(importPath, below+"/"))
}

// listPackages gives the module's own packages.
func listPackages(t *testing.T) []pkg {
	t.Helper()
	command := exec.Command("go", "list", "-json=ImportPath,Name,Dir,GoFiles,Imports,Deps", "./...")
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var packages []pkg
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}
