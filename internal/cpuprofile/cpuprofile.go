// Package cpuprofile puts two CPU profiles of one client beside each other: where does one version spend what the other doesn't?
//
// A profile is no proof. It is taken in batches of its own, a hundred times a second, and what it says of a function has the noise of a count: n samples are known to
// within the root of n. Whether a version is slower has been decided before, by other batches.
package cpuprofile

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/google/pprof/profile"
)

// Side is what was profiled of one version.
type Side struct {
	Profile *profile.Profile
	Units   int // records, or requests where none come, that the profile is of
	// CPUNs is what these took by the process clock. The samples stand for more or less, since a timer's ticks and batches keep time together: on a virtual machine they came to 1.3
	// times as much. So a sample is taken for a share of this.
	CPUNs int64
}

// each is what one nanosecond of the samples stands for.
func (s Side) each() float64 {
	var sum int64
	for _, sample := range s.Profile.Sample {
		sum += ns(sample)
	}
	if sum <= 0 || s.CPUNs <= 0 {
		return 1
	}
	return float64(s.CPUNs) / float64(sum)
}

// Merge reads the profiles of a version's slices, and makes one of them: of what was timed. The profiler is on between batches, too. In a mode with the collector
// on, its work belongs to the version; in all others it is forced between batches.
func Merge(slicesOf [][]byte, collector bool) (*profile.Profile, error) {
	var parts []*profile.Profile
	for i, data := range slicesOf {
		p, err := parse(data)
		if err == nil {
			err = p.CheckValid()
		}
		if err != nil {
			return nil, fmt.Errorf("the worker's profile %d can't be read (it has to be pprof's, gzipped): %w", i+1, err)
		}
		if len(p.SampleType) < 2 {
			return nil, fmt.Errorf("the worker's profile %d has %d values per sample: the first has to be a count, the last CPU time", i+1, len(p.SampleType))
		}
		if last := p.SampleType[len(p.SampleType)-1]; last.Unit != "nanoseconds" {
			return nil, fmt.Errorf("the worker's profile %d counts %s in %s: its last value has to be CPU time in nanoseconds", i+1, last.Type, last.Unit)
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return nil, errors.New("there is no profile to merge")
	}
	merged, err := profile.Merge(parts)
	if err != nil {
		return nil, fmt.Errorf("merging the worker's profiles: %w", err)
	}
	merged.Sample = slices.DeleteFunc(merged.Sample, func(s *profile.Sample) bool { return !timed(s, collector) })
	return merged, nil
}

// mostUnzipped bounds what a few KiB of a worker's answer can become.
const mostUnzipped = 64 << 20

func parse(data []byte) (*profile.Profile, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(unzipped, mostUnzipped+1))
	switch {
	case err != nil:
		return nil, err
	case len(raw) > mostUnzipped:
		return nil, fmt.Errorf("it has more than %d MiB", mostUnzipped>>20)
	}
	return profile.ParseUncompressed(raw)
}

// Frames by which a sample of Go's worker is told from one of what was timed.
const (
	between = "protocolbench/internal/worker.(*server).profiledBatches"
	inside  = "protocolbench/internal/worker.(*meter).run"
)

var (
	forced   = []string{"runtime.gcBgMarkWorker", "runtime.bgsweep", "runtime.bgscavenge"}
	profiler = []string{"runtime/pprof.profileWriter"}
)

func timed(s *profile.Sample, collector bool) bool {
	isBetween, isInside := false, false
	for name := range frames(s) {
		switch {
		case slices.Contains(profiler, name), !collector && slices.Contains(forced, name):
			return false
		case name == between:
			isBetween = true
		case name == inside:
			isInside = true
		}
	}
	return isInside || !isBetween
}

// frames are a sample's functions, the innermost first.
func frames(s *profile.Sample) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, location := range s.Location {
			for _, line := range location.Line {
				if line.Function != nil && !yield(line.Function.Name) {
					return
				}
			}
		}
	}
}

// ns is a sample's CPU time.
func ns(s *profile.Sample) int64 { return s.Value[len(s.Value)-1] }

// Samples is how many there are.
func Samples(p *profile.Profile) (n int64) {
	for _, s := range p.Sample {
		n += s.Value[0]
	}
	return n
}

// Difference is a profile of what the version takes more than the other for as many units as the version had; less is negative. pprof shows it like any other.
func Difference(version, against Side) (*profile.Profile, error) {
	if version.Units <= 0 || against.Units <= 0 {
		return nil, errors.New("a profile of nothing can't be compared")
	}
	own, other := version.Profile.Copy(), against.Profile.Copy()
	own.Scale(version.each())
	other.Scale(-against.each() * float64(version.Units) / float64(against.Units))
	difference, err := profile.Merge([]*profile.Profile{own, other})
	if err != nil {
		return nil, fmt.Errorf("comparing two profiles: %w", err)
	}
	return difference, nil
}

// Line is one function beside itself.
type Line struct {
	Function string
	// FlatNs is what its own code takes per unit, WholeNs with all that it calls.
	FlatNs, AgainstFlatNs   float64
	WholeNs, AgainstWholeNs float64
	// Errors is how many standard errors the difference of the flat times is from none.
	Errors float64
}

// FlatDifferenceNs is what the version takes more.
func (l Line) FlatDifferenceNs() float64 { return l.FlatNs - l.AgainstFlatNs }

// Lines are all functions, those with the largest difference in their own code first.
func Lines(version, against Side) []Line {
	lines := map[string]*Line{}
	counts := map[string][2]float64{}
	var sampleNs [2]float64 // per unit
	for i, side := range []Side{version, against} {
		scale := side.each() / float64(max(1, side.Units))
		if n := Samples(side.Profile); n > 0 {
			for _, s := range side.Profile.Sample {
				sampleNs[i] += scale * float64(ns(s)) / float64(n)
			}
		}
		for _, s := range side.Profile.Sample {
			seen := map[string]bool{}
			innermost := true
			each := scale * float64(ns(s))
			for name := range frames(s) {
				l := lines[name]
				if l == nil {
					l = &Line{Function: name}
					lines[name] = l
				}
				flat, whole := &l.FlatNs, &l.WholeNs
				if i == 1 {
					flat, whole = &l.AgainstFlatNs, &l.AgainstWholeNs
				}
				if innermost {
					*flat += each
					n := counts[name]
					n[i] += float64(s.Value[0])
					counts[name] = n
				}
				if !seen[name] {
					*whole += each
				}
				innermost, seen[name] = false, true
			}
		}
	}
	list := make([]Line, 0, len(lines))
	for name, l := range lines {
		l.Errors = errorsFrom(*l, counts[name], sampleNs)
		list = append(list, *l)
	}
	slices.SortFunc(list, func(a, b Line) int {
		return cmp.Or(cmp.Compare(math.Abs(b.FlatDifferenceNs()), math.Abs(a.FlatDifferenceNs())), cmp.Compare(a.Function, b.Function))
	})
	return list
}

// errorsFrom takes counts for Poisson's: a function with n samples has n of variance, and one that was not seen at all as much as one sample, or nine samples that
// happen to be on one side would be three errors.
func errorsFrom(l Line, counts, sampleNs [2]float64) float64 {
	variance := 0.0
	for i := range counts {
		variance += max(1, counts[i]) * sampleNs[i] * sampleNs[i]
	}
	if variance == 0 {
		return 0
	}
	return l.FlatDifferenceNs() / math.Sqrt(variance)
}

// Write puts a profile where pprof reads it.
func Write(w io.Writer, p *profile.Profile) error { return p.Write(w) }
