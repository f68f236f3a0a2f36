package report

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

func exampleRemarks(name string) (texts []string, loud int) {
	v, run := exampleVerdict(), exampleRun()
	for _, f := range v.Families {
		if f.Name == name {
			for _, r := range remarks(f, familyRun(run, name)) {
				texts = append(texts, r.Text)
				if r.Loud {
					loud++
				}
			}
		}
	}
	return texts, loud
}

func TestRemarksLoudOnesFirst(t *testing.T) {
	got, loud := exampleRemarks(exampleFamily)
	want := []string{
		"v10 STALLS: gaps above 10 ms (half of them above 41 ms) in 66.7 % of its batches, 0.0 % on the calm versions, in 4 of 4 forks; it came back in 1 of 1 draws",
		"v11 SLOWER IN WALL TIME: 41.4 % [+36.0 %, +47.0 %] of wall time against the newest, margin 25.0 %",
		"second look: the first left v13-v14 undecided; with 8 more forks of 27 rounds: v13 slower, v14 unresolved",
		"step at v11: -2.1 % [-2.5, -1.7], -450 ns per request, immaterial: the consumer's rack in the request (KIP-392)",
		"step at v12: +4.3 % [+3.8, +4.9], +4.41 us per request, material: flexible encoding: compact strings, arrays and records (KIP-482, KIP-595)",
		"step at v14: +1.2 % [+0.8, +1.6], +2.70 us per request, material: nothing is known that changed with this version",
		"wall time (margin 25.0 %): v11 slower, v13-v14 unresolvable, v10, v12, v18 not slower; differences +1.0 ... +41.4 %; p50 +0.4 ... +0.4 %; p99 -5.0 ... -5.0 %; longest gap 1.02 ... 55.5 times the reference's",
		"wall time of v13-v14 unresolvable; v13: differences of wall time below 31.0 % can't be resolved here, the margin is 25.0 %",
	}
	if !slices.Equal(got, want) || loud != 2 {
		t.Errorf("%d loud ones; got\n%s\nwant\n%s", loud, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// 10,000 to the power of 0.0241 is exp(0.0241 x 9.2103) = 1.2485; of -0.227 it is exp(-2.0907) = 0.1236.
func TestGrowthIsLoudWhereAVersionGrows(t *testing.T) {
	got, loud := exampleRemarks("tier0/fetch/records=100/bare")
	want := []string{
		"GROWS with records: v17; from 1 to 10000 the cost per record of v17 rises by 24.9 % against that of v18 (slope +0.024 [+0.020, +0.028], v18 +0.000)",
		"growth over records 1, 100, 10000: v18's own cost per record falls by 87.6 % (slope -0.227); the slopes of all versions lie +0.000 to +0.024 from it: see above",
	}
	if !slices.Equal(got, want) || loud != 1 {
		t.Errorf("%d loud ones; got\n%s", loud, strings.Join(got, "\n"))
	}
	f := verdict.Family{Reference: 18, Growth: &verdict.Growth{Axis: "size", Sizes: []float64{4096, 65536, 1 << 20}, Reference: 0.1, Cells: []verdict.GrowthCell{{Version: 17, Slope: -0.003}, {Version: 18}}}}
	quiet := growth(f) // 256 to the power of 0.1 is 1.741
	if len(quiet) != 1 || quiet[0].Loud || quiet[0].Text != "growth over size 4KiB, 64KiB, 1MiB: v18's own cost per record rises by 74.1 % (slope +0.100); the slopes of all versions lie -0.003 to +0.000 from it: none grows more than another" {
		t.Errorf("%+v", quiet)
	}
	if f.Growth.Reference = 0.001; !strings.Contains(growth(f)[0].Text, "own cost per record hardly changes (") {
		t.Error(growth(f)[0].Text)
	}
}

// Where a second look was not taken, one line says it, and the versions' own reasons don't repeat it.
func TestLookThatWasNotTaken(t *testing.T) {
	const why = "it would take about 4m0s, and of the profile's 30m0s there are 1m0s left"
	f := verdict.Family{Name: exampleFamily, Cells: []verdict.Cell{exampleCell(17, verdict.Unresolved, 0.05), exampleCell(18, verdict.NotSlower, 0)}}
	f.Cells[0].MoreRounds = 2.5
	f.Cells[0].Why = "the upper bound of 6.1 % is not below the margin of 5.0 %; about 2.5 times the rounds would settle it, if it stays at 4.3 %; a second look was not taken: " + why
	run := record.FamilyRun{Look: &record.Look{Versions: []int{17}, Why: why}}
	if got := remarks(f, run); len(got) != 1 || got[0].Text != "second look: not taken, so v17 stayed undecided: "+why {
		t.Errorf("%+v", got)
	}
	if got := whysBeside(f, run.Look); len(got) != 1 || !strings.HasSuffix(got[0], "about 2.5 times the rounds would settle it, if it stays at 4.3 %") {
		t.Errorf("%v", got)
	}
	run.Look.Taken, run.Look.Blocks, run.Look.Rounds = true, 24, 9
	run.BlockRuns = []record.BlockRun{{}, {Block: record.Block{Look: record.SecondLook}}}
	if got := remarks(f, run); got[0].Text != "second look: the first left v17 undecided; with 1 of 24 more forks of 9 rounds: v17 unresolved" {
		t.Errorf("%+v", got)
	}
}

func TestWallTimeOfWhatWasNotMeasuredSaysSoOnce(t *testing.T) {
	c := verdict.Cell{Version: 18, Verdict: verdict.Unresolved, Why: "it was not measured", Wall: &verdict.Wall{Verdict: verdict.Unresolved, Why: "it was not measured"}}
	got := wall(verdict.Family{Cells: []verdict.Cell{c}})
	if len(got) != 1 || got[0].Text != "wall time: all 1 versions unresolved, for the reason above" {
		t.Errorf("%+v", got)
	}
}

func TestShortChange(t *testing.T) {
	for change, want := range map[string]string{
		"topic ids (KIP-516: request.TopicId, answer.TopicId)": "topic ids (KIP-516)",
		"no field: quota (KIP-219)":                            "no field: quota (KIP-219)",
		"the start offset (answer.LogStartOffset)":             "the start offset (answer.LogStartOffset)",
		"a (b: c) d": "a (b: c) d",
		"":           "",
	} {
		if got := shortChange(change); got != want {
			t.Errorf("%q became %q, want %q", change, got, want)
		}
	}
}

// A run with planted slowdowns can't be taken for one about the client, whichever of its files somebody opens.
func TestPlantsStandFirst(t *testing.T) {
	v, run := exampleVerdict(), exampleRun()
	run.Header.Plants = []string{"tier1/fetch@12=3%", "tier0/produce@9=5%"}
	v.Plants = verdict.Judge(run, nil, verdict.Options{}).Plants
	for i := range run.Families[0].Cells {
		if run.Families[0].Cells[i].Version == 12 {
			run.Families[0].Cells[i].PlantNsPerRequest = 6840
		}
	}
	show := func(render func(io.Writer, verdict.Verdict, *record.Run) error) string {
		var out bytes.Buffer
		if err := render(&out, v, run); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	text := show(Text)
	if !strings.HasPrefix(text, "PLANTED: tier1/fetch@12=3%, tier0/produce@9=5% (--plant); a run with") {
		t.Errorf("the text begins with %.120q", text)
	}
	if lines := strings.Split(strings.TrimSpace(text), "\n"); !strings.HasPrefix(lines[len(lines)-1], "verdict: fail (tier1/") {
		t.Error("the verdict's word is another one")
	}
	if markdown := show(Markdown); !strings.HasPrefix(markdown, "# protocolbench: fail (PLANTED: tier1/fetch@12=3%") {
		t.Errorf("Markdown begins with %.120q", markdown)
	}
	if html := show(HTML); !strings.Contains(html, "<body>\n<p class=\"planted\"><strong>PLANTED</strong>: tier1/fetch@12=3%") || !strings.Contains(html, "<title>protocolbench: fail (slowdowns planted)</title>") {
		t.Error("HTML doesn't begin with it")
	}
	for name, render := range map[string]func(io.Writer, verdict.Verdict, *record.Run) error{"text": Text, "Markdown": Markdown, "HTML": HTML} {
		got := strings.Join(strings.Fields(show(render)), " ")
		for _, want := range []string{"Slowdowns were planted in this run", "nothing about franz-go v1.22.3", "PLANTED here: v12 is slowed down by 6.84 us per request",
			"material: the plant; of itself flexible encoding"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is not shown", name, want)
			}
		}
	}
	if !strings.Contains(show(Bench), "\nplanted: tier1/fetch@12=3%, tier0/produce@9=5%\n") {
		t.Error("bench.txt doesn't say it")
	}
	var back struct{ Plants []string }
	if err := json.Unmarshal([]byte(show(verdictJSON)), &back); err != nil || !slices.Equal(back.Plants, run.Header.Plants) {
		t.Errorf("verdict.json has %v, %v", back.Plants, err)
	}
	if clean := rendered(t, Text); strings.Contains(strings.ToLower(clean), "plant") {
		t.Error("a run without plants speaks of them")
	}
}

func TestTableShowsInHowManyPiecesAResponseCame(t *testing.T) {
	v, run := exampleVerdict(), exampleRun()
	f, of := v.Families[1], familyRun(run, exampleFamily)
	names := func(t table) (list []string) {
		for _, c := range t.Head {
			list = append(list, c.Name)
		}
		return list
	}
	shown := familyTable(f, of)
	if got := strings.Join(names(shown), ","); got != "version,us/req,ns/rec,diff %,interval %,p50/p99 us,segs,reads,allocs,verdict" {
		t.Error(got)
	}
	if row := strings.Join(shown.Rows[5], ","); !strings.Contains(row, "2.00,2.05,0.012") { // 3 x 205 reads in 3 x 100 requests
		t.Error(row)
	}
	if row := strings.Join(shown.Rows[1], ","); !strings.Contains(row, "2.00,2.00,0.012") {
		t.Error(row)
	}
	for i := range f.Cells {
		f.Cells[i].SegmentsInPerRequest = -1
	}
	if got := strings.Join(names(familyTable(f, of)), ","); !strings.Contains(got, "p50/p99 us,reads,allocs") {
		t.Errorf("no counter of segments: %s", got)
	}
	if got := strings.Join(names(familyTable(f, record.FamilyRun{})), ","); !strings.Contains(got, "p50/p99 us,rec/s,allocs") {
		t.Errorf("nothing was counted: %s", got)
	}
	if f.API = "Produce"; trafficOf(f, of) != nil {
		t.Error("what answers a Produce comes in one piece")
	}
}

// A run on a broker that its tier is not for says so before anything else, whichever of its files somebody opens.
func TestOverriddenBrokersStandFirst(t *testing.T) {
	v, run := exampleVerdict(), exampleRun()
	v.Brokers[0].Overridden = "tier 1 is for Kafka 4.0 and later, and this broker is 3.9.1"
	for want, render := range map[string]func(io.Writer, verdict.Verdict, *record.Run) error{
		"OVERRIDDEN: tier 1 is for Kafka 4.0 and later, and this broker is 3.9.1": Text,
		"# protocolbench: fail (OVERRIDDEN: tier 1 is for Kafka 4.0":              Markdown,
		"<!DOCTYPE html>": HTML,
	} {
		var out bytes.Buffer
		if err := render(&out, v, run); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(out.String()), " "); !strings.HasPrefix(strings.ToLower(got), strings.ToLower(want)) || !strings.Contains(got, "OVERRIDDEN") || !strings.Contains(got, "at best inconclusive") {
			t.Errorf("it begins with %.120q, want %q", got, want)
		}
	}
	if strings.Contains(rendered(t, Text), "OVERRIDDEN") {
		t.Error("an ordinary run speaks of it")
	}
}
