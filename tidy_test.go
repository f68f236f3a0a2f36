package protocolbench_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// longest is the number of lines above which a file is two files.
const longest = 450

// globals are a process's own; below the command line everything comes in as an argument.
var globals = map[string][]string{
	"os":   {"Args", "Exit", "Stdin", "Stdout", "Stderr", "Getenv", "LookupEnv", "Environ", "ExpandEnv"},
	"log":  {"Fatal", "Fatalf", "Fatalln", "Print", "Printf", "Println"},
	"flag": {"Parse", "String", "Int", "Bool"},
	"fmt":  {"Print", "Printf", "Println"},
}

// globalsAllowed: the command line has them all, and a child gets its parent's environment.
var globalsAllowed = map[string][]string{
	"internal/cli":    globals["os"],
	"internal/broker": {"Environ"},
	"internal/worker": {"Environ"},
}

// clockAllowed may read the wall clock: internal/measure has the clocks, internal/worker takes a batch's wall time, the others hold deadlines.
var clockAllowed = []string{"internal/measure", "internal/worker", "internal/cli", "internal/broker", "internal/jolokia", "internal/admin", "internal/client/franz", "tiers"}

func TestTidy(t *testing.T) {
	checked := 0
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if len(p.GoFiles) == 0 {
			continue
		}
		documented := false
		for _, file := range p.GoFiles {
			source, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				t.Fatal(err)
			}
			checked++
			faults, doc := untidy(name, file, source)
			documented = documented || doc
			for _, fault := range faults {
				t.Errorf("%s/%s: %s", name, file, fault)
			}
		}
		if !documented {
			t.Errorf("%s: no file has a package comment", name)
		}
	}
	if checked < 20 {
		t.Fatalf("only %d files checked", checked)
	}
}

func TestTidyCheckerCanFail(t *testing.T) {
	mark := "TO" + "DO"
	for _, test := range []struct{ name, source, want string }{
		{"tiers", "package x\n// " + mark + " later\n", "unfinished mark"},
		{"tiers", "package x\n" + strings.Repeat("// line\n", longest), "lines"},
		{"tiers", "package x\nimport \"os\"\nvar a = os.Args\n", "os.Args"},
		{"internal/report", "package x\nimport \"fmt\"\nfunc f() { fmt.Println() }\n", "fmt.Println"},
		{"internal/stats", "package x\nimport \"time\"\nvar now = time.Now()\n", "time.Now"},
		{"internal/stats", "package x\nimport clock \"time\"\nvar now = clock.Now\n", "time.Now"},
		{"tiers", "package x\nfunc {", "expected"},
	} {
		faults, _ := untidy(test.name, "x.go", []byte(test.source))
		if len(faults) != 1 || !strings.Contains(faults[0], test.want) {
			t.Errorf("%.40q: want one fault with %q, got %q", test.source, test.want, faults)
		}
	}
	faults, documented := untidy("internal/cli", "x.go", []byte("// Package x is.\npackage x\nimport \"os\"\nvar a = os.Args\n"))
	if len(faults) != 0 || !documented {
		t.Errorf("clean file: %q, documented %v", faults, documented)
	}
}

// untidy gives a file's faults, and whether it has the package's comment.
func untidy(name, file string, source []byte) (faults []string, documented bool) {
	if lines := bytes.Count(source, []byte("\n")); lines > longest {
		faults = append(faults, fmt.Sprintf("%d lines, more than %d", lines, longest))
	}
	for _, mark := range []string{"TO" + "DO", "FIX" + "ME", "XX" + "X"} {
		if bytes.Contains(source, []byte(mark)) {
			faults = append(faults, "unfinished mark "+mark)
		}
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.ParseComments)
	if err != nil {
		return append(faults, err.Error()), false
	}
	return append(faults, forbiddenSelectors(name, parsed)...), parsed.Doc != nil
}

func forbiddenSelectors(name string, file *ast.File) []string {
	if strings.HasPrefix(name, "cmd/") {
		return nil
	}
	imports := make(map[string]string) // name in the file -> path
	for _, spec := range file.Imports {
		importPath := strings.Trim(spec.Path.Value, `"`)
		local := importPath[strings.LastIndex(importPath, "/")+1:]
		if spec.Name != nil {
			local = spec.Name.Name
		}
		imports[local] = importPath
	}
	var faults []string
	ast.Inspect(file, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		from, ok := selector.X.(*ast.Ident)
		if !ok {
			return true
		}
		importPath, member := imports[from.Name], selector.Sel.Name
		if slices.Contains(globals[importPath], member) && !slices.Contains(globalsAllowed[name], member) {
			faults = append(faults, fmt.Sprintf("%s.%s belongs to cmd and internal/cli", importPath, member))
		}
		if importPath == "time" && (member == "Now" || member == "Since" || member == "Until") && !slices.Contains(clockAllowed, name) {
			faults = append(faults, fmt.Sprintf("time.%s: clocks come in as arguments", member))
		}
		return true
	})
	return faults
}
