package validate

import "io"

// Simulated judges made-up records and prints what was promised, what was found, and whether it was kept. True: all of it was.
func Simulated(w io.Writer, o Options) bool {
	s := &sheet{w: w, quick: o.Quick}
	s.say("Simulated, seed %d: no clock is read, and every figure can be had again", o.Seed)
	c := cleanRuns(o)
	c.print(s)
	twoLooks(s, o)
	equivalence(s, o)
	steps(s, o, c)
	growth(s, o)
	badDesigns(s, o)
	s.say("\n%d of %d promises kept", s.lines-s.bad, s.lines)
	return s.bad == 0
}
