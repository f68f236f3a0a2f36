package cpuprofile

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// made is a profile whose samples are stacks, the innermost function first, with so many samples of 10 ms each.
func made(stacks map[string]int64) *profile.Profile {
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}, PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 10_000_000}
	functions := map[string]*profile.Location{}
	for stack, n := range stacks {
		s := &profile.Sample{Value: []int64{n, n * 10_000_000}}
		for name := range strings.SplitSeq(stack, "<") {
			at := functions[name]
			if at == nil {
				f := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name}
				at = &profile.Location{ID: f.ID, Address: f.ID, Line: []profile.Line{{Function: f}}}
				functions[name] = at
				p.Function, p.Location = append(p.Function, f), append(p.Location, at)
			}
			s.Location = append(s.Location, at)
		}
		p.Sample = append(p.Sample, s)
	}
	return p
}

func bytesOf(t *testing.T, p *profile.Profile) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The clock knows how long it took, the samples what of it was where.
func TestSamplesAreSharesOfTheClock(t *testing.T) {
	stacks := map[string]int64{"copy<read": 60, "parse<read": 40}
	half := Side{made(stacks), 1000, 500_000_000} // of samples of a second
	if l := Lines(half, half)[0]; l.Function != "copy" && l.Function != "parse" && l.Function != "read" || l.FlatDifferenceNs() != 0 {
		t.Errorf("%+v", l)
	}
	whole := Side{made(stacks), 1000, 0} // nobody knows
	for _, l := range Lines(half, whole) {
		if l.Function == "copy" && (l.FlatNs != 300_000 || l.AgainstFlatNs != 600_000) {
			t.Errorf("%+v", l)
		}
	}
	d, err := Difference(half, whole)
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	for _, s := range d.Sample {
		sum += ns(s)
	}
	if sum != -500_000_000 {
		t.Errorf("%d ns", sum)
	}
}

// What was not timed is left out, and slices are added up.
func TestMergeKeepsWhatWasTimed(t *testing.T) {
	one := bytesOf(t, made(map[string]int64{
		"copy<kmsg.ReadFrom<" + inside + "<" + between: 10, "runtime.GC<" + between: 7, "scan<runtime.gcBgMarkWorker": 5, "kgo.drain": 3, "write<runtime/pprof.profileWriter": 2,
	}))
	for collector, want := range map[bool]int64{false: 26, true: 36} {
		p, err := Merge([][]byte{one, one}, collector)
		if err != nil || Samples(p) != want {
			t.Errorf("collector %t: %d samples, want %d (%v)", collector, Samples(p), want, err)
		}
	}
	if _, err := Merge([][]byte{one, []byte("junk")}, false); err == nil || !strings.Contains(err.Error(), "profile 2 can't be read") {
		t.Errorf("junk: %v", err)
	}
	if _, err := Merge(nil, false); err == nil {
		t.Error("nothing makes a profile")
	}
	heap := made(map[string]int64{"a": 1})
	heap.SampleType[1] = &profile.ValueType{Type: "space", Unit: "bytes"}
	if _, err := Merge([][]byte{bytesOf(t, heap)}, false); err == nil || !strings.Contains(err.Error(), "has to be CPU time") {
		t.Errorf("a profile of the heap: %v", err)
	}
}

// The two versions did not do the same number of records: what is compared is per record.
func TestLinesAndDifferenceArePerUnit(t *testing.T) {
	version := Side{made(map[string]int64{"copy<read<main": 60, "parse<read<main": 100, "slow<read<main": 40}), 1_000_000, 2_000_000_000}
	against := Side{made(map[string]int64{"copy<read<main": 120, "parse<read<main": 200, "loop<loop<main": 4}), 2_000_000, 3_240_000_000}
	lines := Lines(version, against)
	if lines[0].Function != "slow" || lines[0].FlatNs != 400 || lines[0].AgainstFlatNs != 0 || math.Abs(lines[0].Errors-400/math.Sqrt(40*100+25)) > 1e-9 {
		t.Errorf("first %+v", lines[0])
	}
	byName := map[string]Line{}
	for _, l := range lines {
		byName[l.Function] = l
	}
	if l := byName["copy"]; l.FlatDifferenceNs() != 0 || l.Errors != 0 {
		t.Errorf("%+v", l)
	}
	if l := byName["read"]; l.FlatNs != 0 || l.WholeNs != 2000 || l.AgainstWholeNs != 1600 {
		t.Errorf("%+v", l)
	}
	if l := byName["loop"]; l.AgainstFlatNs != 20 || l.AgainstWholeNs != 20 { // once, though it is on the stack twice
		t.Errorf("%+v", l)
	}
	d, err := Difference(version, against)
	if err != nil {
		t.Fatal(err)
	}
	sum := map[string]int64{}
	for _, s := range d.Sample {
		for name := range frames(s) {
			sum[name] += ns(s)
			break
		}
	}
	if sum["slow"] != 400_000_000 || sum["copy"] != 0 || sum["parse"] != 0 || sum["loop"] != -20_000_000 {
		t.Errorf("difference %v", sum)
	}
	if against.Profile.Sample[0].Value[0] < 0 {
		t.Error("the compared profile was changed")
	}
	if _, err := Difference(version, Side{against.Profile, 0, 1}); err == nil {
		t.Error("nothing was compared")
	}
}
