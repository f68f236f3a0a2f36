package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Moderate makes the fork-level standard errors of a family's contrasts steadier by what they have in common. Four forks know a
// variance to a factor of three, and fourteen such guesses always have a bad one among them, which then is the floor of the
// whole family. The contrasts are of one machine, one shape and one client, so their variances are drawn around a common
// one; how far around is estimated too (Smyth 2004, "moderated t", the method behind limma).
//
// Where variances really differ between versions (fetches of 4 KiB: 3 % on old versions, 0.5 % on new ones), the common one gets
// little weight by itself. The degrees of freedom borrowed are held to half of what the other contrasts have, because all
// contrasts share one reference and so are not as many as they seem.
//
// Rejected: pooling outright (the noisy versions of such a family would get intervals half as wide as they should be), and leaving
// each alone (no family of real noise would ever be resolved by four forks).
func Moderate(contrasts []Contrast) {
	var logs, dfs []float64
	for _, c := range contrasts {
		if c.moderable() {
			dfs = append(dfs, c.Fork.DF)
			logs = append(logs, math.Log(c.unitVariance()))
		}
	}
	if len(logs) < 3 {
		return
	}
	common, borrowed := prior(logs, dfs)
	borrowed = min(borrowed, float64(len(logs)-1)*mean(dfs)/2)
	for i := range contrasts {
		if c := &contrasts[i]; c.moderable() {
			unit := (borrowed*common + c.Fork.DF*c.unitVariance()) / (borrowed + c.Fork.DF)
			c.Fork = Error{SE: c.Birge * math.Sqrt(unit*c.Weights/float64(c.Forks)), DF: c.Fork.DF + borrowed}
		}
	}
}

func (c Contrast) moderable() bool { return c.Bounded && c.Forks > 0 && c.Fork.SE > 0 && c.Weights > 0 }

// unitVariance is what one client varies by from fork to fork, before the Birge ratio: that one is about draws, and not shared.
func (c Contrast) unitVariance() float64 {
	se := c.Fork.SE / c.Birge
	return se * se * float64(c.Forks) / c.Weights
}

// prior fits the distribution that variances are drawn from, given logarithms of sample variances and their degrees of freedom (a second look
// leaves some versions with more forks than others): their mean gives the common variance, and what their spread exceeds the spread of chance gives the degrees of
// freedom that the common one is worth; infinite where it exceeds nothing.
func prior(logs, dfs []float64) (common, borrowed float64) {
	unbiased := make([]float64, len(logs))
	var chance float64
	for i, df := range dfs {
		unbiased[i] = logs[i] - mathext.Digamma(df/2) + math.Log(df/2)
		chance += trigamma(df/2) / float64(len(dfs))
	}
	centre := mean(unbiased)
	excess := squares(unbiased)/float64(len(unbiased)-1) - chance
	if excess <= 0 {
		return math.Exp(centre), math.Inf(1)
	}
	half := inverseTrigamma(excess)
	return math.Exp(centre + mathext.Digamma(half) - math.Log(half)), 2 * half
}

// trigamma is the derivative of digamma: Hurwitz's zeta of 2.
func trigamma(x float64) float64 { return mathext.Zeta(2, x) }

// inverseTrigamma bisects in the logarithm; trigamma falls from infinity to 0.
func inverseTrigamma(y float64) float64 {
	low, high := -20.0, 20.0
	for range 80 {
		if middle := (low + high) / 2; trigamma(math.Exp(middle)) > y {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Exp((low + high) / 2)
}
