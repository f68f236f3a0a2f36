package seed

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// Golden: a change here changes what every seed ever printed means.
func TestStreamAndDeriveGolden(t *testing.T) {
	r := Stream(7, "orders")
	got := []uint64{r.Uint64(), r.Uint64(), Derive(7, "orders"), Derive(7, "orders2"), Derive(8, "orders")}
	want := []uint64{0x856b95f8bd3aac57, 0x461c3bd25c0125c4, 0x3ba8d65a75bf7f34, 0x81e5efb169b53853, 0x8d013776cdccc6e3}
	if !slices.Equal(got, want) {
		t.Errorf("got %#v, golden %#v", got, want)
	}
	if got, want := Permutation(Stream(7, "orders"), 8), []int{2, 6, 0, 4, 1, 5, 3, 7}; !slices.Equal(got, want) {
		t.Errorf("permutation %v, golden %v", got, want)
	}
}

// The published first outputs of SplitMix64 from state 1234567 (Rosetta Code, and Vigna's splitmix64.c).
func TestSplitMix64Published(t *testing.T) {
	s := SplitMix64(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := s.Next(); got != want {
			t.Errorf("output %d is %d, published %d", i, got, want)
		}
	}
}

// Substreams: same name same numbers, other name or seed unrelated numbers. Unrelated: of 64,000 bits about half differ
// (sd 126; the bound is 5 sd).
func TestSubstreamsAreIndependent(t *testing.T) {
	differing := func(a, b func() uint64) (bits int) {
		for range 1000 {
			for x := a() ^ b(); x != 0; x &= x - 1 {
				bits++
			}
		}
		return bits
	}
	if d := differing(Stream(7, "a").Uint64, Stream(7, "a").Uint64); d != 0 {
		t.Errorf("the same stream differs from itself in %d bits", d)
	}
	for _, other := range []struct {
		seed uint64
		name string
	}{{7, "b"}, {8, "a"}, {7, "a/0"}, {7, ""}} {
		if d := differing(Stream(7, "a").Uint64, Stream(other.seed, other.name).Uint64); math.Abs(float64(d-32000)) > 632 {
			t.Errorf("streams (7, a) and (%d, %s) differ in %d of 64000 bits", other.seed, other.name, d)
		}
	}
	// A name with a slash can't be mistaken for a seed with one: the digits end at the first slash.
	if Derive(1, "2/x") == Derive(12, "x") {
		t.Error("seed and name run into each other")
	}
}

// 4! orders over 24,000 draws: chi-square with 23 degrees of freedom; 58.6 is its 99.995 % point. The seed is fixed, so
// the test gives the same answer always.
func TestPermutationIsUnbiased(t *testing.T) {
	r := Stream(1, "permutation test")
	counts := map[[4]int]int{}
	for range 24000 {
		counts[[4]int(Permutation(r, 4))]++
	}
	if len(counts) != 24 {
		t.Fatalf("%d of 24 orders seen", len(counts))
	}
	var chi2 float64
	for _, n := range counts {
		chi2 += float64((n-1000)*(n-1000)) / 1000
	}
	if chi2 > 58.6 {
		t.Errorf("orders are not equally likely: chi-square %.1f for 23 degrees of freedom", chi2)
	}
}

func TestPermutationHasEachOnce(t *testing.T) {
	r := Stream(2, "permutation test")
	for n := range 40 {
		p := Permutation(r, n)
		slices.Sort(p)
		for i := range n {
			if p[i] != i {
				t.Fatalf("n=%d: sorted permutation is %v", n, p)
			}
		}
	}
}

func TestWilliamsIsBalanced(t *testing.T) {
	for n := 1; n <= 40; n++ {
		rows := Williams(n)
		times := 1 + n%2 // an odd square comes twice
		if len(rows) != n*times {
			t.Fatalf("n=%d: %d rows, want %d", n, len(rows), n*times)
		}
		at := map[[2]int]int{}
		after := map[[2]int]int{}
		for _, row := range rows {
			for i, cell := range row {
				at[[2]int{i, cell}]++
				if i > 0 {
					after[[2]int{row[i-1], cell}]++
				}
			}
		}
		if len(at) != n*n || len(after) != n*(n-1) {
			t.Fatalf("n=%d: %d of %d places and %d of %d pairs", n, len(at), n*n, len(after), n*(n-1))
		}
		for where, c := range at {
			if c != times {
				t.Fatalf("n=%d: cell %d stands %d times at position %d", n, where[1], c, where[0])
			}
		}
		for pair, c := range after {
			if c != times {
				t.Fatalf("n=%d: cell %d comes %d times after %d", n, pair[1], c, pair[0])
			}
		}
	}
	if Williams(0) != nil || Williams(-3) != nil {
		t.Error("no cells have to give no rows")
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]uint64{"0": 0, "7": 7, "18446744073709551615": math.MaxUint64} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("Parse(%q) = %d, %v", text, got, err)
		}
	}
	for text, word := range map[string]string{"": "not a number", "-1": "not a number", "+1": "not a number", "0x7": "not a number",
		"1_000": "not a number", " 7": "not a number", "seven": "not a number", "7.0": "not a number", "18446744073709551616": "too large"} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("Parse(%q): %v, want a complaint with %q", text, err, word)
		}
	}
}

func TestDraw(t *testing.T) {
	if got := Draw(bytes.NewReader([]byte{1, 2, 0, 0, 9})); got != 513 {
		t.Errorf("drew %d from bytes 1 2 0 0, want 513", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a seed was made without entropy")
		}
	}()
	Draw(iotest.ErrReader(bytes.ErrTooLarge))
}
