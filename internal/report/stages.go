package report

import (
	"fmt"

	"protocolbench/internal/record"
	"protocolbench/internal/stats"
	"protocolbench/internal/verdict"
)

// stagesOf says how an encoded request's cost is made up: the client's encoder can't be called by itself, so what is compared has more in it. Of the reference, the medians over
// blocks of passes that aren't compared.
func stagesOf(f verdict.Family, run record.FamilyRun) []remark {
	var buffered, encoded []float64
	for _, b := range run.BlockRuns {
		for _, s := range b.Steadies {
			if version, ok := versionOfCell(run.Family, s.Cell); ok && version == f.Reference && s.StagedNs > 0 {
				buffered = append(buffered, float64(s.BufferNs)/float64(s.StagedNs))
				encoded = append(encoded, float64(s.EncodeNs)/float64(s.StagedNs))
			}
		}
	}
	buffer, ok1 := stats.MedianOf(buffered)
	encode, ok2 := stats.MedianOf(encoded)
	if !ok1 || !ok2 || f.Embedded {
		return nil
	}
	return []remark{{Text: fmt.Sprintf("of v%d's cost about %.0f %% is handing records over and buffering them, %.0f %% encoding the request, %.0f %% the answer and all else",
		f.Reference, 100*buffer, 100*encode, 100*max(0, 1-buffer-encode))}}
}
