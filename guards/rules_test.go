package guards

import (
	"encoding/json"
	"strings"
	"testing"

	"protocolbench/internal/record"
)

// Rules about evidence that is not there. Several guards miss the same evidence, so each row is about one guard's own words.
func TestRulesOfMissingEvidence(t *testing.T) {
	withoutBroker := func(family string) func(*testing.T, *record.Run) {
		return func(t *testing.T, run *record.Run) { block(t, run, family, 0).Close.Broker = nil }
	}
	for _, c := range []struct {
		name    string
		change  func(*testing.T, *record.Run)
		guard   string
		family  string
		version int
		words   string
	}{
		{"no block was finished", func(t *testing.T, run *record.Run) {
			for fork := range goodBlocks {
				block(t, run, liveFetch, fork).Close = nil
			}
		}, OtherAPIs, liveFetch, AllVersions, whyOpen},
		{"a worker that counts no frames", func(t *testing.T, run *record.Run) {
			for fork := range goodBlocks {
				b := block(t, run, liveFetch, fork)
				for _, e := range []*record.Evidence{b.Open, b.Close} {
					for i := range e.Worker.Cells {
						e.Worker.Cells[i].Frames = nil
					}
				}
			}
		}, OtherAPIs, liveFetch, AllVersions, "counts no frames"},
		{"the baseline's worker failed", func(_ *testing.T, run *record.Run) {
			run.Faults = append(run.Faults, record.Fault{Where: record.Where{Family: liveFetch}, Tier: 1, What: record.FaultWorker, Text: "it ended", Build: record.BuildBaseline})
		}, Completeness, liveFetch, AllVersions, "nothing to compare with"},
		{"no counters of the broker", withoutBroker(liveProduce), Conversions, liveProduce, AllVersions, "could not be read"},
		{"no offsets of the broker", withoutBroker(liveProduce), Log, liveProduce, AllVersions, "were not read"},
		{"nothing was read back", withoutBroker(liveProduce), Data, liveProduce, AllVersions, "no closing evidence"},
		{"a batch of unknown length was read back", func(t *testing.T, run *record.Run) {
			run.Header.Client.Abilities = []string{"frames"} // with the ability it is a failure already that nothing was hashed
			block(t, run, liveProduce, 0).CellRows[1].HashRecords = 0
		}, Data, liveProduce, 12, "doesn't say how many records"},
		{"no batch of a version was decoded", func(t *testing.T, run *record.Run) {
			b := block(t, run, codecFetch, 0)
			for i := range b.Batches {
				if b.Batches[i].Cell == 1 {
					b.Batches[i].Cell = 2
				}
			}
		}, Pin, codecFetch, 17, "no batch was taken"},
	} {
		run := goodRun()
		c.change(t, run)
		found := false
		for _, f := range Check(run) {
			evidence, err := json.Marshal(f.Evidence)
			if err != nil {
				t.Fatal(err)
			}
			if f.Guard == c.guard && f.Family == c.family && f.Version == c.version && f.Outcome == Blind {
				found = found || strings.Contains(f.Why+string(evidence), c.words)
			}
		}
		if !found {
			t.Errorf("%s: %s of %s v%d is not blind for %q", c.name, c.guard, c.family, c.version, c.words)
		}
	}
}
