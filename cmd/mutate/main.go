// Command mutate shows that every guard, and every rule of the run's verdict, has a test that fails without it. It replaces them by "pass", one at a time, and runs the
// package's tests: a mutant that no test kills is a rule that nobody would miss.
//
//	go run ./cmd/mutate [-list] [-only TEXT] guards internal/verdict
//
// All mutants of a package are in one test binary, built over the source as an overlay, and an environment variable says which one is alive: a build for each would take most
// of the time. The product never contains any of it.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	list := flag.Bool("list", false, "list the mutants and run nothing")
	only := flag.String("only", "", "try mutants only whose names contain this")
	flag.Parse()
	packages := flag.Args()
	if len(packages) == 0 {
		packages = []string{"guards", "internal/verdict"}
	}
	survived := 0
	for _, dir := range packages {
		n, err := tryPackage(dir, *only, *list)
		if err != nil {
			fmt.Fprintln(os.Stderr, "mutate: "+dir+":", err)
			os.Exit(1)
		}
		survived += n
	}
	if survived > 0 {
		fmt.Printf("%d mutants survived: a rule without a test that fails when it is gone\n", survived)
		os.Exit(1)
	}
}

func tryPackage(dir, only string, list bool) (survived int, err error) {
	work, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(work)
	p, err := mutated(dir, work)
	if err != nil {
		return 0, err
	}
	chosen := p.mutants[:0:0]
	for _, m := range p.mutants {
		if strings.Contains(m.name, only) {
			chosen = append(chosen, m)
		}
	}
	if list {
		for _, m := range chosen {
			fmt.Println(m.name)
		}
		return 0, nil
	}
	binary := filepath.Join(work, "tests")
	if err := p.build(binary); err != nil {
		return 0, err
	}
	return p.try(binary, chosen)
}
