package tiers

import (
	"slices"
	"strings"
	"testing"
	"time"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
	"protocolbench/internal/verdict"
)

type mute struct{}

func (mute) Expect(time.Duration)       {}
func (mute) Step(time.Duration, string) {}
func (mute) Say(string)                 {}

// standardSession is a minute old.
func standardSession() (*session, *time.Time) {
	now := time.Unix(0, 0)
	s := &session{Config: Config{Tiers: []int{0, 1}, Profile: schedule.Standard, Now: func() time.Time { return now }, Progress: mute{}}}
	s.budget, _ = schedule.BudgetOf(schedule.Standard)
	s.started = now
	now = now.Add(time.Minute)
	return s, &now
}

// measuredFamily has Fetch v4 to v18, in 12 blocks that took so long.
func measuredFamily(tier int, took time.Duration) *familyState {
	f := &familyState{family: family{tier: tier, shape: flat("records=100", 100, 1, 1, 1)}, blocks: 12, took: took}
	f.row = record.Family{Reference: 18, Rounds: 18}
	add := func(version int, role string) {
		f.row.Cells = append(f.row.Cells, record.FamilyCell{Cell: len(f.row.Cells), Version: version, Role: role})
	}
	for v := 4; v <= 18; v++ {
		add(v, record.RoleVersion)
	}
	add(18, record.RoleTwin)
	add(18, record.RoleTwin)
	add(18, record.RoleCanary)
	return f
}

// The second looks of tier 0 took 8 of 30 minutes and are over: their time has gone by, and is not promised any more.
func TestTimeIsPromisedOnce(t *testing.T) {
	s, now := standardSession()
	_, zero := s.lookAt(measuredFamily(0, 8*time.Minute), []int{9, 10, 11}, nil)
	if !zero.Taken || s.promised != time.Duration(zero.ExpectedNs) {
		t.Fatalf("promised %s: %+v", s.promised, zero)
	}
	*now = now.Add(time.Duration(zero.ExpectedNs))
	if err := s.lookAgain(t.Context(), nil, nil); err != nil || s.promised != 0 {
		t.Errorf("still promised %s, %v", s.promised, err)
	}
	*now = now.Add(8 * time.Minute) // tier 1's first look
	left := s.budget.Limit - now.Sub(s.started)
	if _, one := s.lookAt(measuredFamily(1, 5*time.Minute), []int{9, 10, 11}, nil); !one.Taken {
		t.Errorf("%s are left and it takes %s: %s", left, time.Duration(one.ExpectedNs), one.Why)
	}
}

// The newest version is compared with its whole left plateau. Where there is no time for that, the others are looked at without it, and the row says so.
func TestASecondLookLeavesTheNewestOut(t *testing.T) {
	plateau := []int{4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}
	s, now := standardSession()
	f := measuredFamily(1, 3*time.Minute)
	second, row := s.lookAtMost(f, verdict.Family{Reference: 18, LeftPlateau: plateau}, []int{9, 18})
	if !row.Taken || len(row.Cells) != 18 || len(second.row.Cells) != 18 || !slices.Equal(row.Versions, []int{9, 18}) || row.Why != "" {
		t.Fatalf("%+v", row)
	}
	s.promised = 0
	*now = s.started.Add(s.budget.Limit - 5*time.Minute)
	second, row = s.lookAtMost(f, verdict.Family{Reference: 18, LeftPlateau: plateau}, []int{9, 18})
	if !row.Taken || len(row.Cells) != 5 || len(second.row.Cells) != 5 || !slices.Equal(row.Versions, []int{9}) || !strings.Contains(row.Why, "v18") {
		t.Fatalf("%+v", row)
	}
	*now = s.started.Add(s.budget.Limit)
	if second, row = s.lookAtMost(f, verdict.Family{Reference: 18, LeftPlateau: plateau}, []int{9, 18}); row.Taken || second != nil || row.Why == "" || !slices.Equal(row.Versions, []int{9, 18}) {
		t.Fatalf("%+v", row)
	}
}

// A worker without the mode framing is measured in all other families.
func TestFamiliesThatAWorkerIsUnableToMeasureAreLeftOut(t *testing.T) {
	s := &session{Config: Config{Tiers: []int{0}, Profile: schedule.Release}}
	framed := func() bool {
		return slices.ContainsFunc(s.able(), func(f family) bool { return f.mode == driver.ModeFraming })
	}
	var every []driver.Range
	for _, f := range apiFamilies() {
		every = append(every, driver.Range{Key: f.api.Key, Max: 1})
	}
	s.sides = []*side{{hello: driver.Hello{Abilities: []string{"codec", driver.ModeFraming, driver.AbilityMessages}, Messages: every}}}
	if all := len(s.able()); all != len(s.chosen(false)) || !framed() {
		t.Errorf("an able worker has %d families", all)
	}
	s.sides = append(s.sides, &side{hello: driver.Hello{Abilities: []string{"codec", driver.AbilityMessages}, Messages: every}})
	if some := len(s.able()); some != len(s.chosen(false))-3 || framed() {
		t.Errorf("the baseline is unable: %d of %d families", some, len(s.chosen(false)))
	}
}
