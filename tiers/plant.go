package tiers

import (
	"fmt"
	"strconv"
)

// Plant is a slowdown that is planted on purpose in one version of the families that a pattern matches: CPU burnt in the worker after each request.
// Whoever doubts that this program would see a slow version can ask it.
type Plant struct {
	Families string  // prefix or glob over family names
	Version  int     // of all its clients
	Part     float64 // of what a request costs on the reference
}

func (p Plant) String() string {
	return fmt.Sprintf("%s@%d=%s%%", p.Families, p.Version, strconv.FormatFloat(100*p.Part, 'g', 6, 64))
}

// planted is how much of the reference's cost is planted in a version of a family.
func (c Config) planted(family string, version int) float64 {
	var sum float64
	for _, p := range c.Plants {
		if p.Version == version && matches(p.Families, family) {
			sum += p.Part
		}
	}
	return sum
}
