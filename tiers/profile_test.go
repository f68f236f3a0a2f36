package tiers

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/schedule"
	"protocolbench/internal/verdict"
)

// What would profile nothing, or half of everything, is refused.
func TestProfilesThatProfileNothing(t *testing.T) {
	for profiled, why := range map[Profiled]string{
		{"tier0/fetch/records=100/bare", 9}:       "",
		{"tier0/fetch/records=100/bare", Dearest}: "",
		{"tier0/fetch/records=1/", Dearest}:       "leave none",
		{"tier0/fetch/rekords", Dearest}:          "unknown family",
		{"tier", Dearest}:                         "name one, e.g. tier",
	} {
		c := Config{Profile: schedule.Standard, Tiers: []int{0}, Only: []string{"tier0/fetch/records=100/bare", "tier0/produce", "tier0/fetch/topics"}, Profiled: []Profiled{profiled}}
		err := c.Validate()
		if why == "" && err != nil || why != "" && (err == nil || !strings.Contains(err.Error(), why)) {
			t.Errorf("%s: %v, want %q", profiled, err, why)
		}
	}
	c := Config{Profile: schedule.Standard, Tiers: []int{2}, Profiled: []Profiled{{"tier2/fetch/size=64KiB", Dearest}}}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "tier 2 compares no versions") {
		t.Error(err)
	}
}

func stateOf(name string, builds ...string) *familyState {
	f := &familyState{family: codecs()[0], declared: true}
	for _, build := range builds {
		for i, v := range []int{4, 12, 18} {
			f.row.Cells = append(f.row.Cells, record.FamilyCell{Cell: len(f.row.Cells), Version: v, Role: record.RoleVersion, Build: build})
			if i == 2 {
				f.row.Cells = append(f.row.Cells, record.FamilyCell{Cell: len(f.row.Cells), Version: v, Role: record.RoleTwin, Build: build})
			}
		}
	}
	f.row.Reference = 18
	f.shape.Name = name
	return f
}

// What is compared with what: a slower version with the reference, a step with the version before it, the reference with its neighbour, and of two builds one version with itself.
func TestPairs(t *testing.T) {
	one, two := stateOf("records=1", ""), stateOf("records=2", "")
	families := []*familyState{one, two}
	judged := func(f *familyState) verdict.Family {
		return verdict.Family{Name: f.name(), Deciding: true, Reference: 18, Cells: []verdict.Cell{{Version: 4, CPUUsPerRequest: 5}, {Version: 12, CPUUsPerRequest: 6}, {Version: 18, CPUUsPerRequest: 9}}}
	}
	a, b := judged(one), judged(two)
	a.Cells[0].Verdict, a.Cells[0].Difference = verdict.Slower, 0.1
	a.Cells[1].Verdict, a.Cells[1].Difference = verdict.Slower, 0.3
	b.Dearer = &verdict.Dearer{Than: 4, From: 12, Difference: 0.5}
	v := verdict.Verdict{Families: []verdict.Family{a, b}}
	s := &session{Config: Config{Progress: silent{t}, Profiled: []Profiled{{one.name(), Dearest}, {two.name(), 18}, {two.name(), 99}}}}
	said := func(pairs []pair) (list []string) {
		for _, p := range pairs {
			row := record.Profile{Of: record.ProfileSide{Version: p.of.Version, Build: p.of.Build}, Against: record.ProfileSide{Version: p.against.Version, Build: p.against.Build}}
			list = append(list, p.family.shape.Name+": "+row.Title()+", "+p.why)
		}
		return list
	}
	if got, want := strings.Join(said(s.calledPairs(v, families)), "\n"), "records=2: v12 against v4, v18 was called dearer than v4\nrecords=1: v12 against v18, v12 was called slower"; got != want {
		t.Errorf("called:\n%s", got)
	}
	if got, want := strings.Join(said(s.askedPairs(v, families)), "\n"), "records=1: v12 against v18, asked for: the dearest version\nrecords=2: v18 against v12, asked for\nrecords=2: v99 against v18, asked for"; got != want {
		t.Errorf("asked:\n%s", got)
	}
	if got := s.askedPairs(v, families)[2].missing; !strings.Contains(got, "v99 is no version of this family") {
		t.Errorf("a version that the family doesn't have is profiled: %q", got)
	}
	a.Deciding = false
	if got := s.calledPairs(verdict.Verdict{Families: []verdict.Family{a}}, families); got != nil {
		t.Errorf("a family that decides nothing: %v", said(got))
	}
	s.Baseline = &Client{}
	s.Profiled = []Profiled{{one.name(), 12}}
	built := stateOf("records=1", "", record.BuildBaseline)
	if got := said(s.askedPairs(v, []*familyState{built})); len(got) != 1 || got[0] != "records=1: v12 against the baseline's v12, asked for" {
		t.Errorf("two builds: %v", got)
	}
}

// A profile is of no draw that has layouts of its own.
func TestLayoutOfAProfileIsOneThatIsLinked(t *testing.T) {
	s := &session{Config: Config{Profile: schedule.Quick, Baseline: &Client{}}, budget: schedule.Budget{Draws: 1, Forks: 4}, sides: []*side{{layouts: []int{5, 6}}, {layouts: []int{7, 8}}}}
	for i, want := range []int{5, 7} {
		if got := s.layout(s.sides[i], record.Where{Draw: profileDraw}, 0); got != want {
			t.Errorf("layout %d, want %d", got, want)
		}
	}
}

func TestNoProfileWithoutTheAbility(t *testing.T) {
	f := stateOf("records=1", "")
	b := &block{session: &session{}, f: f, sides: []*side{{hello: driver.Hello{Abilities: []string{"codec"}}}}}
	if _, err := b.profile(context.Background(), nil); err == nil || !strings.Contains(err.Error(), `lacks the ability "profile"`) {
		t.Error(err)
	}
}

// The profile of a version that burns CPU on purpose says where: it comes after the blocks, is beside the record, and the run is judged as without it.
func TestCPUProfileNamesWhatWasPlanted(t *testing.T) {
	if testing.Short() {
		t.Skip("measures for some 20 s")
	}
	const family = "tier0/fetch/records=100/bare"
	c := config(t, []int{0}, family)
	c.Versions = map[string][2]int{"fetch": {11, 13}}
	c.Plants = []Plant{{family, 12, 0.8}}
	c.Profiled = []Profiled{{family, 12}}
	run, _, dir := mustRun(t, c)
	if len(run.Families) != 1 || len(run.Families[0].Profiles) != 1 {
		t.Fatalf("families and profiles: %+v", run.Families)
	}
	p := run.Families[0].Profiles[0]
	if p.Missing != "" || p.Title() != "v12 against v13" || p.Of.Samples < 50 || p.Against.Samples < 50 || p.Of.Records < 1 || len(p.Top) == 0 {
		t.Fatalf("%+v", p)
	}
	top := p.Top[0]
	if !strings.HasSuffix(top.Function, "worker.spin") || top.Ns <= top.AgainstNs || top.Errors < 3 {
		t.Errorf("most of the difference is in %+v, and what was planted is a loop of the worker's", top)
	}
	// 0.8 of what the reference costs was planted: profiles are counts, so within a half of it.
	planted := float64(run.Families[0].Cells[1].PlantNsPerRequest) / 100
	if found := top.Ns - top.AgainstNs; math.Abs(found-planted) > planted/2 {
		t.Errorf("%.1f ns per record were planted, the profile has %.1f", planted, found)
	}
	for _, name := range []string{p.Of.File, p.Against.File, p.Difference, p.Text} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, p.Text))
	if err != nil || !strings.Contains(string(text), "worker.spin") || !strings.Contains(string(text), "ns per record") {
		t.Errorf("%v\n%s", err, text)
	}
	for _, b := range run.Families[0].BlockRuns {
		if b.Draw >= profileDraw {
			t.Error("a profile's batches were counted")
		}
	}
}
