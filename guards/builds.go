package guards

import (
	"protocolbench/internal/record"
)

// Most guards look at a run of two builds as a whole: cells are told apart by their numbers, and the broker counts what both sent. What is
// about one process has to be asked of each build by itself.

// isOfTwo tells whether a family was measured with two builds.
func isOfTwo(f record.Family) bool {
	for _, c := range f.Cells {
		if c.Build == record.BuildBaseline {
			return true
		}
	}
	return false
}

// perBuild asks a guard about each build of a family by itself.
func perBuild(guard func(*record.Run, record.FamilyRun) []Finding) func(*record.Run, record.FamilyRun) []Finding {
	return func(run *record.Run, f record.FamilyRun) []Finding {
		if !isOfTwo(f.Family) {
			return guard(run, f)
		}
		findings := guard(run, ofBuild(f, ""))
		for _, finding := range guard(run, ofBuild(f, record.BuildBaseline)) {
			finding.Build = record.BuildBaseline
			if finding.Outcome != Pass {
				finding.Why = aboutBaseline + finding.Why
			}
			findings = append(findings, finding)
		}
		return findings
	}
}

// aboutBaseline is put before a reason that is about the baseline: it is no fault of the client under test.
const aboutBaseline = "in the baseline: "

// ofBuild is a family as one build's worker saw it.
func ofBuild(f record.FamilyRun, build string) record.FamilyRun {
	mine := map[int]bool{}
	cells := f.Cells
	f.Cells = nil
	for _, c := range cells {
		if c.Build == build {
			f.Cells = append(f.Cells, c)
			mine[c.Cell] = true
		}
	}
	blocks := f.BlockRuns
	f.BlockRuns = nil
	for _, b := range blocks {
		batches := b.Batches
		b.Batches = nil
		for _, batch := range batches {
			if mine[batch.Cell] {
				b.Batches = append(b.Batches, batch)
			}
		}
		if build == record.BuildBaseline {
			b.Open, b.Close = asBaseline(b.Open), asBaseline(b.Close)
		}
		f.BlockRuns = append(f.BlockRuns, b)
	}
	return f
}

// asBaseline has the baseline's worker in the place of the candidate's. Without one there is no evidence.
func asBaseline(e *record.Evidence) *record.Evidence {
	if e == nil || e.Baseline == nil {
		return nil
	}
	other := *e
	other.Worker, other.OutsideCPUNs, other.Baseline = e.Baseline.Worker, e.Baseline.OutsideCPUNs, nil
	return &other
}

// buildOfCell gives the build of a family's cell by its number.
func buildOfCell(f record.Family, cell any) string {
	number, isCell := cell.(int)
	for _, c := range f.Cells {
		if isCell && c.Cell == number {
			return c.Build
		}
	}
	return ""
}
