package report

import (
	"cmp"
	"fmt"
	"slices"

	"protocolbench/guards"
	"protocolbench/internal/record"
)

// apisTitle is what the table of APIs is folded behind.
const apisTitle = "Every API that the clients used"

// usedBy is a row of the table of APIs on its way: who used one version of one API, and how often each.
type usedBy struct {
	name           string
	who            []int // versions of cells
	ofWorker       bool
	before, inside []int64
}

// apisTable has every API that a family's clients used, with its version, and how often each client did. The pinned API has one row: every client has its own version
// of it. What doesn't hold to its pin has a row of its own.
func apisTable(run record.FamilyRun) table {
	t := table{Head: []column{{"API", true}, {"clients of", true}, {"before the brackets, each", false}, {"within them, each", false}}}
	var rows []*usedBy
	row := func(name string, ofWorker bool) *usedBy {
		for _, r := range rows {
			if r.name == name && r.ofWorker == ofWorker {
				return r
			}
		}
		rows = append(rows, &usedBy{name: name, ofWorker: ofWorker})
		return rows[len(rows)-1]
	}
	for _, u := range guards.APIUses(run) {
		version, ofClient := versionOfCell(run.Family, u.Cell)
		name := fmt.Sprintf("%s v%d", u.API, u.Version)
		if ofClient && u.Key == run.Key && u.Version == version {
			name = u.API + ", as pinned"
		}
		r := row(name, !ofClient)
		r.who = append(r.who, version)
		r.before, r.inside = append(r.before, u.Before), append(r.inside, u.Inside)
	}
	slices.SortStableFunc(rows, func(a, b *usedBy) int { return cmp.Compare(rankOf(a), rankOf(b)) })
	for _, r := range rows {
		t.Rows = append(t.Rows, []string{r.name, r.clients(), countsText(r.before), countsText(r.inside)})
	}
	return t
}

// rankOf puts the worker's own connections last.
func rankOf(r *usedBy) int {
	if r.ofWorker {
		return 1
	}
	return 0
}

func (r *usedBy) clients() string {
	pinned := slices.DeleteFunc(slices.Clone(r.who), func(v int) bool { return v < 0 })
	switch {
	case r.ofWorker:
		return "none: the worker itself"
	case len(pinned) == 0:
		return "the client left alone"
	}
	return versionList(pinned)
}

func versionOfCell(f record.Family, cell int) (version int, ok bool) {
	for _, c := range f.Cells {
		if c.Cell == cell {
			return c.Version, true
		}
	}
	return 0, false
}

func countsText(counts []int64) string {
	if least, most := slices.Min(counts), slices.Max(counts); least != most {
		return fmt.Sprintf("%d to %d", least, most)
	}
	return fmt.Sprint(counts[0])
}
