package verdict

import "protocolbench/internal/stats"

// wholeModerated is the way that was rejected: the contrast of v9 against the baseline, moderated together with those of all versions.
func wholeModerated(s samples, mine, base layout) stats.Contrast {
	var all []stats.Contrast
	at := 0
	for i, c := range mine.versions {
		if c.Version == 9 {
			at = i
		}
		contrast, _ := s.contrast(1, fixed([]int{c.Cell}, []int{base.versions[i].Cell}))
		all = append(all, contrast)
	}
	stats.Moderate(all)
	return all[at]
}
