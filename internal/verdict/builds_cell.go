package verdict

import (
	"fmt"
	"strings"

	"protocolbench/internal/record"
)

// cell fills one version's row and finds its word.
func (b *builds) cell(i int, declared record.FamilyCell) Cell {
	cell := Cell{Version: declared.Version, Contrast: contrastBaseline, Difference: asRatio(b.between[i].Estimate), P: b.between[i].p}
	fillMetrics(&cell, b.FamilyRun, b.clients(i))
	cell.Low, cell.High, cell.Unbounded = bounds(b.between[i])
	cell.Curve = differenceOf(b.curve[i])
	if len(b.contrasts) > i && len(b.versions) > 1 {
		cell.Within = differenceOf(b.contrasts[i])
	} else {
		cell.Curve = nil // one version has no place among others
	}
	if i < len(b.base.versions) {
		cell.Baseline = figuresOf(b.FamilyRun, b.base.clients(i))
	}
	cell.Verdict, cell.Why = b.word(i, cell)
	cell.LeftBehind = cell.Verdict == NotSlower && b.leftBehind(i, cell)
	cell.Differs = cell.Verdict == NotSlower && cell.Low > 0
	cell.Faster = cell.Verdict == NotSlower && cell.High < 0
	return cell
}

func bounds(c cellContrast) (low, high float64, unbounded bool) {
	lowLn, highLn, ok := c.Interval(level)
	if !ok {
		return -1, Unbounded, true
	}
	return asRatio(lowLn), asRatio(highLn), false
}

func differenceOf(c cellContrast) *Difference {
	d := &Difference{Contrast: c.name, Difference: asRatio(c.Estimate), P: c.p}
	d.Low, d.High, d.Unbounded = bounds(c)
	return d
}

func figuresOf(family record.FamilyRun, members []int) *Figures {
	var c Cell
	fillMetrics(&c, family, members)
	figures := FiguresOf(c)
	return &figures
}

// FiguresOf is what a cell costs, in the form that its baseline has it.
func FiguresOf(c Cell) Figures {
	return Figures{CPUUsPerRequest: c.CPUUsPerRequest, CPUNsPerRecord: c.CPUNsPerRecord, RecordsPerSecond: c.RecordsPerSecond,
		AllocsPerRecord: c.AllocsPerRecord, AllocBytesPerRecord: c.AllocBytesPerRecord, WireBytesPerRecord: c.WireBytesPerRecord, RequestsPer1000: c.RequestsPer1000}
}

// word: slower is what costs more than with the baseline, by the margin between builds, or by the narrower one of the curves when it also left its
// place among the versions. A version that only others overtook did not get slower.
func (b *builds) word(i int, cell Cell) (word, why string) {
	if len(b.nothing) > 0 {
		return Unresolved, strings.Join(b.nothing, "; ")
	}
	between, curve := b.between[i], b.curve[i]
	upperLn, ok := between.Upper(level)
	if !ok {
		return Unresolved, fmt.Sprintf("%d rounds in %d forks carry no interval: it needs %s", between.Rounds, between.Forks, between.Need)
	}
	if len(b.spoilt) > 0 {
		return Unresolvable, strings.Join(b.spoilt, "; ")
	}
	if between.torn {
		return Unresolvable, fmt.Sprintf("draws disagree by %s", percent(asRatio(between.apart)))
	}
	upper := asRatio(upperLn)
	reading := b.readCurve(curve, cell)
	switch {
	case between.p < buildsAlpha && cell.Difference >= b.margin && b.material(cell, cell.Difference):
		return Slower, fmt.Sprintf("%s [%s, %s] against the baseline, margin %s", percent(cell.Difference), percent(cell.Low), percent(cell.High), percent(b.margin))
	case reading.slower && b.dearer(i) && b.material(cell, reading.difference):
		return Slower, fmt.Sprintf("%s [%s, %s] against %s since the baseline, margin %s, and %s [%s, %s] against the baseline itself",
			percent(reading.difference), percent(reading.low), percent(reading.high), b.others(i), percent(b.judgement.margin), percent(cell.Difference), percent(cell.Low), percent(cell.High))
	case upper < min(b.margin, b.judgement.margin), upper < b.margin && (!reading.usable || reading.slower || reading.upper < b.judgement.margin):
		return NotSlower, b.note(i, cell, reading)
	case !b.material(cell, upper):
		return NotSlower, fmt.Sprintf("immaterial: at most %.2f us per request (%s)", upper*b.baselineUs(cell), percent(upper))
	case b.coarse != "":
		return Unresolvable, b.coarse
	case upper < b.margin:
		return Unresolved, fmt.Sprintf("against %s the upper bound of %s is not below the margin of %s", b.others(i), percent(reading.upper), percent(b.judgement.margin))
	}
	return Unresolved, fmt.Sprintf("against the baseline the upper bound of %s is not below the margin of %s", percent(upper), percent(b.margin))
}

// dearer is asked of a version that left its place among the others: does it cost more than with the baseline itself? By half the curves' margin,
// too: the p-value alone would say so of one in twenty that were merely overtaken. It is not what the version is called slower by, so it has no
// share in what the two contrasts err by, and needs no correction.
func (b *builds) dearer(i int) bool {
	between := b.between[i]
	return between.PAbove(0) < alpha && asRatio(between.Estimate) >= b.judgement.margin/2
}

// others are what a version's place is taken against.
func (b *builds) others(i int) string {
	if i == b.newest {
		return "the versions before it"
	}
	return "the reference version"
}

// curveReading is what the curves say of one version.
type curveReading struct {
	usable                       bool
	slower                       bool // significant, and the margin or more
	difference, low, high, upper float64
}

func (b *builds) readCurve(c cellContrast, cell Cell) curveReading {
	upperLn, ok := c.Upper(level)
	if !ok || !b.curveOK || c.torn || cell.Curve == nil {
		return curveReading{}
	}
	r := curveReading{usable: true, difference: cell.Curve.Difference, low: cell.Curve.Low, high: cell.Curve.High, upper: asRatio(upperLn)}
	r.slower = c.p < buildsAlpha && r.difference >= b.judgement.margin
	return r
}

// leftBehind: its place among the versions is worse than with the baseline, and it doesn't cost more. The others became cheaper.
func (b *builds) leftBehind(i int, cell Cell) bool {
	return b.readCurve(b.curve[i], cell).slower && !b.dearer(i)
}

// note is what there is to say of a version that isn't slower.
func (b *builds) note(i int, cell Cell, reading curveReading) string {
	switch curve := b.curve[i]; {
	case b.leftBehind(i, cell):
		return fmt.Sprintf("left behind: %s became cheaper by %s [%s, %s] more than this one", b.others(i), percent(reading.difference), percent(reading.low), percent(reading.high))
	case reading.slower: // and dearer, yet not slower
		return fmt.Sprintf("immaterial: %s against %s since the baseline is %.2f us per request", percent(reading.difference), b.others(i), reading.difference*b.baselineUs(cell))
	case curve.torn && b.curveOK:
		return fmt.Sprintf("judged against the baseline alone: draws disagree by %s on how it moved against %s", percent(asRatio(curve.apart)), b.others(i))
	}
	return ""
}

// material is asked of what the version costs with the baseline.
func (b *builds) material(cell Cell, difference float64) bool {
	return difference*b.baselineUs(cell) >= materialUs && difference >= materialPart
}

func (b *builds) baselineUs(cell Cell) float64 {
	if cell.Baseline == nil {
		return 0
	}
	return cell.Baseline.CPUUsPerRequest
}
