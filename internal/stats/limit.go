package stats

// FoundFrom is the smallest true difference whose estimate, with the given chance, is at least `least` and has a one-sided p-value below alpha: what an estimate has to reach, and
// above that by as much as an estimate falls short of the truth in the other cases. It is of this contrast's own standard errors, so of this machine at that time; ok is false
// where there are none.
func (c Contrast) FoundFrom(chance, alpha, least float64) (ln float64, ok bool) {
	if !c.Bounded {
		return 0, false
	}
	return max(least, c.reach(1-alpha)) + c.reach(chance), true
}
