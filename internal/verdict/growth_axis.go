package verdict

import (
	"cmp"
	"slices"
	"strings"

	"protocolbench/internal/record"
	"protocolbench/internal/shape"
	"protocolbench/internal/stats"
)

// dimensions are what an axis of sizes can run along.
var dimensions = []struct {
	name string
	of   func(*shape.Shape) *int
	// size is what grows where that isn't the number itself.
	size func(n int) float64
}{
	{"size", func(s *shape.Shape) *int { return &s.FetchBytes }, nil},
	{"records", func(s *shape.Shape) *int { return &s.RecordsPerBatch }, nil},
	{"batches", func(s *shape.Shape) *int { return &s.BatchesPerPartition }, nil},
	{"partitions", func(s *shape.Shape) *int { return &s.Partitions }, nil},
	{"topics", func(s *shape.Shape) *int { return &s.Topics }, nil},
	{"keys", func(s *shape.Shape) *int { return &s.KeyBytes }, nil},
	{"values", func(s *shape.Shape) *int { return &s.ValueBytes }, nil},
	{"headers", func(s *shape.Shape) *int { return &s.Headers }, nil},
	{"topicname", func(s *shape.Shape) *int { return &s.TopicNameBytes }, nil},
	{"aborted", func(s *shape.Shape) *int { return &s.Aborted }, nil},
	{"delivery", func(s *shape.Shape) *int { return &s.ReadBytes }, pieces},
	{"elements", func(s *shape.Shape) *int { return &s.Elements }, nil},
	{"nested", func(s *shape.Shape) *int { return &s.Nested }, nil},
}

// pieces is in how many reads a response comes, to within a factor that is the same for all sizes of an axis: a client that goes over what it has with each
// of them gets dearer the shorter they are.
func pieces(readBytes int) float64 {
	if readBytes <= 0 {
		return 0 // no reads
	}
	return max(1, float64(1<<20)/float64(readBytes))
}

// growthPoint is one family as a size of an axis.
type growthPoint struct {
	family    int // its place among the verdict's
	declared  record.Family
	size      float64
	costNs    float64                 // per record, of the reference
	requestNs float64                 // of the reference
	contrasts map[int]stats.Estimated // by version: ln cost against the reference version, whose own is 0 without an error
}

// growthPointOf is false for a family whose figures can't be trusted: one that was not judged, or whose twins, canary or positions say that
// something is wrong. A floor above the margin is no such thing: a wide interval stays an interval here.
func growthPointOf(family int, j *judgement) (growthPoint, bool) {
	if j.Shape.Polls() {
		return growthPoint{}, false // a cost per request grows with what is in the response, and has to
	}
	if j.Tier > 1 || j.BuildMargin > 0 || len(j.nothing) > 0 || len(j.spoilt) > 0 || len(j.contrasts) != len(j.versions) {
		return growthPoint{}, false
	}
	p := growthPoint{family: family, declared: j.Family, requestNs: j.referenceNsPerRequest(), costNs: j.out.Cells[j.newest].CPUNsPerRecord,
		contrasts: map[int]stats.Estimated{}}
	for i, c := range j.contrasts {
		if i == j.newest {
			p.contrasts[j.versions[i].Version] = stats.Estimated{}
			continue
		}
		if d, ok := c.Single(); ok && !c.torn {
			p.contrasts[j.versions[i].Version] = d
		}
	}
	return p, p.costNs > 0 && p.requestNs > 0
}

// growthAxis is a row of families that differ in one dimension of their shape alone.
type growthAxis struct {
	name   string
	points []growthPoint // rising, no two of one size
}

// growthAxes finds every axis among the points: families of one tier, API, mode and reference, alike in all of their shape but one dimension.
func growthAxes(points []growthPoint) []growthAxis {
	var axes []growthAxis
	for _, dimension := range dimensions {
		type rest struct {
			tier, reference int
			api, mode       string
			shape           shape.Shape
		}
		places := map[rest]int{} // in found; the order is that of the families, not of a map
		var found []growthAxis
		for _, p := range points {
			s := p.declared.Shape
			size := dimension.of(&s)
			if p.size = float64(*size); dimension.size != nil {
				p.size = dimension.size(*size)
			}
			if p.size <= 0 {
				continue // no logarithm: no headers, for example
			}
			*size, s.Name = 0, ""
			key := rest{p.declared.Tier, p.declared.Reference, p.declared.API, p.declared.Mode, s}
			place, known := places[key]
			if !known {
				place = len(found)
				places[key] = place
				found = append(found, growthAxis{name: dimension.name})
			}
			if !slices.ContainsFunc(found[place].points, func(q growthPoint) bool { return q.size == p.size }) {
				found[place].points = append(found[place].points, p)
			}
		}
		for _, axis := range found {
			if len(axis.points) < stats.GrowthSizes {
				continue
			}
			slices.SortFunc(axis.points, func(a, b growthPoint) int { return cmp.Compare(a.size, b.size) })
			axis.points = axis.points[len(axis.points)-stats.GrowthSizes:]
			axis.name = axis.calledBy(dimension.name)
			axes = append(axes, axis)
		}
	}
	return axes
}

// calledBy is the axis's name as the families' own names have it ("records" of "records=100,acks=all"), where they agree.
func (a growthAxis) calledBy(otherwise string) string {
	common := ""
	for i, p := range a.points {
		name, _, named := strings.Cut(p.declared.Shape.Name, "=")
		if !named || name == "" || i > 0 && name != common {
			return otherwise
		}
		common = name
	}
	return common
}
