package verdict

import (
	"strings"
	"testing"

	"protocolbench/internal/record"
	"protocolbench/internal/synthetic"
	"protocolbench/seed"
)

// bimodal makes a share of one version's batches cost factor times as much.
func bimodal(run *record.Run, version int, share, factor float64) {
	r := seed.Stream(run.Header.Seed, "bimodal")
	f := &run.Families[0]
	for b := range f.BlockRuns {
		for i := range f.BlockRuns[b].Batches {
			x := &f.BlockRuns[b].Batches[i]
			if c := f.Cells[x.Cell]; c.Version == version && c.Role == record.RoleVersion && r.Float64() < share {
				x.CPUNs = int64(float64(x.CPUNs) * factor)
				x.WallNs = x.CPUNs
			}
		}
	}
}

// Half of v9's batches cost twice as much, so that the bisquare leaves it no pair. That must not cost all versions the fork, and certainly not without a word.
func TestForksOfAVersionWithTwoCostsStay(t *testing.T) {
	simulates(t)
	for _, profile := range []string{"quick", "standard"} {
		for _, share := range []float64{0.4, 0.5, 0.6} {
			words, lost, silent := map[string]int{}, 0, 0
			const n = 10
			for s := uint64(1); s <= n; s++ {
				w := synthetic.Clean(s)
				w.Profile, w.Looks = profile, map[string]int{"quick": 1, "standard": 2}[profile]
				run := w.Run()
				bimodal(run, 9, share, 2)
				f := Judge(run, nil, Options{}).Families[0]
				words[cellOf(f, 9).Verdict]++
				gone := len(run.Families[0].BlockRuns) - f.Forks
				lost += gone
				said := false
				for _, x := range f.Warnings {
					said = said || strings.Contains(x.Text, "fork") && !strings.Contains(x.Text, "only ")
				}
				if gone > 0 && !said {
					silent++
				}
			}
			t.Logf("%s, %.0f %% of v9's batches cost 2x (mean +%.0f %%): v9 %v; %d forks left out in %d runs", profile, 100*share, 100*share, words, lost, n)
			if silent > 0 {
				t.Errorf("%s, share %.1f: in %d of %d runs forks vanished from every version's figures without a word", profile, share, silent, n)
			}
		}
	}
}

// A version that is slower by 10 % in the mean, half of its batches by much more, has no one level: which of the two a fork finds is chance, and where draws find another, it is
// unresolvable. Mostly it is slower; it is never let through.
func TestAVersionWithTwoCostsNeverPasses(t *testing.T) {
	simulates(t)
	for _, c := range []struct{ share, factor float64 }{{.3, 1.35}, {.5, 1.2}, {.6, 1.17}} {
		words := map[string]int{}
		for s := uint64(1); s <= 12; s++ {
			w := looksWorld(s)
			run := w.Run()
			bimodal(run, 9, c.share, c.factor)
			words[cellOf(Judge(run, nil, Options{}).Families[0], 9).Verdict]++
		}
		t.Logf("%.0f %% of batches cost %.2fx (mean +%.1f %%, margin 5 %%): %v", 100*c.share, c.factor, 100*c.share*(c.factor-1), words)
		if words[Slower]+words[Unresolvable] < 12 || words[Slower] < 6 {
			t.Errorf("share %.1f factor %.2f: slower in %d of 12 runs", c.share, c.factor, words[Slower])
		}
	}
}
