package validate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"protocolbench/internal/record"
	"protocolbench/internal/synthetic"
	"protocolbench/internal/verdict"
)

// A small part of what `validate simulated` does, with its seed: all promises are kept, within what chance alone does to so few.
func TestSimulatedPromisesAreKept(t *testing.T) {
	var out strings.Builder
	kept := Simulated(&out, Small)
	if text := out.String(); !kept || strings.Contains(text, "NOT MET") || !strings.Contains(text, "runs that pass") {
		t.Error(text)
	}
}

// The printed checks can fail, and the whole with them.
func TestChecksCanFail(t *testing.T) {
	var out strings.Builder
	s := &sheet{w: &out}
	s.atLeast(92, 100, 0.93, "too few")
	s.atMost(6, 100, 0.05, "too many")
	s.atMost(1, 1000, 0, "none allowed")
	if s.bad != 3 || strings.Count(out.String(), "NOT MET") != 3 {
		t.Errorf("%d bad:\n%s", s.bad, out.String())
	}
	s.atLeast(93, 100, 0.93, "enough")
	s.atMost(5, 100, 0.05, "few enough")
	if s.bad != 3 || s.lines != 5 {
		t.Errorf("%d bad of %d", s.bad, s.lines)
	}
	// Of ten, nine where 93 % were promised is nothing but chance in a quick run; five is not.
	quick := &sheet{w: &out, quick: true}
	quick.atLeast(9, 10, 0.93, "chance")
	quick.atLeast(5, 10, 0.93, "no chance")
	if quick.bad != 1 {
		t.Errorf("%d bad", quick.bad)
	}
}

// A judge that is wrong is found out: versions that differ are no clean client, and what is called `slower` among equals is counted.
func TestCleanTallyCountsWhatIsWrong(t *testing.T) {
	c := &clean{rest: map[string]int{}, families: []cleanFamily{{estimates: map[int][]float64{}, halves: map[int][]float64{}}}, noises: make([][]noise, 1)}
	w := named(live).world(9)
	w.Cost = func(version int) float64 {
		if version == 9 {
			return 1.2
		}
		return 1
	}
	c.add(makeRun(9, w), floorRuns)
	if c.slower != 1 || c.wrong != 1 || c.oneLook != 1 || c.passes != 0 || c.stepped != 1 || len(c.rest) != 1 {
		t.Errorf("%+v", c)
	}
	if f := c.families[0]; f.covered >= f.intervals {
		t.Errorf("%d of %d intervals have no difference in them", f.covered, f.intervals)
	}
}

// A fork's noise is what was put in: 2 % a batch and nothing else.
func TestNoiseOf(t *testing.T) {
	w := named(live).world(4)
	w.Machine, w.Noise, w.State = nil, 0.02, 0.02
	n := noiseOf(makeRun(4, w).run.Families[0])
	// Rounds have 2 % in common, so a batch's residual has half its variance from the round.
	if !n.ok || n.batch < 0.018 || n.batch > 0.026 || n.dear > 0.001 || n.lag1 < 0.3 || n.lag1 > 0.6 || n.forks < 0.015 || n.forks > 0.028 {
		t.Errorf("%+v", n)
	}
}

// written puts made-up runs where `validate records` reads them.
func written(t *testing.T, name string, run *record.Run) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	put := func(row any) {
		line, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(line, '\n'))
	}
	put(run.Header)
	for _, f := range run.Families {
		put(f.Family)
		for _, b := range f.BlockRuns {
			put(b.Block)
			for _, batch := range b.Batches {
				put(batch)
			}
		}
	}
	put(run.Trailer)
	if err := os.WriteFile(filepath.Join(dir, "run.jsonl"), []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRecords(t *testing.T) {
	planted := named("tier0/fetch/topics=100/bare").world(21)
	planted.Cost = func(version int) float64 {
		if version == 9 {
			return 1.03
		}
		return 1
	}
	run := makeRun(21, planted).run
	run.Header.Plants = []string{"tier0/*@9=3%"}
	run.Families[0].Cells[5].PlantNsPerRequest = int64(0.03 * planted.RequestNs)
	var out strings.Builder
	err := Records(&out, []string{
		written(t, "one", makeRun(22, named("tier0/fetch/topics=100/bare").world(22)).run),
		written(t, "two", makeRun(23, named("tier0/fetch/topics=100/bare").world(23)).run),
		written(t, "planted", run),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"planted: tier0/*@9=3%",
		"tier 0 together                                     9 ",
		"tier 0, 3% asked for, margin 5 %: found 1 of 1 against the newest, 1 against neighbours; called slower 0 of 1",
		"planted tier0/fetch/topics=100/bare: v9 +",
		"that two or more runs without plants have: 15; of these differ: 0",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// A plant is found by an interval above 0 that has it, with room for its calibration.
func TestIsFound(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		unbounded bool
		want      bool
	}{{0.02, 0.04, false, true}, {0, 0.04, false, false}, {0.033, 0.04, false, true}, {0.036, 0.04, false, false}, {0.01, 0.027, false, true}, {0.01, 0.02, false, false}, {0.02, 0.04, true, false}} {
		if got := isFound(verdict.Difference{Low: c.low, High: c.high, Unbounded: c.unbounded}, 0.03); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		args string
		want string
	}{
		{"", "say what to validate"},
		{"guess", "unknown word"},
		{"records", "name the folders"},
		{"records /nowhere", "reading a run"},
		{"simulated --runs -1", "numbers above 0"},
		{"simulated --loud", "not defined"},
		{"simulated 7", "is no flag"},
	} {
		var out, err strings.Builder
		if code := Command(strings.Fields(c.args), &out, &err); code != exitUsage || !strings.Contains(err.String(), c.want) || out.String() != "" {
			t.Errorf("%q: exit code %d, %s", c.args, code, err.String())
		}
	}
	o, err := optionsOf(strings.Fields("--quick --families 3 --seed 9"))
	if err != nil || !o.Quick || o.Runs != Small.Runs || o.Families != 3 || o.Seed != 9 {
		t.Errorf("%+v, %v", o, err)
	}
}

// The table stands for the standard profile: names are unique, and families of one axis differ in one dimension.
func TestStandardFamilies(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range standardFamilies {
		if seen[f.name] || f.margin <= 0 || f.us <= 0 || f.requests < 1 || f.records < 1 {
			t.Errorf("%+v", f)
		}
		seen[f.name] = true
	}
	var worlds []synthetic.World
	for _, name := range axes[1].families {
		worlds = append(worlds, named(name).world(1))
	}
	v := judge(makeRun(1, worlds...).run)
	if v.Families[2].Growth == nil || v.Families[2].Growth.Axis != "size" {
		t.Error("no growth along the axis of sizes")
	}
}
