package guards

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"protocolbench/internal/record"
)

// OwnConnections stands for a cell in uses by connections of the worker itself.
const OwnConnections = -1

// APIUse is how often a client sent one version of one API, over all blocks of a family that have evidence at both ends.
type APIUse struct {
	Cell    int // OwnConnections: of the worker, and of no client
	Key     int16
	API     string
	Version int
	Before  int64 // while its clients were opened, preflighted and warmed
	Inside  int64 // within the brackets
}

// APIUses lists every API that the clients of a family used, by cell, key and version.
func APIUses(f record.FamilyRun) []APIUse {
	type place struct {
		cell    int
		key     int16
		version int
	}
	found := map[place]*APIUse{}
	at := func(cell int, key, version int16) *APIUse {
		p := place{max(cell, OwnConnections), key, int(version)}
		if found[p] == nil {
			found[p] = &APIUse{Cell: p.cell, Key: key, API: nameOfAPI(key), Version: p.version}
		}
		return found[p]
	}
	for _, b := range f.BlockRuns {
		if !bracketed(b) {
			continue
		}
		for _, c := range b.Open.CellSnapshots() {
			for _, sent := range c.Frames {
				u := at(c.Cell, sent.Key, sent.Version)
				u.Before, u.Inside = u.Before+sent.Count, u.Inside-sent.Count
			}
		}
		for _, c := range b.Close.CellSnapshots() {
			for _, sent := range c.Frames {
				at(c.Cell, sent.Key, sent.Version).Inside += sent.Count
			}
		}
	}
	var uses []APIUse
	for _, u := range found {
		if u.Before != 0 || u.Inside != 0 {
			uses = append(uses, *u)
		}
	}
	slices.SortFunc(uses, func(a, b APIUse) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Cell, b.Cell))
	})
	return uses
}

// checkAPIs asks whether the pinned API is the only one whose version differs between clients. Pinning one API moves others in some clients: topic ids, say, need a newer
// Metadata. Where such a request was sent within a bracket, a difference between two versions may be that of two others. While clients were being opened it costs no figure
// anything, and is only noted.
func checkAPIs(_ *record.Run, f record.FamilyRun) []Finding {
	if !hasWire(f.Family) {
		return nil
	}
	finding := Finding{Guard: OtherAPIs, Tier: f.Tier, Family: f.Name, Version: AllVersions, Evidence: map[string]any{}}
	say := func(outcome Outcome, why string) []Finding {
		finding.Outcome, finding.Why = outcome, why
		return []Finding{finding}
	}
	uses := slices.DeleteFunc(APIUses(f), func(u APIUse) bool { return u.Cell == OwnConnections || !isCellOf(f.Family, u.Cell) })
	switch {
	case !slices.ContainsFunc(f.BlockRuns, bracketed):
		return say(Blind, whyOpen)
	case len(uses) == 0:
		return say(Blind, "this worker counts no frames, so nobody saw which other APIs its clients used; count them in its dialer (DRIVER.md)")
	case len(versionsOf(f.Family)) < 2:
		return say(NotApplicable, "there are no two versions between which another API could differ: "+said(f.Family, uses))
	}
	var inside, before []string
	for _, key := range keysBeside(f.Key, uses) {
		of := slices.DeleteFunc(slices.Clone(uses), func(u APIUse) bool { return u.Key != key })
		text, sent := unlike(f.Family, of)
		switch {
		case text != "" && sent:
			inside = append(inside, text)
		case text != "":
			before = append(before, text)
		}
	}
	finding.Evidence["used"] = said(f.Family, uses)
	switch {
	case inside != nil:
		return say(Fail, strings.Join(inside, "; ")+": within the brackets the pinned API is not the only one whose version differs, so what differs in cost may be the other's; "+
			"pin that one to one version in all clients")
	case before != nil:
		return say(Pass, "within the brackets no other API differed between versions; before them, while clients were opened, it did: "+strings.Join(before, "; "))
	}
	return say(Pass, "every client used the same versions of all APIs but the pinned one")
}

func isCellOf(f record.Family, cell int) bool {
	return slices.ContainsFunc(f.Cells, func(c record.FamilyCell) bool { return c.Cell == cell })
}

func keysBeside(own int16, uses []APIUse) []int16 {
	keys := map[int16]bool{}
	for _, u := range uses {
		if u.Key != own {
			keys[u.Key] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// unlike says which cells used other versions of an API than the rest, or nothing. Cells that never sent one differ from none. sent: one of them was sent within a bracket.
func unlike(f record.Family, uses []APIUse) (text string, sent bool) {
	versions := map[int][]int{} // by cell
	for _, u := range uses {
		versions[u.Cell] = append(versions[u.Cell], u.Version)
		sent = sent || u.Inside > 0
	}
	users := map[string][]int{} // cells by the versions that they used
	for _, cell := range slices.Sorted(maps.Keys(versions)) {
		users[named(versions[cell])] = append(users[named(versions[cell])], versionOf(f, cell))
	}
	if len(users) < 2 {
		return "", sent
	}
	var parts []string
	for _, used := range slices.SortedFunc(maps.Keys(users), func(a, b string) int { return cmp.Compare(users[a][0], users[b][0]) }) {
		slices.Sort(users[used])
		parts = append(parts, fmt.Sprintf("%s by %s", used, named(slices.Compact(users[used]))))
	}
	return uses[0].API + " " + strings.Join(parts, ", "), sent
}

// named writes versions as v4, v9.
func named(versions []int) string {
	var words []string
	for _, v := range versions {
		if v < 0 {
			return "the client left alone"
		}
		words = append(words, fmt.Sprintf("v%d", v))
	}
	return strings.Join(words, ", ")
}

// said lists the APIs beside the family's own, each with its versions.
func said(f record.Family, uses []APIUse) string {
	var parts []string
	for _, key := range keysBeside(f.Key, uses) {
		var versions []int
		for _, u := range uses {
			if u.Key == key && !slices.Contains(versions, u.Version) {
				versions = append(versions, u.Version)
			}
		}
		parts = append(parts, nameOfAPI(key)+" "+named(versions))
	}
	if parts == nil {
		return "none but " + f.API
	}
	return strings.Join(parts, "; ")
}
