package report

import (
	"fmt"
	"math"
	"strings"

	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

// surelyErrors is how many standard errors a function's difference has to be from none to be named.
const surelyErrors = 3

// profilesOf says which CPU profiles were taken of a family, where they are, and what most of the difference is.
func profilesOf(f verdict.Family, run record.FamilyRun) []remark {
	unit := "record"
	if f.Unit == verdict.UnitRequest {
		unit = "request"
	}
	var list []remark
	for _, p := range run.Profiles {
		if p.Missing != "" {
			list = append(list, remark{Text: fmt.Sprintf("no CPU profile of %s (%s): %s", p.Title(), p.Why, p.Missing)})
			continue
		}
		var parts []string
		for _, l := range p.Top {
			if math.Abs(l.Errors) >= surelyErrors && !f.Embedded {
				parts = append(parts, fmt.Sprintf("%s %s ns per %s", l.Function, signedNs(l.Ns-l.AgainstNs), unit))
			}
		}
		most := "no function differs by more than the profiles' noise"
		if parts != nil {
			most = "most of the difference: " + strings.Join(parts, ", ")
		}
		list = append(list, remark{Text: fmt.Sprintf("CPU profile of %s (%s), in %s: %s", p.Title(), p.Why, p.Text, most)})
	}
	return list
}

func signedNs(ns float64) string {
	if ns < 0 {
		return "-" + figure(-ns)
	}
	return "+" + figure(ns)
}
