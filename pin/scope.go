package pin

import (
	"fmt"

	"protocolbench/internal/record"
)

// None stands for a range that isn't there: no broker, or an API it doesn't know.
var None = [2]int{-1, -1}

// Took is what the broker did with this program's own request of one version, and how that showed.
type Took struct {
	What string // record.TookAnswered, ...
	Why  string // how it showed, where it was not answered
}

// Scope is everything that may leave a version out of a plan: both sides' ranges, what the broker did with a request of this program's own, and what the user asked
// for. What a client did when it was tried has no place here, and must not get one: a version once left the plan because the client refused it, and a client that ignored
// its pin passed by that.
type Scope struct {
	Tier        int
	API         API
	Implemented [2]int
	// Baseline is what the other build of a run of two builds implements; nil where there is none.
	Baseline *[2]int
	// Written is what this program itself can write of a message, which is what a worker is given; nil where a worker is given none.
	Written    *[2]int
	Advertised [2]int // None without a broker
	// Took has every version that both sides name, where there is a broker.
	Took map[int]Took
	// Asked narrows the plan (--versions); None asks for all.
	Asked [2]int
}

// live tells whether there is a broker.
func (s Scope) live() bool { return s.Advertised != None }

// Ask lists the versions of which the broker has to be asked whether it takes them: those that both sides name.
func (s Scope) Ask() []int {
	var versions []int
	if !s.live() {
		return nil
	}
	for v := max(s.Implemented[0], s.Advertised[0], 0); v <= min(s.Implemented[1], s.Advertised[1]); v++ {
		versions = append(versions, v)
	}
	return versions
}

// Compared lists the versions that have to be compared: every implemented one that nothing leaves out.
func (s Scope) Compared() []int {
	var versions []int
	for v := max(s.Implemented[0], 0); v <= s.Implemented[1]; v++ {
		if reason, _ := s.left(v); reason == "" {
			versions = append(versions, v)
		}
	}
	return versions
}

// left says why a version is left out; an empty reason: it isn't. A version of which it is not known whether the broker takes it is not left out.
func (s Scope) left(v int) (reason, why string) {
	took := s.Took[v]
	switch {
	case s.live() && !within(v, s.Advertised):
		return record.LeftNotAdvertised, fmt.Sprintf("the broker advertises %s v%d-v%d only", s.API.Name, s.Advertised[0], s.Advertised[1])
	case s.live() && (took.What == record.TookClosed || took.What == record.TookError):
		return record.LeftRefused, fmt.Sprintf("advertised, and refused: the broker %s %s", took.What, took.Why)
	case v < s.API.Floor:
		return record.LeftOlderFormat, fmt.Sprintf("older than record batches of format v2, which begin at %s v%d: another payload, so no fair comparison", s.API.Name, s.API.Floor)
	case s.Baseline != nil && !within(v, *s.Baseline):
		return record.LeftOneBuild, fmt.Sprintf("the baseline implements %s v%d-v%d only: builds are compared on the versions that both have", s.API.Name, s.Baseline[0], s.Baseline[1])
	case s.Written != nil && !within(v, *s.Written):
		return record.LeftNotWritten, fmt.Sprintf("this program can write %s v%d-v%d only, and what a client reads and writes is judged by what it wrote", s.API.Name, s.Written[0], s.Written[1])
	case s.Asked != None && !within(v, s.Asked):
		return record.LeftNotAsked, fmt.Sprintf("not asked for (--versions %d-%d)", s.Asked[0], s.Asked[1])
	}
	return "", ""
}

func within(v int, r [2]int) bool { return v >= r[0] && v <= r[1] }
