package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// weaker are the words that a mutant makes harmless ones of, by package.
var weaker = map[string]map[string]string{
	"guards": {"Fail": "Pass", "Blind": "Pass"},
	"verdict": {"Slower": "NotSlower", "Unresolvable": "NotSlower", "Unresolved": "NotSlower", "Fail": "Pass", "Inconclusive": "Pass",
		"ExitFail": "ExitPass", "ExitHarness": "ExitPass", "ExitInconclusive": "ExitPass"},
}

// grounds are fields to which a rule of the verdict appends why a family has no word; without the rule nothing is appended.
var grounds = []string{"nothing", "spoilt", "coarse", "Stalls", "Alarm"}

// deciding functions gather what fails a run and what keeps it from passing, in lists of these names.
var (
	deciding = []string{"found", "doubtsOf", "overridden", "brokerDoubts", "wallFaults"}
	lists    = []string{"list", "faults"}
)

// skipped files are about something else than a run's verdict: comparing two saved runs, and validating the statistics.
var skipped = []string{"compare", "validation"}

type mutant struct {
	number int
	name   string // FILE:LINE FUNCTION: what is gone
}

type edit struct {
	from, to int
	text     string
}

// mutatedPackage has the source with all mutants in it, each asleep.
type mutatedPackage struct {
	dir, name string
	fset      *token.FileSet
	mutants   []mutant
	overlay   map[string]string // file -> what stands in its place
	work      string
	edits     []edit
	function  string
	seen      map[string]int // mutants of a function by what is gone
}

func mutated(dir, work string) (*mutatedPackage, error) {
	p := &mutatedPackage{dir: dir, name: filepath.Base(dir), fset: token.NewFileSet(), overlay: map[string]string{}, work: work, seen: map[string]int{}}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no Go files: start it in the root of the module (%v)", err)
	}
	for _, file := range files {
		base := filepath.Base(file)
		isSkipped := slices.ContainsFunc(skipped, func(prefix string) bool { return strings.HasPrefix(base, prefix) })
		if strings.HasSuffix(base, "_test.go") || p.name == "verdict" && isSkipped {
			continue
		}
		if err := p.rewrite(file); err != nil {
			return nil, err
		}
	}
	return p, p.write(filepath.Join(dir, "mutants_alive.go"), alive(p.name))
}

// alive is the file that says which mutant is.
func alive(name string) string {
	return fmt.Sprintf(`package %s

import "os"

var mutantAlive = os.Getenv(%q)

func isMutant(number string) bool { return mutantAlive == number }

func unlessMutant[T any](number string, is, weaker T) T {
	if isMutant(number) {
		return weaker
	}
	return is
}
`, name, variable)
}

const variable = "MUTANT"

func (p *mutatedPackage) rewrite(file string) error {
	source, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	parsed, err := parser.ParseFile(p.fset, file, source, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	p.edits = nil
	for _, declaration := range parsed.Decls {
		if f, ok := declaration.(*ast.FuncDecl); ok && f.Body != nil {
			p.function = f.Name.Name
			if strings.HasPrefix(f.Name.Name, "check") && f.Recv == nil && f.Type.Results != nil && p.name == "guards" {
				number := p.add(f.Pos(), "the guard")
				p.insert(f.Body.Lbrace+1, fmt.Sprintf("\nif isMutant(%q) { return nil }\n", number))
			}
			p.walk(f.Body)
		}
	}
	if p.edits == nil {
		return nil
	}
	slices.SortStableFunc(p.edits, func(a, b edit) int { return a.from - b.from })
	var out strings.Builder
	at := 0
	for _, e := range p.edits {
		out.Write(source[at:e.from])
		out.WriteString(e.text)
		at = e.to
	}
	out.Write(source[at:])
	return p.write(file, out.String())
}

func (p *mutatedPackage) write(file, text string) error {
	path, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	to := filepath.Join(p.work, filepath.Base(file))
	p.overlay[path] = to
	return os.WriteFile(to, []byte(text), 0o600)
}

// overlayFile is what the go command's -overlay reads.
func (p *mutatedPackage) overlayFile() (string, error) {
	text, err := json.Marshal(map[string]any{"Replace": p.overlay})
	if err != nil {
		return "", err
	}
	path := filepath.Join(p.work, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}

func (p *mutatedPackage) add(at token.Pos, what string) string {
	where := p.fset.Position(at)
	p.seen[p.function+what]++
	if n := p.seen[p.function+what]; n > 1 {
		what = fmt.Sprintf("%s, number %d", what, n)
	}
	m := mutant{len(p.mutants) + 1, fmt.Sprintf("%s:%d %s: %s", filepath.ToSlash(filepath.Join(p.dir, filepath.Base(where.Filename))), where.Line, p.function, what)}
	p.mutants = append(p.mutants, m)
	return fmt.Sprint(m.number)
}

func (p *mutatedPackage) insert(at token.Pos, text string) {
	offset := p.fset.Position(at).Offset
	p.edits = append(p.edits, edit{offset, offset, text})
}
