// Package validate shows what the judge is worth: on made-up records, of which the truth is known, and on recorded runs of clients that are equal or were slowed
// down on purpose. It prints what it found beside what was promised.
package validate

import (
	"fmt"
	"io"
	"math"
)

// Options say how much is simulated.
type Options struct {
	Seed     uint64
	Runs     int // clean runs of the standard profile
	Families int // of every other question
	// Quick: few of everything. Shares may then miss their bound by what chance alone does (two standard errors).
	Quick bool
}

// Full and Small are the usual amounts.
var (
	Full  = Options{Seed: 1, Runs: 1000, Families: 300}
	Small = Options{Seed: 1, Runs: 4, Families: 12, Quick: true}
)

// sheet is the printed outcome.
type sheet struct {
	w     io.Writer
	quick bool
	bad   int
	lines int
}

func (s *sheet) say(format string, args ...any) { fmt.Fprintf(s.w, format+"\n", args...) }

func (s *sheet) check(ok bool, what, found, bound string) {
	word := "ok"
	if !ok {
		word = "NOT MET"
		s.bad++
	}
	s.lines++
	s.say("  %-92s %-24s %-12s %s", what, found, bound, word)
}

// atLeast checks a share of n.
func (s *sheet) atLeast(k, n int, bound float64, what string) {
	s.check(share(k, n) >= bound-s.slack(bound, n), what, ofText(k, n), fmt.Sprintf(">= %.1f %%", 100*bound))
}

func (s *sheet) atMost(k, n int, bound float64, what string) {
	s.check(share(k, n) <= bound+s.slack(bound, n), what, ofText(k, n), fmt.Sprintf("<= %.1f %%", 100*bound))
}

// shown is a share that nothing was promised of.
func (s *sheet) shown(k, n int, what string) {
	s.say("  %-92s %s", what, ofText(k, n))
}

func (s *sheet) slack(bound float64, n int) float64 {
	if !s.quick {
		return 0
	}
	return 2 * math.Sqrt(bound*(1-bound)/float64(max(1, n)))
}

func share(k, n int) float64 { return float64(k) / float64(max(1, n)) }

func ofText(k, n int) string { return fmt.Sprintf("%.2f %% (%d of %d)", 100*share(k, n), k, n) }
