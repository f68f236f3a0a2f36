package verdict

import (
	"fmt"
	"strings"

	"protocolbench/guards"
)

// A client that ignores its pin does so at many versions mostly. What came of their preflights is one sentence for each way in which they failed, with every version named.

// preflightFault is such a sentence. isHeld: the broker shows nothing by itself, and the sentence rests on it.
type preflightFault struct {
	words  string
	isHeld bool
}

func isPreflight(f guards.Finding) bool { return f.Evidence["preflight"] == true }

func preflightFaults(v *Verdict) []preflightFault {
	type group struct {
		first    guards.Finding
		versions []int
	}
	var groups []*group
	for _, f := range v.Guards {
		if f.Outcome != guards.Fail || !isPreflight(f) {
			continue
		}
		var mine *group
		for _, g := range groups {
			if sameFault(g.first, f) {
				mine = g
			}
		}
		if mine == nil {
			mine = &group{first: f}
			groups = append(groups, mine)
		}
		mine.versions = append(mine.versions, f.Version)
	}
	var list []preflightFault
	for _, g := range groups {
		f := g.first
		words := oneLine(f.Why)
		if len(g.versions) > 1 {
			words = severalVersions(f, g.versions)
		}
		// What left on the wire is the client's doing on any broker. Whether it could have been answered there is another matter.
		isHeld := f.Guard != guards.Pin && brokerDoubt(v, f.Tier) != ""
		list = append(list, preflightFault{fmt.Sprintf("the %s guard failed in tier %d: %s", f.Guard, f.Tier, words), isHeld})
	}
	return list
}

func sameFault(a, b guards.Finding) bool {
	return a.Guard == b.Guard && a.Tier == b.Tier && a.Build == b.Build && a.Evidence["api"] == b.Evidence["api"] && a.Evidence["sent"] == b.Evidence["sent"] && (a.Version < 0) == (b.Version < 0)
}

func severalVersions(f guards.Finding, versions []int) string {
	about := ""
	if f.Build != "" {
		about = "in the " + f.Build + ": "
	}
	if sent, ok := f.Evidence["sent"]; ok {
		return fmt.Sprintf("%sasked for %v %s, v%v was sent", about, f.Evidence["api"], Versions(versions), sent)
	}
	return fmt.Sprintf("%s%v %s failed when they were tried, the first with: %s", about, f.Evidence["api"], Versions(versions), oneLine(strings.TrimPrefix(f.Why, about)))
}

// Versions writes ascending versions as v3-v5, v7.
func Versions(versions []int) string {
	var parts []string
	for i := 0; i < len(versions); {
		last := i
		for last+1 < len(versions) && versions[last+1] == versions[last]+1 {
			last++
		}
		switch {
		case last == i:
			parts = append(parts, fmt.Sprintf("v%d", versions[i]))
		default:
			parts = append(parts, fmt.Sprintf("v%d-v%d", versions[i], versions[last]))
		}
		i = last + 1
	}
	return strings.Join(parts, ", ")
}
