package planted

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"protocolbench/guards"
	"protocolbench/internal/verdict"
)

// Call is one thing that a run says against a version of a family. Those of families that decide nothing count as well: a maintainer reads them.
type Call struct {
	Kind    string
	Family  string
	Version int // guards.AllVersions: of the family
}

func (c Call) String() string {
	if c.Version < 0 {
		return fmt.Sprintf("%s, %s", c.Family, c.Kind)
	}
	return fmt.Sprintf("%s v%d, %s", c.Family, c.Version, c.Kind)
}

// Calls lists what a verdict calls: slower versions, dearer ones (at the version since which), growth, stalls aside, and failed guards. A blind guard or an unresolved version is no call.
func Calls(v verdict.Verdict) []Call {
	var calls []Call
	for _, f := range v.Families {
		for _, c := range f.Cells {
			if c.Verdict == verdict.Slower {
				calls = append(calls, Call{Slower, f.Name, c.Version})
			}
		}
		if f.Dearer != nil {
			calls = append(calls, Call{Dearer, f.Name, f.Dearer.From})
		}
		if f.Growth != nil {
			for _, c := range f.Growth.Cells {
				if c.Grows {
					calls = append(calls, Call{Grows, f.Name, c.Version})
				}
			}
		}
	}
	for _, g := range v.Guards {
		if g.Outcome == guards.Fail {
			calls = append(calls, Call{g.Guard, g.Family, g.Version})
		}
	}
	slices.SortFunc(calls, func(a, b Call) int {
		return cmp.Or(cmp.Compare(a.Family, b.Family), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Version, b.Version))
	})
	return slices.Compact(calls)
}

// expected are the calls that an expectation means in a run: of each family that it names, the versions that were measured.
func (e Expect) expected(v verdict.Verdict) []Call {
	var calls []Call
	for _, f := range v.Families {
		if !names(e.Family, f.Name) {
			continue
		}
		for _, c := range f.Cells {
			if e.Versions == nil || slices.Contains(e.Versions, c.Version) {
				calls = append(calls, Call{e.Kind, f.Name, c.Version})
			}
		}
	}
	return calls
}

func names(glob, name string) bool {
	flat := strings.NewReplacer("/", "\x00")
	ok, err := path.Match(flat.Replace(glob), flat.Replace(name))
	return err == nil && ok || glob == name
}

// Judged is what came of one fault.
type Judged struct {
	Found     []Call // that had to be
	Missed    []Call
	Besides   []Call // that may be
	Strangers []Call // that must not be
	Unasked   []Expect
}

// Right tells whether everything was found that had to be, and nothing else.
func (j Judged) Right() bool {
	return len(j.Missed)+len(j.Strangers)+len(j.Unasked) == 0
}

// judge compares a run's calls with what was planted.
func (f Fault) judge(v verdict.Verdict) Judged {
	var j Judged
	calls := Calls(v)
	var must, may []Call
	for _, e := range f.Finds {
		these := e.expected(v)
		if len(these) == 0 {
			j.Unasked = append(j.Unasked, e) // a family that wasn't measured finds nothing
		}
		must = append(must, these...)
	}
	for _, e := range f.May {
		may = append(may, e.expected(v)...)
	}
	for _, c := range must {
		if slices.Contains(calls, c) {
			j.Found = append(j.Found, c)
		} else {
			j.Missed = append(j.Missed, c)
		}
	}
	for _, c := range calls {
		switch {
		case slices.Contains(must, c):
		case slices.Contains(may, c):
			j.Besides = append(j.Besides, c)
		default:
			j.Strangers = append(j.Strangers, c)
		}
	}
	return j
}
