package tiers

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"protocolbench/guards"
	"protocolbench/internal/driver"
	"protocolbench/internal/schedule"
	"protocolbench/internal/verdict"
	"protocolbench/internal/worker"
)

func slowMessages(t *testing.T) Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "slow-messages")
	if text, err := exec.Command("go", "build", "-o", path, "./testdata/slow-messages").CombinedOutput(); err != nil {
		t.Fatalf("building testdata/slow-messages: %v\n%s", err, text)
	}
	return clientOf(worker.Command{Path: path})
}

// A version that costs more is found at that version, and one that costs more per element the more there are in that dimension; the guards have nothing to say about either.
func TestSlowMessagesAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("measures for some 20 s")
	}
	c := config(t, []int{0}, "tier0/apis/metadata/metadata.response/elements", "tier0/apis/metadata/listoffsets.response/elements")
	c.Client = slowMessages(t)
	_, v, _ := mustRun(t, c)
	families := map[string]verdict.Family{}
	for _, f := range v.Families {
		families[f.Name] = f
		if f.Deciding {
			t.Errorf("%s decides", f.Name)
		}
	}
	large := families["tier0/apis/metadata/metadata.response/elements=100/bare"]
	i := slices.IndexFunc(large.Steps, func(s verdict.Step) bool { return s.At == 7 })
	if i < 0 || !large.Steps[i].Material || large.Steps[i].Difference < 0.2 {
		t.Errorf("v7 costs much more, steps %+v", large.Steps)
	}
	if large.Growth == nil || large.Growth.Axis != "elements" {
		t.Fatalf("growth of metadata: %+v", large.Growth)
	}
	grown := families["tier0/apis/metadata/listoffsets.response/elements=100/bare"].Growth
	if grown == nil || grown.Axis != "elements" {
		t.Fatalf("growth of list offsets: %+v", grown)
	}
	for _, cell := range grown.Cells {
		if cell.Grows != (cell.Version >= 6) {
			t.Errorf("list offsets v%d grows: %v, slope %.3f", cell.Version, cell.Grows, cell.Slope)
		}
	}
	for _, g := range v.Guards {
		if g.Guard != guards.Host && (g.Outcome == guards.Fail || g.Outcome == guards.Blind) { // the host is shared here
			t.Errorf("guard %s is %s: %s v%d: %s", g.Guard, g.Outcome, g.Family, g.Version, g.Why)
		}
	}
}

// The other APIs are release's, and anybody's who names them; nothing else brings them in.
func TestMessagesAreOnDemand(t *testing.T) {
	count := func(profile string, only ...string) (n int) {
		for _, f := range (Config{Tiers: []int{0}, Profile: profile, Only: only}).chosen(false) {
			if f.message != nil {
				n++
			}
		}
		return n
	}
	all := len(apiFamilies())
	for _, c := range []struct {
		profile string
		only    []string
		want    int
	}{
		{schedule.Quick, nil, 0}, {schedule.Standard, nil, 0}, {schedule.Release, nil, all}, {schedule.Quick, []string{"tier0/"}, 0}, {schedule.Quick, []string{"tier0/apis"}, all},
		{schedule.Standard, []string{"tier0/fetch", "tier0/apis/group/heartbeat."}, 2}, {schedule.Standard, []string{"tier0/apis/*/metadata.*/elements=10/*"}, 2},
	} {
		if got := count(c.profile, c.only...); got != c.want {
			t.Errorf("%s %q: %d families of messages, want %d", c.profile, c.only, got, c.want)
		}
	}
	var names []string
	for _, f := range apiFamilies() {
		names = append(names, f.name())
	}
	if !strings.HasPrefix(names[0], "tier0/apis/group/") || len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
		t.Errorf("groups come first and names are their own: %q", names[:3])
	}
}

// What a release run spends on them.
func TestMessagesTakeLessThanHalfAnHour(t *testing.T) {
	list, err := List(Config{Tiers: []int{0}, Profile: schedule.Release, Only: []string{"tier0/apis"}})
	if err != nil {
		t.Fatal(err)
	}
	var sum time.Duration
	for _, f := range list {
		sum += f.Expected
	}
	if len(list) != len(apiFamilies()) || sum > 30*time.Minute || sum < time.Minute {
		t.Errorf("%d families in %s", len(list), sum)
	}
}

// A worker without the ability, or without an API's messages, is not asked for them.
func TestMessagesNeedTheAbility(t *testing.T) {
	metadata := []driver.Range{{API: "Metadata", Key: 3, Max: 5}}
	for name, c := range map[string]struct {
		hello driver.Hello
		want  int
	}{
		"without it":        {driver.Hello{Messages: metadata}, 0},
		"with it":           {driver.Hello{Messages: metadata, Abilities: []string{driver.AbilityMessages}}, 8},
		"of no such an API": {driver.Hello{Abilities: []string{driver.AbilityMessages}}, 0},
	} {
		s := &session{Config: Config{Tiers: []int{0}, Profile: schedule.Quick, Only: []string{"tier0/apis/metadata"}}, sides: []*side{{hello: c.hello}}}
		if able := s.able(); len(able) != c.want {
			t.Errorf("%s: %d families, want %d", name, len(able), c.want)
		}
	}
	f := apiFamilies()[0]
	s := &session{sides: []*side{{hello: driver.Hello{Messages: []driver.Range{{Key: f.api.Key, Max: 2}}}}}}
	if n := s.cellsOf(f); n != 3+extraCells {
		t.Errorf("%d cells of a client that has v0-v2", n)
	}
}
