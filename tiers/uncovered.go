package tiers

import (
	"slices"
	"strings"

	"protocolbench/internal/record"
)

// notCovered is what --list of the release profile has and this run doesn't measure, axis by axis and by the smallest profile that does: also what --tier and --only left out of
// this profile. It goes into the record, since whoever judges that later may have other families.
func (c Config) notCovered(embedded bool) []record.Unmeasured {
	measured := map[string]bool{}
	for _, f := range c.chosen(embedded) {
		measured[f.name()] = true
	}
	list := []record.Unmeasured{}
	for _, f := range everything() {
		if measured[f.name()] {
			continue
		}
		name, size := axisOf(f.name())
		i := slices.IndexFunc(list, func(u record.Unmeasured) bool { return u.Name == name && u.Profile == f.profile })
		if i < 0 {
			i = len(list)
			list = append(list, record.Unmeasured{Name: name, Profile: f.profile})
		}
		list[i].Families++
		if size != "" && !slices.Contains(list[i].Sizes, size) {
			list[i].Sizes = append(list[i].Sizes, size)
		}
	}
	return list
}

// axisOf parts a family's name into what it has in common with its axis, and its own size: tier1/fetch/size and 4KiB. Messages have their group, and no size.
func axisOf(name string) (axis, size string) {
	parts := strings.SplitN(name, "/", 4)
	if len(parts) < 3 {
		return name, ""
	}
	if parts[1] == "apis" {
		return strings.Join(parts[:3], "/"), ""
	}
	last, size, _ := strings.Cut(parts[2], "=")
	return strings.Join([]string{parts[0], parts[1], last}, "/"), size
}
