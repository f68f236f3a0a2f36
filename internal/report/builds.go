package report

import (
	"fmt"
	"slices"
	"strings"

	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

// shownHash of a content hash is enough for a person to tell builds apart; verdict.json has all of it.
const shownHash = 12

// buildText names a client by all that says which build it is.
func buildText(c verdict.Client, build *record.Build) string {
	text := c.Name + " " + c.Version
	if build == nil { // a record of schema 1
		return text
	}
	var about []string
	if c.Spec != c.Name && c.Spec != c.Name+"@"+c.Version {
		about = append(about, c.Spec)
	}
	if c.Revision != "" {
		about = append(about, "git "+c.Revision)
	}
	if len(c.ContentHash) >= shownHash {
		about = append(about, "content "+c.ContentHash[:shownHash])
	}
	about = append(about, "built with "+orUnknown(build.GoVersion))
	return fmt.Sprintf("%s (%s)", text, strings.Join(about, ", "))
}

// clientFacts name the client, or the two builds of it.
func clientFacts(v verdict.Verdict, run *record.Run) []fact {
	h := run.Header
	if v.Baseline == nil {
		text := buildText(v.Client, h.ClientBuild)
		if h.ClientBuild == nil {
			text += ", built with " + orUnknown(h.Machine.GoVersion)
		}
		return []fact{{"client", text}}
	}
	return append([]fact{{"candidate", buildText(v.Client, h.ClientBuild)}, {"baseline", buildText(*v.Baseline, h.BaselineBuild)}}, layoutsFact(run)...)
}

// wordFaster is shown in place of `not slower` where a build made a version cheaper for certain.
const wordFaster = "faster"

var buildsTitles = []string{
	"Tier 0, codecs: does any version encode or decode slower than with the baseline?",
	"Tier 1, pinned: does the client as a whole pay more CPU per message on any version than with the baseline?",
}

// buildsHeadline explains the columns of a run of two builds.
const buildsHeadline = "Columns: CPU time per record with the baseline and with the candidate; the difference in CPU, candidate against baseline, with its 95 % interval over layouts; " +
	"curve: how far the version moved against the reference version (ref; its own against the versions before it) since the baseline; allocations per record, baseline and candidate."

// buildsSources says what the figures of a run of two builds are made of, where that is not what sources says.
var buildsSources = []string{
	"base ns/rec, ns/rec: CPU by batch.cpuNs (the worker's process clock between request boundaries) per batch.records with the baseline and with the candidate; trimmed mean over all batches of the version that prime no turn; for the reference over its three clients.",
	"diff, interval: paired differences of ln(batch.cpuNs / batch.records), candidate against baseline within a round, without what a batch's place in its turn costs; trimmed mean and two-sided 95 % interval. Each fork has a pair of layouts of its own (block.layout, block.baselineLayout), so layouts are in the interval.",
	"curve: how far the version lies from the reference with the candidate, less how far with the baseline, within a round. The reference's own is against the versions left of it.",
	"one pair of layouts alone: the same difference by each fork's own rounds, with the interval that they give; what a comparison of two binaries built once would have said.",
	"floor: the smallest margin at which all versions would come out \"not slower\" with 90 % probability if they were equal.",
	"idle worker: batch.idleCpuNs by batch.cpuNs.",
}

// layoutsFact has the numbers that the linker laid the code out by, in the order of the forks.
func layoutsFact(run *record.Run) []fact {
	var pairs []string
	for _, f := range run.Families {
		for _, b := range f.BlockRuns {
			pair := fmt.Sprintf("%d/%d", b.Layout, b.BaselineLayout)
			if (b.Layout > 0 || b.BaselineLayout > 0) && !slices.Contains(pairs, pair) {
				pairs = append(pairs, pair)
			}
		}
	}
	if pairs == nil {
		return nil
	}
	return []fact{{"layouts", fmt.Sprintf("%d pairs, candidate/baseline: %s (-ldflags=-randlayout=N)", len(pairs), strings.Join(pairs, " "))}}
}

// buildsFacts is familyFacts of two builds.
func buildsFacts(f verdict.Family) string {
	b := f.Builds
	facts := []string{"against the baseline: margin " + percent(f.Margin) + ", floor " + floorText(f.Floor),
		"curves: margin " + percent(b.CurveMargin) + ", floor " + floorText(b.CurveFloor),
		fmt.Sprintf("%d rounds in %d forks, each with other layouts", f.Rounds, f.Forks),
		fmt.Sprintf("twins within %s and %s", percent(f.Twin), percent(b.BaselineTwin)),
		canaryText(f.Canary) + ", in the baseline " + strings.TrimPrefix(canaryText(b.BaselineCanary), "canary ")}
	if l := b.Layouts; l.Pairs > 0 {
		facts = append(facts, fmt.Sprintf("one pair of layouts alone would have said %s to %s %%, and been sure of a difference in %d of %d cases", signed(l.Low), signed(l.High), l.Differ, l.Of))
	}
	if b.IdleShare >= 0 {
		facts = append(facts, "the idle worker used "+sharePercent(b.IdleShare)+" of the working one's CPU")
	}
	if !f.Deciding {
		facts = append(facts, "not deciding")
	}
	return strings.Join(facts, "; ")
}

func canaryText(c verdict.Canary) string {
	if c.Planted <= 0 {
		return "canary none"
	}
	found := "found as " + percent(c.Found)
	if !c.Seen {
		found = "MISSED, " + found
	}
	return fmt.Sprintf("canary of %s %s", percent(c.Planted), found)
}

// buildsTable has one row per version, with both builds.
func buildsTable(f verdict.Family) table {
	t := table{Head: []column{{"version", true}, {"base ns/rec", false}, {"ns/rec", false}, {"diff %", false}, {"interval %", false},
		{"curve %", false}, {"allocs", false}, {"verdict", true}}}
	largest := 0.0
	for _, c := range f.Cells {
		largest = max(largest, c.CPUNsPerRecord)
		if c.Baseline != nil {
			largest = max(largest, c.Baseline.CPUNsPerRecord)
		}
	}
	for _, c := range f.Cells {
		base, allocs, curve := "unknown", allocations(c.AllocsPerRecord), ""
		if c.Baseline != nil {
			base = like(c.Baseline.CPUNsPerRecord, largest)
			if before := allocations(c.Baseline.AllocsPerRecord); before != allocs {
				allocs = before + "->" + allocs
			}
		}
		if c.Curve != nil {
			curve = signed(c.Curve.Difference) // its interval is in verdict.json: the line is full
		}
		t.Rows = append(t.Rows, []string{versionText(f, c), base, like(c.CPUNsPerRecord, largest), signed(c.Difference), interval(c), curve, allocs, wordOf(c)})
	}
	return t
}

// changedCounters says of which versions a counter is not what it was with the baseline. Counters need no statistics.
func changedCounters(f verdict.Family) []string {
	var lines []string
	for _, counter := range []struct {
		name string
		text func(float64) string
		of   func(verdict.Figures) float64
	}{
		{"allocations per record", allocations, func(x verdict.Figures) float64 { return x.AllocsPerRecord }},
		{"bytes allocated per record", figure, func(x verdict.Figures) float64 { return x.AllocBytesPerRecord }},
		{"wire bytes per record", figure, func(x verdict.Figures) float64 { return x.WireBytesPerRecord }},
		{"requests per 1000 records", figure, func(x verdict.Figures) float64 { return x.RequestsPer1000 }},
	} {
		var changes []string
		versions := map[string][]int{}
		for _, c := range f.Cells {
			if c.Baseline == nil {
				continue
			}
			before, after := counter.text(counter.of(*c.Baseline)), counter.text(counter.of(verdict.FiguresOf(c)))
			if before == after {
				continue
			}
			change := before + " -> " + after
			if versions[change] == nil {
				changes = append(changes, change)
			}
			versions[change] = append(versions[change], c.Version)
		}
		for i, change := range changes {
			changes[i] = versionList(versions[change]) + " " + change
		}
		if changes != nil {
			lines = append(lines, counter.name+": "+strings.Join(changes, ", "))
		}
	}
	return lines
}
