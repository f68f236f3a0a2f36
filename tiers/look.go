package tiers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"protocolbench/guards"
	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
	"protocolbench/internal/verdict"
)

// looks is how many looks a family may get. A run of two builds has one: its error is mostly that of the layouts, and further ones would have to be linked.
func (s *session) looks() int {
	if s.Baseline != nil {
		return 1
	}
	return s.budget.Looks
}

// expect says how long the run will take, and what second looks may add.
func (s *session) expect() {
	first := s.expected(s.Tiers)
	s.Progress.Expect(first)
	if left := len(s.chosen(s.embedded)) - len(s.able()); left > 0 {
		s.Progress.Say(fmt.Sprintf("%d families are left out: the worker lacks the ability %q or %q, or their API", left, driver.ModeFraming, driver.AbilityMessages))
	}
	if rest := s.budget.Limit - first; s.looks() > 1 && rest > 0 {
		s.Progress.Say(fmt.Sprintf("second looks at what stays undecided may add up to %d minutes", int(rest.Round(time.Minute).Minutes())))
	}
}

// secondLooks measures what the first look left undecided once more: fresh draws, three times the rounds, undecided cells only. What would pass the
// profile's limit stays open, and the record says so.
func (s *session) secondLooks(ctx context.Context, l *live, tier int, families []*familyState) error {
	if s.looks() < 2 || tier == 2 {
		return nil
	}
	run, err := record.Read(s.recordPath())
	if err != nil {
		return err
	}
	v := verdict.Judge(run, guards.Check(run), verdict.Options{Margin: s.Margin})
	var again []*familyState
	for _, judged := range v.Families {
		i := slices.IndexFunc(families, func(f *familyState) bool { return f.name() == judged.Name })
		if versions := verdict.WorthALook(judged); i >= 0 && len(versions) > 0 {
			second, row := s.lookAtMost(families[i], judged, versions)
			if err := s.writer.Write(row); err != nil {
				return err
			}
			if !row.Taken {
				s.Progress.Say(fmt.Sprintf("%s: no second look: %s", judged.Name, row.Why))
				continue
			}
			s.Progress.Say(fmt.Sprintf("%s: a second look at %s, about %s", judged.Name, versionsText(row.Versions), time.Duration(row.ExpectedNs).Round(time.Second)))
			again = append(again, second)
		}
	}
	return s.lookAgain(ctx, l, again)
}

// lookAtMost makes the second look at all of the versions or, where that would take too long and the newest is among them, at the others: its whole left plateau is
// measured with it, which is most of the family.
func (s *session) lookAtMost(f *familyState, judged verdict.Family, versions []int) (*familyState, record.Look) {
	second, row := s.lookAt(f, versions, judged.LeftPlateau)
	if row.Taken || len(versions) == 1 || !slices.Contains(versions, judged.Reference) {
		return second, row
	}
	others := slices.DeleteFunc(slices.Clone(versions), func(v int) bool { return v == judged.Reference })
	if second, fewer := s.lookAt(f, others, nil); fewer.Taken {
		fewer.Why = fmt.Sprintf("without v%d: with what that is compared with %s", judged.Reference, row.Why)
		return second, fewer
	}
	return second, row
}

// lookAgain interleaves the families' blocks as the first look does.
func (s *session) lookAgain(ctx context.Context, l *live, families []*familyState) error {
	s.promised = 0 // from here on it is in the time that goes by
	if len(families) == 0 {
		return nil
	}
	draws := families[0].second.Draws
	for draw := draws; draw < 2*draws; draw++ {
		for fork := range families[0].second.Forks {
			for _, f := range families {
				if err := s.oneBlock(ctx, l, f, families, draw, fork); err != nil {
					return err
				}
			}
		}
		if l != nil {
			if err := l.dropFetchTopic(ctx, draw); err != nil {
				return err
			}
		}
	}
	return nil
}

// lookAt makes the second look at a family, or says why there is none.
func (s *session) lookAt(f *familyState, versions, leftPlateau []int) (*familyState, record.Look) {
	cells := f.row.CellsAgain(versions, leftPlateau)
	layout := schedule.Second(s.budget, f.row.Rounds, len(cells))
	row := record.Look{Tier: f.tier, Family: f.name(), Versions: versions, Blocks: layout.Draws * layout.Forks, Rounds: schedule.Rounds(len(cells), layout.Squares), Taken: true}
	for _, c := range cells {
		row.Cells = append(row.Cells, c.Cell)
	}
	second := &familyState{family: f.family, row: f.row, declared: true, second: &layout}
	second.row.Cells = cells
	perBatch := f.took.Seconds() / float64(max(1, f.blocks*f.row.Rounds*len(f.row.Cells)))
	second.expected = time.Duration(perBatch * float64(row.Rounds*len(cells)) * float64(time.Second))
	expected := time.Duration(float64(row.Blocks) * lookReserve * float64(second.expected))
	row.ExpectedNs = expected.Nanoseconds()
	later := s.expected(after(s.Tiers, f.tier))
	elapsed := s.Now().Sub(s.started)
	if elapsed+s.promised+expected+later > s.budget.Limit {
		row.Taken = false
		row.Why = fmt.Sprintf("it would take about %s, and of the profile's %s there are %s left", expected.Round(time.Second), s.budget.Limit,
			max(0, s.budget.Limit-elapsed-s.promised-later).Round(time.Second))
		return nil, row
	}
	s.promised += expected
	return second, row
}

// lookReserve is added to the expected time of a second look: opening and warming up a fork cost more per batch where there are fewer cells.
const lookReserve = 1.25

func after(tiers []int, tier int) []int {
	var later []int
	for _, t := range tiers {
		if t > tier {
			later = append(later, t)
		}
	}
	return later
}

// numbers gives the cells at some indexes of the family's row.
func (f *familyState) numbers(indexes []int) []int {
	list := make([]int, len(indexes))
	for i, index := range indexes {
		list[i] = f.row.Cells[index].Cell
	}
	return list
}

func versionsText(versions []int) string {
	list := make([]string, len(versions))
	for i, v := range versions {
		list[i] = fmt.Sprintf("v%d", v)
	}
	return strings.Join(list, ", ")
}
