package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"protocolbench/internal/stats"
)

// growthPart says what is called growth: a slope at least as steep as that of a quadratic part of a tenth of the cost at the largest size. How steep
// that is depends on how far apart the sizes are (0.023 over factors of 10, 0.019 over 16), so no one number would do. Differences between versions that
// have nothing to do with growth came to 0.011 over factors of 16 on a real broker (fixed cost per response) and 0.007 in codecs.
const growthPart = 0.10

// messageExcess is the least part of a message's cost at the largest size that smaller ones don't foretell. Messages of 1 to 100 elements pass from the smallest caches into larger ones, and a version with
// other structures does so elsewhere: in 38 messages that bent the curves by up to 16 %, where nothing grows. A quadratic part of a third is well above.
const messageExcess = 0.25

// addGrowth looks for costs per record that grow with the size on one version and not on another. judged are the judgements of the families, in the
// same order; what it finds stands with the family of the largest size.
//
// Every version is compared with every other one, not with the reference alone: a fault that came with one version stays in those after
// it, the reference among them, and then it is the old versions that differ.
func addGrowth(families []Family, judged []*judgement) {
	var points []growthPoint
	for i, j := range judged {
		if p, ok := growthPointOf(i, j); ok {
			points = append(points, p)
		}
	}
	for _, axis := range growthAxes(points) {
		growth, ok := axis.growth()
		if !ok {
			continue
		}
		// A family can be the largest on two axes and has room for one: for the one that has something to say.
		largest := &families[axis.largest().family]
		if largest.Growth == nil || !largest.Growth.any() && growth.any() {
			largest.Growth = &growth
		}
	}
}

func (a growthAxis) largest() growthPoint { return a.points[len(a.points)-1] }

// grown is how one version grows beside the reference.
type grown struct {
	version       int
	slope, excess stats.Estimated
}

func (a growthAxis) growth() (Growth, bool) {
	g := Growth{Axis: a.name, Cells: []GrowthCell{}}
	var costs, lnCosts []float64
	for _, p := range a.points {
		g.Sizes = append(g.Sizes, p.size)
		costs = append(costs, p.costNs)
		lnCosts = append(lnCosts, math.Log(p.costNs))
	}
	versions := a.versions(g.Sizes, costs)
	var ok bool
	if g.Reference, ok = stats.SlopeOf(g.Sizes, lnCosts); !ok || len(versions) < 2 {
		return Growth{}, false
	}
	ps, grows := a.pairs(versions)
	for i, v := range versions {
		low, high := v.slope.Interval(level)
		g.Cells = append(g.Cells, GrowthCell{Version: v.version, Slope: v.slope.Value, Low: low, High: high, P: ps[i], Grows: grows[i]})
	}
	return g, true
}

// versions has those that all sizes have.
func (a growthAxis) versions(sizes, costs []float64) []grown {
	var list []grown
	for version := range a.largest().contrasts {
		var d []stats.Estimated
		for _, p := range a.points {
			if c, ok := p.contrasts[version]; ok {
				d = append(d, c)
			}
		}
		slope, ok1 := stats.Slope(sizes, d)
		excess, ok2 := stats.Excess(sizes, costs, d)
		if ok1 && ok2 {
			list = append(list, grown{version, slope, excess})
		}
	}
	slices.SortFunc(list, func(a, b grown) int { return a.version - b.version })
	return list
}

// pairs tests every version's slope against every other's, with Holm's correction over all pairs. A version grows that has a larger slope than some
// other, by an amount that matters, and not because its requests or its records cost more at any size.
//
// That last condition (see stats.Excess) holds to 95 % in each pair by itself. Corrected for all pairs it was blind on Produce, where 100 records
// foretell 1,000 so badly that its standard error is 5 %; and it only tells kinds of difference apart, after the slope has shown that there is one.
func (a growthAxis) pairs(versions []grown) (ps []float64, grows []bool) {
	n := len(versions)
	raw := make([]float64, 0, n*n)
	for i, v := range versions {
		for k, other := range versions {
			if i != k {
				raw = append(raw, v.slope.Less(other.slope).PAbove(0))
			}
		}
	}
	adjusted := stats.Holm(raw)
	ps, grows = make([]float64, n), make([]bool, n)
	for i, v := range versions {
		own := adjusted[i*(n-1) : (i+1)*(n-1)]
		ps[i] = slices.Min(own)
		others := slices.Concat(versions[:i], versions[i+1:])
		for k, other := range others {
			excess := v.excess.Less(other.excess)
			grows[i] = grows[i] || own[k] < alpha && excess.PAbove(0) < alpha && a.material(v.slope.Value-other.slope.Value, excess.Value)
		}
	}
	return ps, grows
}

// material: steep enough, and at the largest size both what the slope adds from the smallest on, and what smaller sizes don't explain of it, are
// of the size that a slower version has to have.
func (a growthAxis) material(slope, excess float64) bool {
	largest := a.largest()
	if largest.declared.Message != "" && excess < messageExcess {
		return false
	}
	extra := min(slope*math.Log(largest.size/a.points[0].size), excess)
	return slope >= a.leastSlope() && extra >= materialPart && extra*largest.requestNs/1e3 >= materialUs
}

// leastSlope is that of a version with a quadratic part of growthPart.
func (a growthAxis) leastSlope() float64 {
	var sizes, ln []float64
	for _, p := range a.points {
		sizes = append(sizes, p.size)
		ln = append(ln, math.Log1p(growthPart/(1-growthPart)*p.size/a.largest().size))
	}
	slope, _ := stats.SlopeOf(sizes, ln)
	return slope
}

func (g *Growth) any() bool {
	return slices.ContainsFunc(g.Cells, func(c GrowthCell) bool { return c.Grows })
}

// growthWhy is a sentence about the versions of a family that grow, "" where none does.
func growthWhy(f Family) string {
	if f.Growth == nil || !f.Growth.any() {
		return ""
	}
	g := f.Growth
	steepest, flattest := g.Cells[0], g.Cells[0]
	var versions []string
	for _, c := range g.Cells {
		if c.Grows {
			versions = append(versions, fmt.Sprintf("v%d", c.Version))
		}
		if c.Slope > steepest.Slope {
			steepest = c
		}
		if c.Slope < flattest.Slope {
			flattest = c
		}
	}
	text := fmt.Sprintf("%s: the cost per record grows with %s", strings.Join(versions, ", "), g.Axis)
	if f.Embedded {
		return text + " (embedded broker: no figure)"
	}
	smallest, largest := g.Sizes[0], g.Sizes[len(g.Sizes)-1]
	part := math.Expm1((steepest.Slope - flattest.Slope) * math.Log(largest/smallest))
	return fmt.Sprintf("%s, by %s more on v%d than on v%d between %s and %s (slope %+.3f)", text, percent(part), steepest.Version, flattest.Version,
		sizeText(smallest), sizeText(largest), steepest.Slope-flattest.Slope)
}

func sizeText(size float64) string { return fmt.Sprintf("%.0f", size) }
