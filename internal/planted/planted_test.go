package planted

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"protocolbench/guards"
	"protocolbench/internal/verdict"
)

// Every fault can be planted in the release of go.mod: its places are there. That the copy compiles is for the run.
func TestEveryFaultHasItsPlace(t *testing.T) {
	clean := filepath.Join(t.TempDir(), "clean")
	if err := Checkout(t.Context(), clean); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range append(Faults(), LiveFaults()...) {
		if seen[f.Name] || f.Planted == "" || len(f.Only) == 0 || len(f.Finds) == 0 && f.Ends == nil || len(f.edits) == 0 || len(f.May) > 0 && f.Why == "" {
			t.Errorf("%q: a name of its own, words, families, what has to be found, edits, and why more may be: %+v", f.Name, f)
		}
		seen[f.Name] = true
		dir := t.TempDir()
		for _, e := range f.edits {
			content, err := os.ReadFile(filepath.Join(clean, e.file))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(e.file)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, e.file), content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := plant(dir, f.edits, f.declarations); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		for _, e := range f.edits {
			before, _ := os.ReadFile(filepath.Join(clean, e.file))
			after, err := os.ReadFile(filepath.Join(dir, e.file))
			if err != nil || string(after) == string(before) {
				t.Errorf("%s: nothing is planted in %s (%v)", f.Name, e.file, err)
			}
		}
	}
}

func TestPlantRefusesWhatIsNotThere(t *testing.T) {
	dir := t.TempDir()
	const source = "package x\n\nfunc a() {\n\tone()\n}\n\nfunc b() {\n\ttwo()\n}\n"
	for name, c := range map[string]struct {
		edit edit
		says string
	}{
		"another function": {edit{"x.go", "func c(", "one()", "{}"}, `has no "func c("`},
		"another's text":   {edit{"x.go", "func a(", "two()", "{}"}, `"func a(" in x.go has no "two()"`},
		"another file":     {edit{"y.go", "func a(", "one()", "{}"}, "planting: open"},
	} {
		if err := os.WriteFile(filepath.Join(dir, "x.go"), []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := plant(dir, []edit{c.edit}, ""); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := plant(dir, []edit{{"x.go", "func b(", "two()", "before()\n\t{}\n\tafter()"}}, "var y int"); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(filepath.Join(dir, "x.go"))
	if want := strings.Replace(source, "two()", "before()\n\ttwo()\n\tafter()", 1); string(got) != want {
		t.Errorf("%s", got)
	}
	if beside, err := os.ReadFile(filepath.Join(dir, declared)); err != nil || !strings.HasPrefix(string(beside), "package ") {
		t.Errorf("%s, %v", beside, err)
	}
}

// A verdict with one call of each kind, and what is made of it.
func TestCallsAreComparedWithWhatWasPlanted(t *testing.T) {
	family := func(name string, words map[int]string) verdict.Family {
		f := verdict.Family{Name: name}
		for _, v := range []int{4, 11, 12, 18} {
			word := verdict.NotSlower
			if words[v] != "" {
				word = words[v]
			}
			f.Cells = append(f.Cells, verdict.Cell{Version: v, Verdict: word})
		}
		return f
	}
	one, two := family("tier0/fetch/topics=10/bare", map[int]string{4: verdict.Slower, 11: verdict.Unresolved}), family("tier0/fetch/topics=100/bare", nil)
	two.Steps = []verdict.Step{{At: 11, Material: true}, {At: 12, Material: true}}
	two.Dearer = &verdict.Dearer{Than: 11, From: 12}
	two.Growth = &verdict.Growth{Cells: []verdict.GrowthCell{{Version: 4}, {Version: 18, Grows: true}}}
	v := verdict.Verdict{Families: []verdict.Family{one, two}, Guards: []guards.Finding{
		{Guard: guards.Counters, Family: two.Name, Version: 11, Outcome: guards.Fail}, {Guard: guards.Host, Family: two.Name, Version: -1, Outcome: guards.Blind},
	}}
	calls := []Call{{Slower, one.Name, 4}, {guards.Counters, two.Name, 11}, {Dearer, two.Name, 12}, {Grows, two.Name, 18}}
	if got := Calls(v); fmt.Sprint(got) != fmt.Sprint(calls) {
		t.Fatalf("calls %v, want %v", got, calls)
	}
	finds := []Expect{{Dearer, "tier0/fetch/topics=100/bare", []int{12}}, {Grows, "tier0/fetch/topics=100/*", []int{18}}}
	may := []Expect{{Slower, "tier0/fetch/*", nil}}
	for name, c := range map[string]struct {
		fault Fault
		want  string
		right bool
	}{
		"all of it":                   {Fault{Finds: append(finds, Expect{guards.Counters, "tier0/fetch/topics=100/bare", []int{9, 11}}), May: may}, "3 found, 0 missed, 1 besides, 0 strangers, 0 unasked", true},
		"a guard that nobody expects": {Fault{Finds: finds, May: may}, "2 found, 0 missed, 1 besides, 1 strangers, 0 unasked", false},
		"a version too many expected": {Fault{Finds: append(finds, Expect{guards.Counters, "tier0/fetch/topics=100/bare", []int{11, 12}}), May: may}, "3 found, 1 missed, 1 besides, 0 strangers, 0 unasked", false},
		"a family that wasn't measured": {Fault{Finds: append(finds, Expect{guards.Counters, "tier0/fetch/topics=100/bare", []int{11}}, Expect{Dearer, "tier0/fetch/topics=1000/bare", nil}), May: may},
			"3 found, 0 missed, 1 besides, 0 strangers, 1 unasked", false},
		"nothing planted": {Fault{}, "0 found, 0 missed, 0 besides, 4 strangers, 0 unasked", false},
	} {
		j := c.fault.judge(v)
		got := fmt.Sprintf("%d found, %d missed, %d besides, %d strangers, %d unasked", len(j.Found), len(j.Missed), len(j.Besides), len(j.Strangers), len(j.Unasked))
		if got != c.want || j.Right() != c.right {
			t.Errorf("%s: %s, right %t, want %s, %t", name, got, j.Right(), c.want, c.right)
		}
	}
}

func TestNothingAsksForEverything(t *testing.T) {
	nothing := Nothing()
	for _, f := range Faults() {
		for _, only := range f.Only {
			if !strings.Contains(strings.Join(nothing.Only, " "), only) {
				t.Errorf("%s of %s", only, f.Name)
			}
		}
	}
}
