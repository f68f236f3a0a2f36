package planted

import (
	"fmt"
	"slices"
	"strings"

	"protocolbench/guards"
	"protocolbench/internal/verdict"
)

// End is how a run has to end that measures a wrong client on a real broker: there a guard's finding is what counts, not which figures moved with it.
type End struct {
	Exit int
	// Said are what has to be found, each by a failed guard or by the verdict itself.
	Said []Saying
	// Also are guards that may object, too.
	Also []string
}

// Saying is one thing that has to be said.
type Saying struct {
	Guard   string // "": the verdict's reason
	Version int    // guards.AllVersions: of any
	Words   string // that its why has
}

func (s Saying) String() string {
	who := s.Guard
	if who == "" {
		who = "the verdict"
	}
	if s.Version >= 0 {
		who += fmt.Sprintf(" about v%d", s.Version)
	}
	return fmt.Sprintf("%s: %q", who, s.Words)
}

// said tells whether it stands in a verdict.
func (s Saying) said(v verdict.Verdict) bool {
	if s.Guard == "" {
		return strings.Contains(v.Reason, s.Words)
	}
	return slices.ContainsFunc(v.Guards, func(f guards.Finding) bool {
		return f.Outcome == guards.Fail && f.Guard == s.Guard && (s.Version < 0 || f.Version == s.Version) && strings.Contains(f.Why, s.Words)
	})
}

// Ended is what came of a run whose end is what counts.
type Ended struct {
	Exit     int
	Verdict  string
	Reason   string
	Missed   []string
	Strange  []string // failed guards whose business it isn't
	Objected []string // all that failed, with their words
}

// Right tells whether it ended as it has to.
func (e Ended) Right() bool { return len(e.Missed)+len(e.Strange) == 0 }

// judge compares a run's end with what has to be. exit is the process's own code: it and the verdict's have to be one.
func (e End) judge(v verdict.Verdict, exit int) Ended {
	ended := Ended{Exit: exit, Verdict: v.Verdict, Reason: v.Reason}
	if exit != e.Exit {
		ended.Missed = append(ended.Missed, fmt.Sprintf("exit code %d", e.Exit))
	}
	if exit != v.ExitCode {
		ended.Missed = append(ended.Missed, fmt.Sprintf("the exit code %d that verdict.json has", v.ExitCode))
	}
	mine := slices.Clone(e.Also)
	for _, s := range e.Said {
		mine = append(mine, s.Guard)
		if !s.said(v) {
			ended.Missed = append(ended.Missed, s.String())
		}
	}
	for _, f := range v.Guards {
		if f.Outcome != guards.Fail {
			continue
		}
		if !slices.Contains(mine, f.Guard) && !slices.Contains(ended.Strange, f.Guard) {
			ended.Strange = append(ended.Strange, f.Guard)
		}
		ended.Objected = append(ended.Objected, fmt.Sprintf("%s, %s v%d: %s", f.Guard, f.Family, f.Version, f.Why))
	}
	return ended
}
