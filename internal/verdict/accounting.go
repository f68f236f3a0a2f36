package verdict

import (
	"fmt"
	"slices"
	"strings"

	"protocolbench/guards"
	"protocolbench/internal/record"
)

// Accounting holds what was judged against what was planned: nothing that was planned may be absent without a reason that is known and shown. In each count the parts add up to
// what was planned; a run may pass only where nothing is missing.
type Accounting struct {
	Cells  CellCount  `json:"cells"`
	Blocks BlockCount `json:"blocks"`
	Rounds RoundCount `json:"rounds"`
	Looks  LookCount  `json:"looks"`
	Guards GuardCount `json:"guards"`
	// Missing says in words what is missing, the first of each kind.
	Missing []string `json:"missing"`
}

// CellCount counts versions of families (one of a family in tier 2): Planned = Judged + Failed + LeftOut + Missing. Failed are those at which a preflight of the client failed.
type CellCount struct {
	Planned int `json:"planned"`
	Judged  int `json:"judged"`
	Failed  int `json:"failed"`
	LeftOut int `json:"leftOut"`
	Missing int `json:"missing"`
}

// BlockCount counts blocks of the families that were begun: Planned = Judged + Void + Missing.
type BlockCount struct {
	Planned int `json:"planned"`
	Judged  int `json:"judged"`
	Void    int `json:"void"` // another broker answered in them
	Missing int `json:"missing"`
}

// RoundCount counts rounds of judged blocks: Planned = Judged + Busy + Missing. Busy ones are left out by the parent's readings alone, whole.
type RoundCount struct {
	Planned int `json:"planned"`
	Judged  int `json:"judged"`
	Busy    int `json:"busy"`
	Missing int `json:"missing"`
}

// LookCount counts families that the first look left undecided: Due = Taken + NotTaken, each of the latter with its reason in the record.
type LookCount struct {
	Due      int `json:"due"`
	Taken    int `json:"taken"`
	NotTaken int `json:"notTaken"`
}

// GuardCount counts guards that have to answer about families: Due = Answered + Silent. Not applicable is an answer only where a guard has nothing to look at.
type GuardCount struct {
	Due      int `json:"due"`
	Answered int `json:"answered"`
	Silent   int `json:"silent"`
}

func (a *Accounting) miss(format string, args ...any) {
	a.Missing = append(a.Missing, fmt.Sprintf(format, args...))
}

// account counts. It goes by the scopes, which were written before anything was measured, and not by what there is.
func account(run *record.Run, v *Verdict, judged []*judgement) Accounting {
	a := Accounting{Missing: []string{}}
	for _, scope := range scopesOf(run) {
		for _, f := range scope.Families {
			a.countCells(run, v, scope.Tier, f)
		}
	}
	for _, f := range run.Families {
		a.countBlocks(run, f)
		a.countGuards(run, v, f)
		if f.Look != nil {
			a.Looks.Due++
			if f.Look.Taken {
				a.Looks.Taken++
			} else {
				a.Looks.NotTaken++
			}
		}
	}
	for _, j := range judged {
		a.countRounds(j)
	}
	return a
}

// scopesOf are the run's own or, in records that have none, what was begun: those can't say more.
func scopesOf(run *record.Run) []record.Scope {
	if len(run.Scopes) > 0 || run.Header.Schema >= 4 {
		return run.Scopes
	}
	var scopes []record.Scope
	for _, f := range run.Families {
		i := slices.IndexFunc(scopes, func(s record.Scope) bool { return s.Tier == f.Tier })
		if i < 0 {
			i, scopes = len(scopes), append(scopes, record.Scope{Tier: f.Tier})
		}
		scopes[i].Families = append(scopes[i].Families, record.ScopeFamily{Name: f.Name, API: f.API})
	}
	return scopes
}

func (a *Accounting) countCells(run *record.Run, v *Verdict, tier int, f record.ScopeFamily) {
	if tier == 2 {
		a.countSanity(run, f)
		return
	}
	plan, planned := planOf(run, tier, f.API)
	versions := implementedRange(run, plan, planned, f.API)
	var missing []string
	for version := versions[0]; version <= versions[1]; version++ {
		a.Cells.Planned++
		switch fateOf(run, v, plan, planned, f, version) {
		case fateJudged:
			a.Cells.Judged++
		case fateFailed:
			a.Cells.Failed++
		case fateLeftOut:
			a.Cells.LeftOut++
		default:
			a.Cells.Missing++
			missing = append(missing, fmt.Sprintf("v%d", version))
		}
	}
	if missing != nil {
		a.miss("%s %s was to be judged, and is not", f.Name, strings.Join(missing, ", "))
	}
}

// countSanity: a family of tier 2 is one cell, the client left alone.
func (a *Accounting) countSanity(run *record.Run, f record.ScopeFamily) {
	a.Cells.Planned++
	begun := slices.ContainsFunc(run.Families, func(g record.FamilyRun) bool { return g.Name == f.Name && len(g.BlockRuns) > 0 })
	switch {
	case f.Reason != "":
		a.Cells.LeftOut++
	case begun:
		a.Cells.Judged++
	default:
		a.Cells.Missing++
		a.miss("%s was to be tried, and was not", f.Name)
	}
}

type fate int

const (
	fateMissing fate = iota
	fateJudged
	fateFailed
	fateLeftOut
)

// fateOf says what became of one version of one family. A failed preflight counts only with its finding: what nobody objects to is missing.
func fateOf(run *record.Run, v *Verdict, plan record.Plan, planned bool, f record.ScopeFamily, version int) fate {
	if planned {
		i := slices.IndexFunc(plan.Answers, func(a record.PlanAnswer) bool { return a.Version == version })
		switch {
		case i < 0:
			return fateMissing
		case plan.Answers[i].Reason != "" || run.Header.Schema < 4 && !plan.Answers[i].Pinned && plan.Answers[i].Why != "":
			return fateLeftOut
		case !plan.Answers[i].Pinned && objectedTo(v, plan, version):
			return fateFailed
		case !plan.Answers[i].Pinned:
			return fateMissing
		}
	}
	if f.Reason != "" && f.Reason != record.LeftNothingHeld {
		return fateLeftOut
	}
	i := slices.IndexFunc(run.Families, func(g record.FamilyRun) bool { return g.Name == f.Name })
	if i < 0 {
		return fateMissing
	}
	if leavesOut(run, run.Families[i], version) {
		return fateLeftOut
	}
	for _, judged := range v.Families {
		if judged.Name == f.Name && slices.ContainsFunc(judged.Cells, func(c Cell) bool { return c.Version == version && c.Verdict != "" }) {
			return fateJudged
		}
	}
	return fateMissing
}

// leavesOut tells whether a family's own row says why it lacks a version.
func leavesOut(run *record.Run, f record.FamilyRun, version int) bool {
	if run.Header.Schema < 4 {
		return f.LeftOut != "" && !slices.ContainsFunc(f.Cells, func(c record.FamilyCell) bool { return c.Version == version })
	}
	return slices.ContainsFunc(f.Left, func(l record.LeftVersions) bool { return slices.Contains(l.Versions, version) && l.Reason != "" })
}

// objectedTo tells whether a guard has something to say about the preflight of a version.
func objectedTo(v *Verdict, plan record.Plan, version int) bool {
	return slices.ContainsFunc(v.Guards, func(f guards.Finding) bool {
		return f.Tier == plan.Tier && f.Version == version && f.Family == "" && f.Evidence["api"] == plan.API && (f.Outcome == guards.Fail || f.Outcome == guards.Blind)
	})
}

func planOf(run *record.Run, tier int, api string) (record.Plan, bool) {
	i := slices.IndexFunc(run.Plans, func(p record.Plan) bool { return p.Tier == tier && p.API == api })
	if i < 0 {
		return record.Plan{}, false
	}
	return run.Plans[i], true
}

// implementedRange is what the client implements of an API: by the plan, and where the run ended before there was one, by its hello.
func implementedRange(run *record.Run, plan record.Plan, planned bool, api string) [2]int {
	if planned {
		return [2]int{max(plan.Implemented[0], 0), plan.Implemented[1]}
	}
	for _, r := range slices.Concat(run.Header.Client.Implemented, run.Header.Client.Messages) {
		if r.API == api || r.API+"Request" == api || r.API+"Response" == api {
			return [2]int{int(r.Min), int(r.Max)}
		}
	}
	return [2]int{0, 0} // one that stands for all
}

func (a *Accounting) countBlocks(run *record.Run, f record.FamilyRun) {
	planned := f.Blocks
	if f.Look != nil && f.Look.Taken {
		planned += f.Look.Blocks
	}
	valid, voids := guards.Valid(run, f)
	missing := max(0, planned-len(valid.BlockRuns)-voids)
	a.Blocks.Planned += len(valid.BlockRuns) + voids + missing
	a.Blocks.Judged += len(valid.BlockRuns)
	a.Blocks.Void += voids
	a.Blocks.Missing += missing
	if missing > 0 {
		a.miss("%d of %d blocks of %s were not measured", missing, planned, f.Name)
	}
}

// countRounds counts what the family's figures are made of.
func (a *Accounting) countRounds(j *judgement) {
	planned := 0
	for _, b := range j.BlockRuns {
		planned += len(b.Orders)
	}
	judged := j.samples.rounds
	missing := max(0, planned-judged-j.busy)
	a.Rounds.Planned += judged + j.busy + missing
	a.Rounds.Judged += judged
	a.Rounds.Busy += j.busy
	a.Rounds.Missing += missing
	if missing > 0 {
		a.miss("%d of %d rounds of %s are not in its figures", missing, planned, j.Name)
	}
}

func (a *Accounting) countGuards(run *record.Run, v *Verdict, f record.FamilyRun) {
	if _, voids := guards.Valid(run, f); voids > 0 && voids == len(f.BlockRuns) {
		return // nothing is left to ask about; the blocks are void, and counted
	}
	silent := guards.Silent(run, f.Family, v.Guards)
	due := len(guards.Due(run, f.Family))
	a.Guards.Due += due
	a.Guards.Silent += len(silent)
	a.Guards.Answered += due - len(silent)
	for _, guard := range silent {
		a.miss("the %s guard says nothing about %s, where it could have been asked", guard, f.Name)
	}
}
