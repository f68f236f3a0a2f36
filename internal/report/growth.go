package report

import (
	"fmt"
	"math"
	"strings"

	"protocolbench/internal/verdict"
)

// growing are the versions whose cost per record grows with the size more than another version's.
func growing(f verdict.Family) []int {
	var versions []int
	if f.Growth != nil {
		for _, c := range f.Growth.Cells {
			if c.Grows {
				versions = append(versions, c.Version)
			}
		}
	}
	return versions
}

// growth says how the cost per record goes along the family's axis of sizes, loudly where a version grows that another one shows need not.
func growth(f verdict.Family) []remark {
	g := f.Growth
	if g == nil || len(g.Sizes) == 0 || len(g.Cells) == 0 {
		return nil
	}
	smallest, largest := g.Sizes[0], g.Sizes[len(g.Sizes)-1]
	times := math.Log(largest / smallest)
	var list []remark
	steepest, flattest := ends(g.Cells, func(c verdict.GrowthCell) float64 { return c.Slope })
	if grows := growing(f); grows != nil {
		more := math.Expm1((steepest.Slope - flattest.Slope) * times)
		list = append(list, remark{fmt.Sprintf("GROWS with %s: %s; from %s to %s the cost per record of v%d rises by %s against that of v%d (slope %+.3f [%+.3f, %+.3f], v%d %+.3f)",
			g.Axis, versionList(grows), sizeText(g.Axis, smallest), sizeText(g.Axis, largest), steepest.Version, percent(more), flattest.Version,
			steepest.Slope, steepest.Low, steepest.High, flattest.Version, flattest.Slope), true})
	}
	var sizes []string
	for _, size := range g.Sizes {
		sizes = append(sizes, sizeText(g.Axis, size))
	}
	conclusion := "none grows more than another"
	if list != nil {
		conclusion = "see above"
	}
	list = append(list, remark{Text: fmt.Sprintf("growth over %s %s: v%d's own cost per record %s (slope %+.3f); the slopes of all versions lie %+.3f to %+.3f from it: %s",
		g.Axis, strings.Join(sizes, ", "), f.Reference, ownGrowth(g.Reference, times), g.Reference, flattest.Slope, steepest.Slope, conclusion)})
	return list
}

// ownGrowth puts the reference's slope in words. A cost per record that falls is the usual thing: what a request costs by itself is shared by more records.
func ownGrowth(slope, times float64) string {
	const hardly = 0.01
	switch change := math.Expm1(slope * times); {
	case change <= -hardly:
		return "falls by " + percent(-change)
	case change >= hardly:
		return "rises by " + percent(change)
	}
	return "hardly changes"
}

// ends are the ones with the largest and the smallest figure.
func ends[T any](list []T, of func(T) float64) (largest, smallest T) {
	largest, smallest = list[0], list[0]
	for _, x := range list[1:] {
		if of(x) > of(largest) {
			largest = x
		}
		if of(x) < of(smallest) {
			smallest = x
		}
	}
	return largest, smallest
}

// sizeText writes a size as the families' names do.
func sizeText(axis string, size float64) string {
	if axis == "size" {
		switch {
		case size >= 1<<20 && math.Mod(size, 1<<20) == 0:
			return fmt.Sprintf("%.0fMiB", size/(1<<20))
		case size >= 1<<10 && math.Mod(size, 1<<10) == 0:
			return fmt.Sprintf("%.0fKiB", size/(1<<10))
		}
	}
	return fmt.Sprintf("%.0f", size)
}
