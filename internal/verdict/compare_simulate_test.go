package verdict

import (
	"testing"

	"protocolbench/internal/schedule"
)

// Two runs of one client, many times, on the machine of METHOD.md and on one that is several times as noisy. No version may be slower, at most 5 % of
// families may find something that rose at the corrected 5 %, whatever its size, and the intervals have to keep their 95 %. In 2000 families of the usual
// machine it is 4.7 % and 94.9 %; the bounds here leave three standard errors of what is drawn. With the error of one run alone it would be 24 % and 85 %.
func TestEqualRunsAreSilent(t *testing.T) {
	simulates(t)
	for name, c := range map[string]struct{ noise, state float64 }{"usual": {0.01, 0.005}, "noisy": {0.04, 0.012}} {
		t.Run(name, func(t *testing.T) {
			const pairs, each = 60, 4
			families, wrong, cells, outside, slower, unsure := 0, 0, 0, 0, 0, 0
			for i := range pairs {
				compared := func(seedValue uint64) world {
					w := quickWorld(seedValue)
					w.families, w.noise, w.state = each, c.noise, c.state
					return w
				}
				got := compareGood(compared(uint64(5000+2*i)).recorded(), compared(uint64(5001+2*i)).recorded())
				for _, f := range got.Families {
					families++
					rose := false
					for _, cell := range f.Cells {
						cells++
						rose = rose || cell.P < alpha
						if cell.Low > 0 || cell.High < 0 {
							outside++
						}
						switch cell.Verdict {
						case Slower:
							slower++
						case Unresolved, Unresolvable:
							unsure++
						}
					}
					if rose {
						wrong++
					}
				}
			}
			t.Logf("of %d families %d found something; of %d intervals %d leave 0 out; %d versions slower, %d without a word", families, wrong, cells, outside, slower, unsure)
			if wrong > families*9/100 {
				t.Errorf("%d of %d families of equal runs found something, want 5 %%", wrong, families)
			}
			if outside > cells*7/100 {
				t.Errorf("%d of %d intervals leave 0 out, want 5 %%", outside, cells)
			}
			if slower > 0 {
				t.Errorf("%d versions of equal runs are slower", slower)
			}
			if unsure > cells*5/100 {
				t.Errorf("%d of %d versions have no word, want at most 5 %%", unsure, cells)
			}
		})
	}
}

// A tenth more on one version, with the margin of the standard profile: found there and nowhere else.
func TestOneTenthMoreIsFoundThereAlone(t *testing.T) {
	simulates(t)
	const pairs = 20
	found := 0
	for i := range pairs {
		standard := func(seedValue uint64) world {
			w := quickWorld(seedValue)
			w.profile, w.margin = schedule.Standard, 0.05
			return w
		}
		a, b := standard(uint64(7000+2*i)), standard(uint64(7001+2*i))
		moved := 4 + i%15 // every version in turn, the reference among them
		b.cost = slow(moved, 1.10)
		for _, cell := range compareGood(a.recorded(), b.recorded()).Families[0].Cells {
			switch {
			case cell.Verdict == Slower && cell.Version != moved:
				t.Errorf("seed %d: v%d moved, and v%d is slower by %s", a.seed, moved, cell.Version, cell.Why)
			case cell.Verdict == Slower:
				found++
			}
		}
	}
	if found < pairs*95/100 {
		t.Errorf("found in %d of %d pairs of runs", found, pairs)
	}
}
