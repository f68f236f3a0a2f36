package build

import (
	"fmt"
	"regexp"
	"strings"
)

// Fault is something that the user has to mend before the client can be built: what happened, to what, and what to do next.
type Fault struct{ Text string }

func (f *Fault) Error() string { return f.Text }

func faultf(format string, args ...any) *Fault { return &Fault{fmt.Sprintf(format, args...)} }

// shownLines of a compiler's output are enough to see what is wrong; it repeats itself after that.
const shownLines = 8

// firstLines are the first lines of an output that say something.
func firstLines(output string, clean func(string) string) string {
	var kept []string
	for line := range strings.Lines(output) {
		line = clean(strings.TrimRight(line, "\n"))
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "go: downloading ") {
			continue
		}
		if len(kept) == shownLines {
			kept = append(kept, "...")
			break
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n  ")
}

var importedAt = regexp.MustCompile(`^\S+\.go:\d+:\d+: `)

// causes leaves out which import was the first to want a module: a module that can't be had is said once for each.
func causes(output string) string {
	seen := map[string]bool{}
	var kept []string
	for line := range strings.Lines(output) {
		line = importedAt.ReplaceAllString(strings.TrimRight(line, "\n"), "")
		if !seen[line] {
			kept = append(kept, line)
		}
		seen[line] = true
	}
	return strings.Join(kept, "\n")
}

// lastLine is the last line of an output: where the go command says what stopped it.
func lastLine(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
