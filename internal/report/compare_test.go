package report

import (
	"strings"
	"testing"

	"protocolbench/internal/verdict"
)

// exampleComparison has one of everything that a comparison shows.
func exampleComparison() verdict.Comparison {
	cell := func(version int, word string, difference float64) verdict.ComparedCell {
		return verdict.ComparedCell{Version: version, Verdict: word, Against: []int{18}, CurveA: 0.01, CurveB: 0.01 + difference, Difference: difference, Low: difference - 0.02, High: difference + 0.02}
	}
	slow := cell(12, verdict.Slower, 0.124)
	slow.Why = "12.4 % [10.4 %, 14.4 %] against v18 since A, margin 10.0 %"
	return verdict.Comparison{
		Schema: 1, Verdict: verdict.Fail, ExitCode: verdict.ExitFail, Reason: "tier1/fetch/size=64KiB/bare v12 is slower by " + slow.Why, Build: verdict.BuildDifferent,
		A: verdict.Side{Client: verdict.Client{Name: "franz-go", Version: "v1.22.3", Spec: "franz-go", ContentHash: strings.Repeat("ab", 32)}, Seed: 7, Profile: "quick"},
		B: verdict.Side{Client: verdict.Client{Name: "franz-go", Version: "checkout-1", Spec: "franz-go=../franz-go"}, Seed: 8, Profile: "quick", Candidate: true,
			Troubles: []string{"one", "two", "three", "four", "five", "six"}},
		Identity: []verdict.Trait{
			{Name: "content hash", A: strings.Repeat("ab", 32), B: strings.Repeat("cd", 32)},
			{Name: "module kmsg", A: "v1.15.1 h1:3sj7ekbH33t73nsBcHS0wtp/PyMIViHLNItZrE8V9zM=", B: "v1.11.2 h1:hIw75FpwcAjgeyfIGFqivAvwC5uNIOWRGvQgZhH4mhg="},
			{Name: "build flags", A: "-trimpath " + strings.Repeat("x", 60), B: "-trimpath"},
			{Name: "CPU", A: "Example CPU", B: "Example CPU", Same: true},
			{Name: "client revision", A: "unknown", B: "unknown", Same: true},
		},
		Families: []verdict.ComparedFamily{
			{Tier: 0, Name: "tier0/fetch/records=100/bare", Refused: []string{"A has not all of it: 3 of 4 blocks were begun"}, OnlyB: []int{18},
				Counters: []verdict.ComparedCounter{
					{Counter: "allocations per record", Versions: []int{9, 10, 11, 12}, From: 0.31, To: 0.62}, {Counter: "allocations per record", Versions: []int{13}, From: 0.31, To: 0.7},
					{Counter: "bytes allocated per record", Versions: []int{9}, From: 1000.2, To: 1000.9}, {Counter: "segments received per request", Versions: []int{9}, From: 2, To: 3},
				}},
			{Tier: 1, Name: "tier1/fetch/size=64KiB/bare", Reference: 18, Deciding: true, Margin: 0.1, Floor: 0.031, ForksA: 4, ForksB: 6,
				Cells:    []verdict.ComparedCell{cell(11, verdict.NotSlower, 0.002), slow, cell(18, verdict.NotSlower, -0.001)},
				Doubts:   []string{"in B the pin guard is blind"},
				Warnings: []verdict.Warning{{Text: "a batch had 46 requests in A and 138 in B", Remedy: "run it again"}}},
		},
		OnlyA: []string{"tier1/produce/records=100,acks=all/bare"}, OnlyB: []string{},
		Sanity:   []verdict.ComparedSanity{{Name: "tier2/fetch/size=64KiB/alone", API: "Fetch", VersionA: 7, VersionB: -1}},
		Warnings: []verdict.Warning{{Text: "the budgets differ", Remedy: "run both with the same --profile"}},
	}
}

func comparisonText(t *testing.T, c verdict.Comparison) string {
	t.Helper()
	var out strings.Builder
	if err := Comparison(&out, c); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestComparisonText(t *testing.T) {
	text := comparisonText(t, exampleComparison())
	for _, want := range []string{
		"\nB: franz-go checkout-1 (franz-go=../franz-go; the candidate of a run of two builds; quick profile,\n",
		"  in B: four\n  in B: and 2 more; see its own report\n",
		"  content hash  abababababab             cdcdcdcdcdcd\n",
		"  module kmsg   v1.15.1 h1:3sj7ekbH33t7  v1.11.2 h1:hIw75FpwcAjg\n",
		"  build flags\n    A -trimpath xxx",
		"  the same in both: CPU Example CPU\n  unknown in both: client revision\n",
		"no CPU times are compared",
		"tier0/fetch/records=100/bare: not judged\n  A has not all of it: 3 of 4 blocks were begun\n",
		"only in B: v18\n",
		"tier1/fetch/size=64KiB/bare: v12 slower, v11, v18 not slower [1]\n  reference v18; margin 10.0 %; floor 3.1 %; 4 forks in A, 6 in B\n",
		"  v12        +1.0   +13.4    +12.4  [+10.4, +14.4]  slower\n",
		"  v18 ref    +1.0    +0.9     -0.1    [-2.1, +1.9]  not slower\n",
		"tier2/fetch/size=64KiB/alone: v7 in A, unknown in B; counters: none changed\n",
		"\nonly in A: tier1/produce/records=100,acks=all/bare\n",
		"  [1] a batch had 46 requests in A and 138 in B: run it again\n  [2] the budgets differ: run both with the same --profile\n",
		"\nverdict: fail (tier1/fetch/size=64KiB/bare v12 is slower by 12.4 % [10.4 %, 14.4 %] against v18 since A, margin 10.0 %)\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("not there: %q", want)
		}
	}
	if !strings.HasSuffix(text, "margin 10.0 %)\n") {
		t.Error("the verdict is not the last line")
	}
	flat := strings.Join(strings.Fields(text), " ")
	const counters = "counters: allocations per record of v9-v12 0.310 -> 0.620; v13 0.310 -> 0.700; bytes allocated per record of v9 1000 -> 1001; segments received per request of v9 2.00 -> 3.00"
	if !strings.Contains(flat, counters) {
		t.Errorf("not there: %s\n%s", counters, flat)
	}
}

// A refusal of the whole still shows what can be shown.
func TestRefusedComparisonText(t *testing.T) {
	c := exampleComparison()
	c.Refused = []string{"the CPU model differs: X in A, Y in B"}
	for i := range c.Families {
		c.Families[i].Cells, c.Families[i].Refused = nil, nil
	}
	text := comparisonText(t, c)
	for _, want := range []string{"No time is judged: the CPU model differs: X in A, Y in B\n", "tier1/fetch/size=64KiB/bare: counters only [1]\n", "of v9-v12 0.310 -> 0.620"} {
		if !strings.Contains(text, want) {
			t.Errorf("not there: %q\n%s", want, text)
		}
	}
	if strings.Contains(text, "Columns:") {
		t.Error("columns are explained that are not there")
	}
}

func TestPrecise(t *testing.T) {
	for _, c := range []struct {
		x, other float64
		want     string
	}{{2, 3, "2.00"}, {0.31, 0.62, "0.310"}, {1000.2, 1000.9, "1000"}, {1000.2, 1000.4, "1000.2"}, {26680, 26690, "26680"}, {0, 5, "0.00"}, {0.00001, 0.00002, "0.000010"}, {0.3833, 0.3829, "0.3833"}} {
		if got := precise(c.x, c.other); got != c.want {
			t.Errorf("precise(%v, %v) = %q, want %q", c.x, c.other, got, c.want)
		}
	}
}
