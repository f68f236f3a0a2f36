package stats

import (
	"cmp"
	"math"
	"slices"
)

// Fork is one fork's samples of one contrast: per round d = ln x(v) - ln x(reference), or one sample, the difference of their levels.
type Fork struct {
	Draw int
	Fork int
	D    []float64
	// Rounds is how many rounds are behind D, where it is of levels.
	Rounds int
}

// LiveWiden is applied to the round-level standard error in live tiers, where it was measured to be 1.2-1.4 times too
// narrow: a client keeps a state of its own for as long as it lives.
const LiveWiden = 1.3

// Contrast is an estimated difference of logarithms, in any number of draws.
//
// It has two standard errors, each with its own degrees of freedom, and every bound and p-value is the more careful of the
// two's. One standard error, the larger, with the smaller degrees of freedom was tried first: with four forks it made a floor of
// 11 % out of batches of 5 % noise, where 7 % keeps the promise (see the simulations).
type Contrast struct {
	Estimate float64 // 20 % trimmed mean over all rounds
	// Round is Yuen's over all rounds, times widen: the noise of batches.
	Round Error
	// Fork is that of the forks' own trimmed means: also what lives as long as a client does. It alone has right coverage whatever
	// a client's state, but with four forks it is itself a guess: see Moderate.
	Fork Error
	// Birge has widened both already. DrawRatio is the mean square between draws over that of the forks within them, 1 where it can't be had.
	Birge, DrawRatio float64
	// Weights is the sum of squared weights of the cells in the contrast: its variance, if all clients vary alike, in units of one
	// client's.
	Weights float64
	// UpperLevel is that of the bound which has to lie below the margin; 0 is 95 %.
	UpperLevel float64
	// Bounded is false where the samples can't carry an interval: it is infinite then, and Need says what is missing.
	Bounded bool
	Need    string
	// Exact: all samples alike, so that the standard error is 0. Clocks don't do that by themselves; worth a warning.
	Exact                bool
	Rounds, Forks, Draws int
}

// Error is a standard error and its degrees of freedom.
type Error struct{ SE, DF float64 }

// PairedContrast estimates a contrast from its forks. Over more than one draw it is widened by the Birge ratio, so that
// draws that disagree show.
func PairedContrast(forks []Fork, widen, weights float64) Contrast {
	var all, means []float64
	var used []Fork
	for _, f := range forks {
		if m, ok := TrimmedMean(f.D, Trim); ok && finiteAll(f.D) {
			all, means, used = append(all, f.D...), append(means, m), append(used, f)
		}
	}
	draws := groupByDraw(used, means)
	c := Contrast{Rounds: len(all), Forks: len(means), Draws: len(draws), Birge: 1, DrawRatio: 1, Weights: weights}
	c.Estimate, _ = TrimmedMean(all, Trim)
	roundSE, roundDF, ok := YuenSE(all, Trim)
	if !ok || len(means) < 2 {
		c.Need = "at least 2 forks and 2 whole rounds; 4 forks for a useful interval"
		return c
	}
	forkDF := float64(len(means) - 1)
	c.Round = Error{roundSE * widen, roundDF}
	c.Fork = Error{math.Sqrt(squares(means) / (forkDF * float64(len(means)))), forkDF}
	c.Bounded = true
	c.birge(draws)
	c.Exact = c.Round.SE == 0 && c.Fork.SE == 0
	return c
}

// LevelContrast estimates a contrast from differences of levels, one a fork. A fork is all that is independent: what a client keeps for as long as
// it lives is in all its rounds. So there is one standard error, that of the forks.
func LevelContrast(forks []Fork, weights float64) Contrast {
	var differences []float64
	var used []Fork
	c := Contrast{Birge: 1, DrawRatio: 1, Weights: weights}
	for _, f := range forks {
		if len(f.D) == 1 && finiteAll(f.D) {
			differences, used = append(differences, f.D[0]), append(used, f)
			c.Rounds += f.Rounds
		}
	}
	draws := groupByDraw(used, differences)
	c.Forks, c.Draws, c.Estimate = len(used), len(draws), mean(differences)
	if c.Forks < 2 {
		c.Need = "at least 2 forks; 4 for a useful interval"
		return c
	}
	df := float64(c.Forks - 1)
	c.Fork = Error{math.Sqrt(squares(differences) / (df * float64(c.Forks))), df}
	c.Bounded = true
	c.birge(draws)
	c.Exact = c.Fork.SE == 0
	return c
}

// birge widens by max(1, sqrt(Q/(S-1))) where S draws differ by more than their forks explain. Q's weights are equal and come
// from the variance of forks within draws, pooled over draws: a draw's own four forks give too noisy a weight, and
// Q of t-distributed terms would cry wolf.
func (c *Contrast) birge(draws [][]float64) {
	v := varianceOf(draws)
	switch {
	case !v.ok:
	case v.within > 0:
		c.DrawRatio = v.between / v.within
		c.Birge = math.Sqrt(max(1, c.DrawRatio))
		c.Round.SE *= c.Birge
		c.Fork.SE *= c.Birge
	case v.between > 0:
		// Forks agree to the last digit and draws don't: only the draws are left to say how wide.
		c.Fork = Error{max(c.Fork.SE, math.Sqrt(v.between/float64(c.Forks))), v.betweenDF}
	}
}

// AddErrors is the error of a sum of two independent estimates, with Welch and Satterthwaite's degrees of freedom.
func AddErrors(a, b Error) Error {
	va, vb := a.SE*a.SE, b.SE*b.SE
	switch {
	case va == 0:
		return b
	case vb == 0:
		return a
	}
	sum := va + vb
	return Error{SE: math.Sqrt(sum), DF: sum * sum / (va*va/a.DF + vb*vb/b.DF)}
}

// OwnInterval is what one fork's rounds say by themselves: the interval of somebody who has no other fork.
func OwnInterval(d []float64, widen, level float64) (low, high float64, ok bool) {
	estimate, _ := TrimmedMean(d, Trim)
	se, df, ok := YuenSE(d, Trim)
	if !ok || !finiteAll(d) {
		return 0, 0, false
	}
	half := Error{se * widen, df}.reach(0.5 + level/2)
	return estimate - half, estimate + half, true
}

func finiteAll(xs []float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// groupByDraw puts the forks' means where they belong, draws in rising order so that sums don't depend on a map.
func groupByDraw(forks []Fork, means []float64) [][]float64 {
	byDraw := map[int][]float64{}
	for i, f := range forks {
		byDraw[f.Draw] = append(byDraw[f.Draw], means[i])
	}
	keys := make([]int, 0, len(byDraw))
	for k := range byDraw {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, cmp.Compare)
	groups := make([][]float64, 0, len(keys))
	for _, k := range keys {
		groups = append(groups, byDraw[k])
	}
	return groups
}

// variances of a one-way layout: mean squares between and within groups.
type variances struct {
	between, within     float64
	betweenDF, withinDF float64
	ok                  bool // more than one group, and something within one
}

func varianceOf(groups [][]float64) variances {
	var v variances
	var n int
	var all []float64
	for _, g := range groups {
		n += len(g)
		all = append(all, g...)
		v.within += squares(g)
	}
	v.betweenDF, v.withinDF = float64(len(groups)-1), float64(n-len(groups))
	if v.betweenDF < 1 || v.withinDF < 1 {
		return v
	}
	grand := mean(all)
	if squares(all) > 0 {
		for _, g := range groups {
			d := mean(g) - grand
			v.between += float64(len(g)) * d * d
		}
	}
	v.between /= v.betweenDF
	v.within /= v.withinDF
	v.ok = true
	return v
}

// reach is how far the bound of a one-sided level lies from the estimate.
func (c Contrast) reach(level float64) float64 {
	return max(c.Round.reach(level), c.Fork.reach(level))
}

func (e Error) reach(level float64) float64 {
	if e.SE == 0 {
		return 0
	}
	return tQuantile(level, e.DF) * e.SE
}

// pAbove is the probability of a difference d or more by chance. Without any spread the sign decides.
func (e Error) pAbove(d float64) float64 {
	switch {
	case e.SE > 0:
		return tCDF(-d/e.SE, e.DF)
	case d > 0:
		return 0
	default:
		return 1
	}
}

// Interval is the two-sided interval of a level, e.g. 0.95. False where it is infinite.
func (c Contrast) Interval(level float64) (low, high float64, ok bool) {
	if !c.Bounded {
		return 0, 0, false
	}
	half := c.reach(0.5 + level/2)
	return c.Estimate - half, c.Estimate + half, true
}

// Upper is the one-sided upper bound of a level.
func (c Contrast) Upper(level float64) (float64, bool) {
	if !c.Bounded {
		return 0, false
	}
	return c.Estimate + c.reach(level), true
}

// PAbove is the one-sided p-value against "the difference is at most limit": small means that it is above. An infinite
// interval gives 1.
func (c Contrast) PAbove(limit float64) float64 {
	if !c.Bounded {
		return 1
	}
	return max(c.Round.pAbove(c.Estimate-limit), c.Fork.pAbove(c.Estimate-limit))
}

// Disagreement says whether draws differ by more than their forks explain: an F test of draws against forks within draws
// (what Q's chi-square is for known weights, made exact for few forks). Spread is the largest difference of two draws' means. False
// where there is one draw, or one fork per draw.
func Disagreement(forks []Fork) (p, spread float64, ok bool) {
	var means []float64
	var used []Fork
	for _, f := range forks {
		if m, ok := TrimmedMean(f.D, Trim); ok && finiteAll(f.D) {
			means, used = append(means, m), append(used, f)
		}
	}
	draws := groupByDraw(used, means)
	v := varianceOf(draws)
	if !v.ok {
		return 1, 0, false
	}
	centres := make([]float64, len(draws))
	for i, g := range draws {
		centres[i] = mean(g)
	}
	spread = slices.Max(centres) - slices.Min(centres)
	switch {
	case v.within > 0:
		p = fSurvival(v.between/v.within, v.betweenDF, v.withinDF)
	case v.between > 0:
		p = 0
	default:
		p = 1
	}
	return p, spread, true
}

// ForkSD is the standard deviation from fork to fork of a contrast, by each fork's trimmed mean; 0 where there are fewer than two.
func ForkSD(forks []Fork) float64 {
	var means []float64
	for _, f := range forks {
		if m, ok := TrimmedMean(f.D, Trim); ok && finiteAll(f.D) {
			means = append(means, m)
		}
	}
	if len(means) < 2 {
		return 0
	}
	return math.Sqrt(squares(means) / float64(len(means)-1))
}
