package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"
)

// build compiles the package's tests with all mutants in them.
func (p *mutatedPackage) build(binary string) error {
	overlay, err := p.overlayFile()
	if err != nil {
		return err
	}
	out, err := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", binary, "./"+p.dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("the tests with the mutants don't compile: %w\n%s", err, out)
	}
	return nil
}

// hangs is when a mutant counts as killed by a test that doesn't end.
const hangs = 10 * time.Minute

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// try wakes one mutant after the other. The tests have to pass with all asleep.
func (p *mutatedPackage) try(binary string, chosen []mutant) (survived int, err error) {
	if killer, out := p.run(binary, 0); killer != "" {
		return 0, fmt.Errorf("the tests fail without any mutant (%s): mend them first\n%s", killer, out)
	}
	killers := make([]string, len(chosen))
	var wait sync.WaitGroup
	queue := make(chan int)
	for range runtime.NumCPU() {
		wait.Go(func() {
			for i := range queue {
				killers[i], _ = p.run(binary, chosen[i].number)
			}
		})
	}
	for i := range chosen {
		queue <- i
	}
	close(queue)
	wait.Wait()
	for i, m := range chosen {
		why, known := equivalents[m.key()]
		switch {
		case killers[i] != "":
			fmt.Printf("killed    %s, by %s\n", m.name, killers[i])
		case known:
			fmt.Printf("same      %s: %s\n", m.name, why)
		default:
			fmt.Printf("SURVIVED  %s\n", m.name)
			survived++
		}
	}
	fmt.Printf("%s: %d mutants, %d survived\n", p.dir, len(chosen), survived)
	return survived, nil
}

// run runs the tests with one mutant alive and gives the first that failed, "" where none did.
func (p *mutatedPackage) run(binary string, number int) (killer, output string) {
	ctx, cancel := context.WithTimeout(context.Background(), hangs)
	defer cancel()
	// -test.short leaves out what simulates hundreds of runs: a rule that only such a test sees is as good as unseen by who changes it, and each mutant would take minutes.
	cmd := exec.CommandContext(ctx, binary, "-test.failfast", "-test.short")
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", variable, number))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return "", ""
	}
	if ctx.Err() != nil {
		return "a test that doesn't end", ""
	}
	if name := failed.FindStringSubmatch(string(out)); name != nil {
		return name[1], string(out)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return first, string(out)
}

// key is the mutant's name without its line, which moves.
func (m mutant) key() string {
	return regexp.MustCompile(`:\d+ `).ReplaceAllString(m.name, " ")
}

// equivalents are mutants that change nothing that anybody could see, each with the reason.
var equivalents = map[string]string{}
