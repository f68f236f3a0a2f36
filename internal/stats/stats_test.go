package stats

import (
	"math"
	"slices"
	"testing"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, by hand %v", what, got, want)
	}
}

// 1..10 and a wild 1000 for the 10: 20 % of 10 cuts two from each end, (3+4+5+6+7+8)/6 = 5.5.
func TestTrimmedMean(t *testing.T) {
	m, ok := TrimmedMean([]float64{1000, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 0.2)
	if !ok {
		t.Fatal("ten samples have a mean")
	}
	near(t, "trimmed mean", m, 5.5, 1e-12)
	// Four samples: 0.2 x 4 rounds down to none.
	m, _ = TrimmedMean([]float64{1, 2, 3, 10}, 0.2)
	near(t, "mean of four", m, 4, 1e-12)
	// Five samples: one from each end. 0.2 x 5 is 1 exactly, whatever the float says.
	m, _ = TrimmedMean([]float64{-9, 1, 2, 3, 99}, 0.2)
	near(t, "mean of five", m, 2, 1e-12)
	// A trim that would leave nothing leaves the middle.
	m, _ = TrimmedMean([]float64{5, 1, 3}, 0.5)
	near(t, "middle of three", m, 3, 1e-12)
	if _, ok := TrimmedMean(nil, 0.2); ok {
		t.Error("no samples have no mean")
	}
}

func TestTrimmedMeanLeavesItsInputAlone(t *testing.T) {
	xs := []float64{3, 1, 2}
	TrimmedMean(xs, 0.2)
	YuenSE(xs, 0.2)
	MedianOf(xs)
	if !slices.Equal(xs, []float64{3, 1, 2}) {
		t.Errorf("input became %v", xs)
	}
}

// 1..10, two cut from each end, h = 6. Winsorised: 3 3 3 4 5 6 7 8 8 8, mean 5.5; deviations 2.5 three times on each side, 1.5 and
// 0.5 once on each: 6 x 6.25 + 2 x 2.25 + 2 x 0.25 = 42.5. SE = sqrt(42.5 / (6 x 5)) = 1.190238.
func TestYuenSE(t *testing.T) {
	xs := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	se, df, ok := YuenSE(xs, 0.2)
	if !ok || df != 5 {
		t.Errorf("df %v, %v; want 5", df, ok)
	}
	near(t, "SE", se, math.Sqrt(42.5/30), 1e-12)
	// The wild sample is winsorised to 8 like the 10 before it.
	xs[9] = 1e6
	se, _, _ = YuenSE(xs, 0.2)
	near(t, "SE with a wild sample", se, math.Sqrt(42.5/30), 1e-12)
	// Without a trim it is the plain standard error: 1, 2, 3: sqrt(2 / (3 x 2)).
	se, _, _ = YuenSE([]float64{1, 2, 3}, 0)
	near(t, "plain SE", se, math.Sqrt(1.0/3), 1e-12)
	for _, few := range [][]float64{nil, {1}} {
		if _, _, ok := YuenSE(few, 0.2); ok {
			t.Errorf("%v has no standard error", few)
		}
	}
	// 0.1 three times: the mean rounds, the standard error must not.
	if se, _, ok := YuenSE([]float64{0.1, 0.1, 0.1}, 0.2); !ok || se != 0 {
		t.Errorf("identical samples have SE %v", se)
	}
}

func TestMedianOf(t *testing.T) {
	for _, c := range []struct {
		xs   []float64
		want float64
	}{{[]float64{3, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}, {[]float64{7}, 7}, {[]float64{math.MaxFloat64, math.MaxFloat64}, math.MaxFloat64}} {
		got, ok := MedianOf(c.xs)
		if !ok || got != c.want {
			t.Errorf("median of %v is %v, want %v", c.xs, got, c.want)
		}
	}
	if _, ok := MedianOf(nil); ok {
		t.Error("no samples have no median")
	}
}

// Printed tables of t and F (e.g. NIST handbook 1.3.6.7).
func TestQuantilesAgainstPrintedTables(t *testing.T) {
	near(t, "t.975 of 3", tQuantile(0.975, 3), 3.182, 5e-4)
	near(t, "t.95 of 3", tQuantile(0.95, 3), 2.353, 5e-4)
	near(t, "t.975 of 11", tQuantile(0.975, 11), 2.201, 5e-4)
	near(t, "t.99 of 1", tQuantile(0.99, 1), 31.821, 5e-3)
	near(t, "P(t3 < 2.353)", tCDF(2.353, 3), 0.95, 1e-4)
	near(t, "P(t < inf)", tCDF(math.Inf(1), 3), 1, 0)
	near(t, "P(t < -inf)", tCDF(math.Inf(-1), 3), 0, 0)
	near(t, "P(F(2,9) > 4.256)", fSurvival(4.256, 2, 9), 0.05, 1e-4)
	near(t, "P(F(17,500) > 0)", fSurvival(0, 17, 500), 1, 0)
	// F(2, n) has a closed tail: (1 + 2x/n)^(-n/2). It has to hold where 1-CDF would be 0.
	near(t, "log of a far tail", math.Log(fSurvival(100, 2, 600)), -300*math.Log(1+200.0/600), 1e-6)
}

// Two forks of one draw. Fork 0: 1 2 3 4 5, fork 1: 3 4 5 6 7 (hundredths).
// All ten sorted: 1 2 3 3 4 4 5 5 6 7; two cut: (3+3+4+4+5+5)/6 = 4. Winsorised: 3 3 3 3 4 4 5 5 5 5: 8 squares of 1, SE =
// sqrt(8/30) = 0.516 with 5 df. Forks' trimmed means: 3 and 5, their SE = sqrt(2 / (1 x 2)) = 1 with 1 df.
func TestPairedContrastByHand(t *testing.T) {
	forks := []Fork{
		{Draw: 0, Fork: 0, D: []float64{.01, .02, .03, .04, .05}},
		{Draw: 0, Fork: 1, D: []float64{.03, .04, .05, .06, .07}},
	}
	c := PairedContrast(forks, 1, 2)
	near(t, "estimate", c.Estimate, .04, 1e-12)
	near(t, "round SE", c.Round.SE, .01*math.Sqrt(8.0/30), 1e-12)
	near(t, "round df", c.Round.DF, 5, 0)
	near(t, "fork SE", c.Fork.SE, .01, 1e-12)
	near(t, "fork df", c.Fork.DF, 1, 0)
	if c.Rounds != 10 || c.Forks != 2 || c.Draws != 1 || c.Birge != 1 || c.Weights != 2 || !c.Bounded || c.Exact {
		t.Errorf("%+v", c)
	}
	// t.975 of 1 is 12.706, far beyond 2.571 x 0.516 of the rounds.
	low, high, ok := c.Interval(0.95)
	near(t, "low", low, .04-.12706, 1e-5)
	near(t, "high", high, .04+.12706, 1e-5)
	upper, _ := c.Upper(0.95) // t.95 of 1 is 6.314
	near(t, "upper", upper, .04+.06314, 1e-5)
	// t = 4 with one degree of freedom: 1/2 - atan(4)/pi.
	near(t, "p", c.PAbove(0), 0.5-math.Atan(4)/math.Pi, 1e-9)
	near(t, "p at the estimate", c.PAbove(.04), 0.5, 1e-9)
	if !ok {
		t.Error("the interval is bounded")
	}
	// Widened by 20 the rounds reach further: 2.571 x 10.33 against 12.706.
	_, high, _ = PairedContrast(forks, 20, 2).Interval(0.95)
	near(t, "high of widened rounds", high, .04+2.5706*.2*math.Sqrt(8.0/30), 1e-4)
}

// Two draws of two forks, one sample each three times: means 0 2 | 10 12. Within: 2 + 2 over 2 df = 2. Between: group means 1
// and 11, grand 6: 2 x 25 + 2 x 25 = 100 over 1 df. F = 50, Birge = sqrt(50). All four: squares 36+16+16+36 = 104, fork SE =
// sqrt(104/12) = 2.944; all twelve rounds: two cut from each end, winsorised 0 0 0 2 2 2 10 10 10 12 12 12 stays (ties), squares
// 3 x 104 = 312, h = 8: sqrt(312/56) = 2.360.
func TestBirgeRatioByHand(t *testing.T) {
	forks := []Fork{
		{Draw: 1, Fork: 0, D: []float64{10, 10, 10}}, {Draw: 0, Fork: 0, D: []float64{0, 0, 0}},
		{Draw: 0, Fork: 1, D: []float64{2, 2, 2}}, {Draw: 1, Fork: 1, D: []float64{12, 12, 12}},
	}
	c := PairedContrast(forks, 1, 2)
	near(t, "Birge", c.Birge, math.Sqrt(50), 1e-12)
	near(t, "round SE", c.Round.SE, math.Sqrt(312.0/56)*math.Sqrt(50), 1e-9)
	near(t, "fork SE", c.Fork.SE, math.Sqrt(104.0/12)*math.Sqrt(50), 1e-9)
	p, spread, ok := Disagreement(forks)
	near(t, "spread", spread, 10, 1e-12)
	// P(F(1,2) > 50) is P(|t2| > sqrt 50) = 1 - sqrt(50/52).
	near(t, "p", p, 1-math.Sqrt(50.0/52), 1e-9)
	if !ok || c.Draws != 2 {
		t.Errorf("%v, %d draws", ok, c.Draws)
	}
	// Draws that agree better than their forks do not narrow it.
	forks[0].D, forks[3].D = []float64{0, 0, 0}, []float64{2, 2, 2}
	if c := PairedContrast(forks, 1, 2); c.Birge != 1 {
		t.Errorf("agreeing draws: %+v", c)
	}
}

func TestTooFewSamplesHaveNoInterval(t *testing.T) {
	for name, forks := range map[string][]Fork{
		"none": nil, "one fork": {{D: []float64{1, 2, 3}}}, "empty forks": {{Fork: 0}, {Fork: 1}},
		"not a number": {{Fork: 0, D: []float64{math.NaN(), 1}}, {Fork: 1, D: []float64{math.Inf(1)}}},
	} {
		c := PairedContrast(forks, 1, 2)
		_, _, bounded := c.Interval(0.95)
		_, upper := c.Upper(0.95)
		if c.Bounded || bounded || upper || c.Need == "" || c.PAbove(0) != 1 || math.IsNaN(c.Estimate) || math.IsInf(c.Estimate, 0) {
			t.Errorf("%s: %+v", name, c)
		}
		if _, ok := Floor([]Contrast{c}); ok {
			t.Errorf("%s: a floor was found", name)
		}
		if p, _, ok := Disagreement(forks); ok || p != 1 {
			t.Errorf("%s: draws disagree with p %v", name, p)
		}
	}
}

func TestIdenticalSamplesAreExactAndNotNaN(t *testing.T) {
	same := func(x float64) []Fork {
		return []Fork{{Draw: 0, Fork: 0, D: []float64{x, x, x}}, {Draw: 0, Fork: 1, D: []float64{x, x, x}}, {Draw: 1, Fork: 0, D: []float64{x, x, x}}}
	}
	for _, c := range []struct{ x, p float64 }{{0, 1}, {0.1, 0}, {-0.1, 1}} {
		got := PairedContrast(same(c.x), 1.3, 2)
		low, high, ok := got.Interval(0.95)
		if !got.Exact || !ok || low != got.Estimate || high != got.Estimate || got.PAbove(0) != c.p {
			t.Errorf("all %v: %+v [%v, %v] p %v, want p %v", c.x, got, low, high, got.PAbove(0), c.p)
		}
		if p, spread, _ := Disagreement(same(c.x)); p != 1 || spread != 0 {
			t.Errorf("all %v: draws disagree with p %v by %v", c.x, p, spread)
		}
	}
	// Forks agree exactly, draws don't: the width comes from the draws alone. Draws 0 (two forks) and 1 (one): between = 2/3 x
	// (0.1)^2, over three forks: SE = sqrt(0.00667/3) = 0.0471, which is also the forks' own.
	torn := same(0)
	torn[2].D = []float64{0.1, 0.1, 0.1}
	c := PairedContrast(torn, 1, 2)
	if p, _, _ := Disagreement(torn); p != 0 || c.Fork.DF != 1 || c.Exact {
		t.Errorf("torn draws: p %v, %+v", p, c)
	}
	near(t, "SE of torn draws", c.Fork.SE, math.Sqrt(0.02/3/3), 1e-12)
}

// Holm by hand: sorted .01 .02 .03 .4 times 4 3 2 1: .04 .06 .06 .4; the third may not fall below the second.
func TestHolm(t *testing.T) {
	got := Holm([]float64{.4, .02, .01, .03})
	for i, want := range []float64{.4, .06, .04, .06} {
		near(t, "adjusted", got[i], want, 1e-12)
	}
	if got := Holm([]float64{.9, .8}); got[0] != 1 || got[1] != 1 {
		t.Errorf("above one: %v", got)
	}
	if len(Holm(nil)) != 0 {
		t.Error("no p-values, no answers")
	}
}

// One contrast: F((margin - t.95 SE)/SE) = 0.9 gives margin = (t.95 + t.90) SE; with 11 degrees of freedom (1.796 + 1.363) SE.
// Fourteen equal ones: each has to pass with 0.9^(1/14) = 0.99250.
func TestFloorByHand(t *testing.T) {
	one := Contrast{Fork: Error{0.01, 11}, Round: Error{0.002, 100}, Bounded: true}
	floor, ok := Floor([]Contrast{one})
	if !ok {
		t.Fatal("no floor")
	}
	near(t, "floor of one", floor, 0.01*(1.796+1.363), 1e-5)
	fourteen := slices.Repeat([]Contrast{one}, 14)
	floor, _ = Floor(fourteen)
	near(t, "floor of fourteen", floor, 0.01*(tQuantile(0.95, 11)+tQuantile(math.Pow(0.9, 1.0/14), 11)), 1e-9)
	// One that is much wider than the others decides alone, by whichever error.
	fourteen[3].Fork.SE = 1
	floor, _ = Floor(fourteen)
	near(t, "floor of a wide one", floor, 1.796+1.363, 1e-2)
	fourteen[3] = Contrast{Fork: Error{0.01, 11}, Round: Error{1, 11}, Bounded: true}
	floor, _ = Floor(fourteen)
	near(t, "floor of wide rounds", floor, 1.796+1.363, 1e-2)
	if floor, ok := Floor(slices.Repeat([]Contrast{{Bounded: true}}, 3)); !ok || floor != 0 {
		t.Errorf("exact contrasts have floor %v, %v", floor, ok)
	}
}

// One contrast whose error is all shared: the floor is that of one, (t.95 + t.90) SE, however often it stands there. With an own error alone it
// is Floor's.
func TestFloorSharedByHand(t *testing.T) {
	one := Contrast{Fork: Error{0.01, 11}, Bounded: true}
	fourteen := slices.Repeat([]Contrast{one}, 14)
	floor, ok := FloorShared(fourteen, one.Fork, make([]Error, 14))
	near(t, "all shared", floor, 0.01*(1.796+1.363), 1e-3) // 31 points of the distribution: 0.9 is met to a thirtieth
	apart, _ := FloorShared(fourteen, Error{}, slices.Repeat([]Error{one.Fork}, 14))
	alone, _ := Floor(fourteen)
	near(t, "nothing shared", apart, alone, 1e-9)
	if !ok || floor > 0.7*alone {
		t.Errorf("shared %v, independent %v", floor, alone)
	}
	if _, ok := FloorShared([]Contrast{{}}, Error{}, make([]Error, 1)); ok {
		t.Error("a contrast without an interval has a floor")
	}
}

// Draw ratios 0.5, 4 and 7.5: mean 4, so each is widened by 2, whatever its own ratio widened it by before.
func TestPoolBirgeByHand(t *testing.T) {
	cs := []Contrast{{Fork: Error{1, 3}, Round: Error{2, 9}, Birge: 1, DrawRatio: 0.5, Bounded: true}, {Fork: Error{2, 3}, Birge: 2, DrawRatio: 4, Bounded: true},
		{Fork: Error{math.Sqrt(7.5), 3}, Birge: math.Sqrt(7.5), DrawRatio: 7.5, Bounded: true}, {Birge: 1, DrawRatio: 100}}
	PoolBirge(cs)
	near(t, "narrow", cs[0].Fork.SE, 2, 1e-12)
	near(t, "its rounds", cs[0].Round.SE, 4, 1e-12)
	near(t, "as it was", cs[1].Fork.SE, 2, 1e-12)
	near(t, "wide", cs[2].Fork.SE, 2, 1e-12)
	if cs[3].Birge != 1 {
		t.Error("a contrast without an interval was widened")
	}
	agree := []Contrast{{Fork: Error{1, 3}, Birge: 1, DrawRatio: 0.1, Bounded: true}}
	if PoolBirge(agree); agree[0].Fork.SE != 1 {
		t.Error("draws that agree narrow an interval")
	}
	PoolBirge(nil)
}

// SE 3 and 4 make 5; with 9 and 16 degrees of freedom: 25^2 / (81/9 + 256/16) = 25.
func TestAddErrorsByHand(t *testing.T) {
	got := AddErrors(Error{3, 9}, Error{4, 16})
	near(t, "SE", got.SE, 5, 1e-12)
	near(t, "df", got.DF, 25, 1e-12)
	if AddErrors(Error{0, 5}, Error{2, 7}) != (Error{2, 7}) || AddErrors(Error{2, 7}, Error{}) != (Error{2, 7}) {
		t.Error("nothing added changes something")
	}
}

// 1..10: trimmed mean 5.5, Yuen's SE sqrt(42.5/30), 5 degrees of freedom, t.975 = 2.571.
func TestOwnIntervalByHand(t *testing.T) {
	low, high, ok := OwnInterval([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 2, 0.95)
	near(t, "low", low, 5.5-2*2.5706*math.Sqrt(42.5/30), 1e-3)
	near(t, "high", high, 5.5+2*2.5706*math.Sqrt(42.5/30), 1e-3)
	if _, _, few := OwnInterval([]float64{1}, 1, 0.95); few || !ok {
		t.Error("one round has no interval, ten have one")
	}
}

// Trigamma at 1 is pi^2/6, at 1/2 pi^2/2, at 3/2 that less 4; digamma at 1 is -0.57722, at 1/2 that less 2 ln 2.
func TestTrigamma(t *testing.T) {
	near(t, "trigamma(1)", trigamma(1), math.Pi*math.Pi/6, 1e-12)
	near(t, "trigamma(1/2)", trigamma(0.5), math.Pi*math.Pi/2, 1e-12)
	near(t, "trigamma(3/2)", trigamma(1.5), math.Pi*math.Pi/2-4, 1e-12)
	for _, x := range []float64{1e-4, 0.3, 1, 7, 1e6} {
		near(t, "inverse", inverseTrigamma(trigamma(x))/x, 1, 1e-6)
	}
}

// Four logarithms 0, 0, s, s of variances with 2 df. Mean s/2, variance s^2/3. Chance gives trigamma(1) = pi^2/6. With
// s^2/3 = pi^2/6 + pi^2/6 the excess is trigamma(1): half = 1, borrowed df 2, and the common variance is
// exp(s/2 - digamma(1) + ln 1 + digamma(1) - ln 1) = exp(s/2).
func TestPriorByHand(t *testing.T) {
	s := math.Pi // s^2/3 = pi^2/3
	common, borrowed := prior([]float64{0, 0, s, s}, []float64{2, 2, 2, 2})
	near(t, "common", common, math.Exp(s/2), 1e-6)
	near(t, "borrowed", borrowed, 2, 1e-6)
	// Closer together than chance: everything is borrowed; exp(-digamma(1)) = exp(0.57722) = 1.78107.
	common, borrowed = prior([]float64{0, 0, 0.1, -0.1}, []float64{2, 2, 2, 2})
	near(t, "common of alike", common, 1.78107, 1e-4)
	if !math.IsInf(borrowed, 1) {
		t.Errorf("alike variances borrow %v", borrowed)
	}
}

// Three contrasts with the same unit variance: (0.02)^2/2 = (0.01)^2/0.5 = 2e-4, df 3 each. Nothing exceeds chance, so as much as allowed is
// borrowed, (3-1) x 3/2 = 3, and the common variance is 2e-4 x exp(-digamma(1.5) + ln 1.5); digamma(1.5) = 0.03649. Unit:
// (3 x 2e-4 x 1.44625 + 3 x 2e-4)/6 = 2.44625e-4.
func TestModerateByHand(t *testing.T) {
	cs := []Contrast{
		{Fork: Error{0.02, 3}, Weights: 2, Birge: 1, Forks: 4, Bounded: true}, {Fork: Error{0.01, 3}, Weights: 0.5, Birge: 1, Forks: 4, Bounded: true},
		{Fork: Error{0.06, 3}, Weights: 2, Birge: 3, Forks: 4, Bounded: true}, {Weights: 2, Birge: 1}, {Fork: Error{0, 3}, Weights: 2, Birge: 1, Forks: 4, Bounded: true, Exact: true},
	}
	Moderate(cs)
	unit := 2.44625e-4
	near(t, "first", cs[0].Fork.SE, math.Sqrt(2*unit), 1e-7)
	near(t, "of half the weight", cs[1].Fork.SE, math.Sqrt(0.5*unit), 1e-7)
	near(t, "of torn draws", cs[2].Fork.SE, 3*math.Sqrt(2*unit), 1e-7)
	near(t, "df", cs[0].Fork.DF, 6, 1e-12)
	if cs[3].Fork != (Error{}) || cs[4].Fork != (Error{0, 3}) {
		t.Errorf("contrasts without a spread were moderated: %+v", cs[3:])
	}
	two := cs[:2]
	before := two[0].Fork
	Moderate(two)
	if two[0].Fork != before {
		t.Error("two contrasts are too few to say what is common")
	}
}

// Two cells, two rounds, order swapped: cell 0 costs 0 and cell 1 costs 1, the second place 0.2 more.
// Residuals are -0.1 at place 0 and +0.1 at place 1 exactly: nothing is left within, but no degree of freedom either.
func TestPositionFByHand(t *testing.T) {
	block := []Round{{Cells: []int{0, 1}, LnX: []float64{0, 1.2}}, {Cells: []int{1, 0}, LnX: []float64{1, 0.2}}}
	if got := PositionF([][]Round{block}); got.OK {
		t.Errorf("4 numbers for 3 parameters and a position leave nothing: %+v", got)
	}
	// Twice the block with a wobble of +-w on alternating rounds' second place: position means stay, within gets its share.
	// n = 8, two blocks: 2 x (2 + 2 - 1) = 6 parameters and 1 position leave 1. Wobble w in block 0, -w in block 1 on every
	// round: residuals -0.1-w/2, +0.1+w/2 and -0.1+w/2, +0.1-w/2. Between = 2 x 4 x 0.01 = 0.08; within = 8 x (w/2)^2 = 2 w^2.
	// w = 0.1: F = 0.08/0.02 = 4; P(F(1,1) > 4) = 1 - 2/pi atan(2).
	wobble := func(w float64) []Round {
		return []Round{{Cells: []int{0, 1}, LnX: []float64{0, 1.2 + w}}, {Cells: []int{1, 0}, LnX: []float64{1, 0.2 + w}}}
	}
	got := PositionF([][]Round{wobble(0.1), wobble(-0.1)})
	near(t, "F", got.F, 4, 1e-9)
	near(t, "p", got.P, 1-2/math.Pi*math.Atan(2), 1e-9)
	near(t, "spread", got.Spread, 0.2, 1e-9)
	for name, blocks := range map[string][][]Round{
		"none": nil, "one cell": {{{Cells: []int{0}, LnX: []float64{1}}}}, "ragged": {{{Cells: []int{0, 1}, LnX: []float64{1, 2}}, {Cells: []int{0}, LnX: []float64{1}}}},
		"not a number": {{{Cells: []int{0, 1}, LnX: []float64{1, math.NaN()}}}}, "empty block": {{}},
	} {
		if got := PositionF(blocks); got.OK || got.P != 1 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
