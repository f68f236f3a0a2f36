package report

import (
	"fmt"
	"slices"
	"strings"

	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

// remark is a line about a family beside its table. A loud one is about what makes a run fail where the family decides, or about what is not real.
type remark struct {
	Text string
	Loud bool
}

// remarks has the loud ones first.
func remarks(f verdict.Family, run record.FamilyRun) []remark {
	var loud, quiet []remark
	for _, list := range [][]remark{plants(f, run), dearer(f), growth(f), looks(f, run), steps(f, run), wall(f), stagesOf(f, run), profilesOf(f, run), leftOut(run)} {
		for _, r := range list {
			if r.Loud {
				loud = append(loud, r)
			} else {
				quiet = append(quiet, r)
			}
		}
	}
	return append(loud, quiet...)
}

// dearer says that the newest version costs more than an older one: that makes a run fail where the family decides.
func dearer(f verdict.Family) []remark {
	d := f.Dearer
	if d == nil {
		return nil
	}
	text := fmt.Sprintf("DEARER: v%d costs %s %% [%s, %s] more than v%d, the margin or more", f.Reference, signed(d.Difference), signed(d.Low), signed(d.High), d.Than)
	if d.From != f.Reference {
		text += fmt.Sprintf("; most of it since v%d", d.From)
	}
	return []remark{{text, true}}
}

// plants says which rows of the table are slow on purpose.
func plants(f verdict.Family, run record.FamilyRun) []remark {
	var parts []string
	for _, c := range run.Cells {
		if c.PlantNsPerRequest > 0 && c.Role == record.RoleVersion {
			parts = append(parts, fmt.Sprintf("v%d is slowed down by %s per request", c.Version, duration(float64(c.PlantNsPerRequest)/1e3)))
		}
	}
	if parts == nil {
		return nil
	}
	return []remark{{"PLANTED here: " + strings.Join(parts, ", "), true}}
}

// leftOut says why versions that are pinned are not in the table.
func leftOut(run record.FamilyRun) []remark {
	if run.LeftOut == "" {
		return nil
	}
	return []remark{{Text: "not all versions: " + run.LeftOut}}
}

// plantedIn tells whether a version of a family was slowed down on purpose.
func plantedIn(run record.FamilyRun, version int) bool {
	return slices.ContainsFunc(run.Cells, func(c record.FamilyCell) bool {
		return c.PlantNsPerRequest > 0 && c.Role == record.RoleVersion && c.Version == version
	})
}

// steps has a line for each place at which the cost changes. A plant makes two: one up, and one down at the version after it, which would look as if the schema had
// made them.
func steps(f verdict.Family, run record.FamilyRun) []remark {
	var list []remark
	for _, s := range f.Steps {
		word, change := "immaterial", shortChange(s.Change)
		if s.Material {
			word = "material"
		}
		if change == "" {
			change = "nothing is known that changed with this version"
		}
		if plantedIn(run, s.At) || plantedIn(run, before(f, s.At)) {
			change = "the plant; of itself " + change
		}
		list = append(list, remark{Text: fmt.Sprintf("step at v%d: %s %% [%s, %s], %s per request, %s: %s", s.At, signed(s.Difference), signed(s.Low), signed(s.High),
			signedDuration(s.UsPerRequest), word, change)})
	}
	return list
}

// before is the version that stands left of one in the row; -1 where none does.
func before(f verdict.Family, version int) int {
	left := -1
	for _, c := range f.Cells {
		if c.Version < version {
			left = max(left, c.Version)
		}
	}
	return left
}

// shortChange leaves out of a schema change the names of its fields, where it names its KIP: verdict.json has them, and they are most of its length.
func shortChange(change string) string {
	open := strings.LastIndex(change, " (")
	if open < 0 || !strings.HasSuffix(change, ")") {
		return change
	}
	if kips, _, both := strings.Cut(change[open:], ": "); both {
		return change[:open] + kips + ")"
	}
	return change
}

// duration of some microseconds, in a unit that leaves digits to read.
func duration(us float64) string {
	if us < 1 {
		return short(us*1e3) + " ns"
	}
	return figure(us) + " us"
}

func signedDuration(us float64) string {
	if us < 0 {
		return "-" + duration(-us)
	}
	return "+" + duration(us)
}

// looks says what came of what the first look left undecided.
func looks(f verdict.Family, run record.FamilyRun) []remark {
	look := run.Look
	if look == nil {
		return nil
	}
	versions := versionList(look.Versions)
	if !look.Taken {
		return []remark{{Text: fmt.Sprintf("second look: not taken, so %s stayed undecided: %s", versions, oneLine(look.Why))}}
	}
	taken := 0
	for _, b := range run.BlockRuns {
		if b.Look >= record.SecondLook {
			taken++
		}
	}
	blocks := fmt.Sprintf("%d more forks of %d rounds", taken, look.Rounds)
	if taken < look.Blocks {
		blocks = fmt.Sprintf("%d of %d more forks of %d rounds", taken, look.Blocks, look.Rounds)
	}
	var now []verdict.Cell
	for _, c := range f.Cells {
		if slices.Contains(look.Versions, c.Version) {
			now = append(now, c)
		}
	}
	return []remark{{Text: fmt.Sprintf("second look: the first left %s undecided; with %s: %s", versions, blocks, namedWords(now))}}
}

// whysBeside are the whys without what the remark about the second look says already.
func whysBeside(f verdict.Family, look *record.Look) []string {
	lines := whys(f)
	if look != nil && !look.Taken {
		for i, line := range lines {
			lines[i] = strings.Replace(line, "; a second look was not taken: "+oneLine(look.Why), "", 1)
		}
	}
	return lines
}
