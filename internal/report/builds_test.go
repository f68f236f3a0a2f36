package report

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"protocolbench/guards"
	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

// exampleBuilds is the example with a second build.
func exampleBuilds() (verdict.Verdict, *record.Run) {
	v, run := exampleVerdict(), exampleRun()
	v.Client = verdict.Client{Name: "franz-go", Version: "checkout-062f5b32630c", Spec: "franz-go=../franz-go", Revision: "v1.22.3-4-gc0ffee-dirty", ContentHash: strings.Repeat("0123abcd", 8)}
	v.Baseline = &verdict.Client{Name: "franz-go", Version: "v1.19.0", Spec: "franz-go@v1.19.0", ContentHash: strings.Repeat("fedc4321", 8)}
	run.Header.ClientBuild, run.Header.BaselineBuild = &record.Build{GoVersion: "go1.26.8"}, &record.Build{GoVersion: "go1.26.8"}
	for i := range run.Families { // every family of a fork has its layouts
		for b := range run.Families[i].BlockRuns {
			run.Families[i].BlockRuns[b].Layout, run.Families[i].BlockRuns[b].BaselineLayout = 17+b, 40+b
		}
	}
	run.Header.Baseline = &driver.Hello{Client: "franz-go", Version: "v1.19.0"}
	faster := exampleCell(11, verdict.NotSlower, -0.391)
	faster.Faster = true
	cells := []verdict.Cell{exampleCell(10, verdict.NotSlower, 0.002), faster, exampleSlower(12, "12.4 % [+11.0 %, +13.9 %] against the baseline, margin 10.0 %"), exampleCell(18, verdict.NotSlower, 0.035)}
	for i := range cells {
		figures := verdict.FiguresOf(cells[i])
		figures.CPUNsPerRecord /= 1 + cells[i].Difference
		if i > 0 {
			figures.AllocsPerRecord = 0.15
		}
		cells[i].Contrast, cells[i].Baseline = "baseline", &figures
		cells[i].Curve = &verdict.Difference{Contrast: "curve", Difference: cells[i].Difference - 0.01, Low: cells[i].Difference - 0.02, High: cells[i].Difference, P: 0.5}
	}
	f := &v.Families[0]
	f.Cells = cells
	f.Builds = &verdict.Builds{CurveMargin: 0.10, CurveFloor: 0.022, Layouts: verdict.Layouts{Pairs: 6, Low: -0.021, High: 0.027, SD: 0.016, Differ: 21, Of: 60}, IdleShare: 0.0014,
		BaselineTwin: 0.004, BaselineCanary: verdict.Canary{Planted: 0.19, Found: 0.05, Low: 0.01, High: 0.09}}
	v.Families = v.Families[:1]
	v.Reason = f.Name + " v12 is slower by 12.4 % [+11.0 %, +13.9 %] against the baseline, margin 10.0 %; and 1 more"
	v.Guards = append(v.Guards, guards.Finding{Guard: guards.Clocks, Tier: 0, Family: f.Name, Version: -1, Build: record.BuildBaseline, Outcome: guards.Fail, Why: "in the baseline: over a block the worker's clock is wrong"})
	return v, run
}

func TestGoldenReportOfTwoBuilds(t *testing.T) {
	v, run := exampleBuilds()
	for name, render := range map[string]func(io.Writer, verdict.Verdict, *record.Run) error{"builds.txt": Text, "builds.md": Markdown, "builds.html": HTML} {
		var out bytes.Buffer
		if err := render(&out, v, run); err != nil {
			t.Fatal(err)
		}
		path := "testdata/" + name
		if *update {
			if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if out.String() != string(want) {
			t.Errorf("%s is not as in testdata; look at it, then go test ./internal/report -update\n%s", name, out.String())
		}
		for i, line := range strings.Split(out.String(), "\n") {
			if n := utf8.RuneCountInString(line); name == "builds.txt" && n > textWidth && !strings.HasPrefix(line, "verdict: ") {
				t.Errorf("line %d has %d columns: %s", i+1, n, line)
			}
		}
	}
}

// benchstat lays the builds beside each other by their key.
func TestBenchOfTwoBuilds(t *testing.T) {
	v, run := exampleBuilds()
	f := &run.Families[len(run.Families)-1]
	for i := range run.Families {
		if run.Families[i].Tier == 1 {
			f = &run.Families[i]
		}
	}
	own := f.Cells[0].Cell
	f.Family.Cells = append(f.Family.Cells, record.FamilyCell{Cell: 90, Version: f.Cells[0].Version, Role: record.RoleVersion, Build: record.BuildBaseline})
	for i := range f.BlockRuns {
		for _, b := range f.BlockRuns[i].Batches {
			if b.Cell == own {
				b.Cell, b.CPUNs = 90, 2*b.CPUNs
				f.BlockRuns[i].Batches = append(f.BlockRuns[i].Batches, b)
			}
		}
	}
	var out bytes.Buffer
	if err := Bench(&out, v, run); err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(out.String(), "client: franz-go v1.19.0\nbuild: baseline\n")
	if !ok || !strings.Contains(before, "build: candidate\nBenchmark") || strings.Contains(after, "228000.00") || !strings.Contains(after, "456000.00 cpu-ns/request") {
		t.Errorf("%s", out.String())
	}
}

func TestRunOfOneBuildNamesIt(t *testing.T) {
	v, run := exampleVerdict(), exampleRun()
	v.Client.Spec, v.Client.ContentHash = "franz-go", strings.Repeat("0123abcd", 8)
	run.Header.ClientBuild = &record.Build{GoVersion: "go1.26.8"}
	var out bytes.Buffer
	if err := Text(&out, v, run); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "\nclient: franz-go v1.22.3 (content 0123abcd0123, built with go1.26.8)\n") {
		t.Errorf("%s", out.String())
	}
}
