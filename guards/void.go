package guards

import (
	"fmt"

	"protocolbench/internal/record"
)

// A block in which another broker answered than the tier's is void: it was measured on something else, in part or as a whole, and its counters began anew in between. Its
// numbers are not used, and the other guards are not asked about it. Blocks before and after are judged by their own evidence: those that have the tier's broker at both ends
// are as good as ever. (After a restart that is none, since the start time is another one for good; voiding them all, and the run with them, by a mixture of both brokers'
// figures was the alternative.)

// void is one block that is not used.
type void struct {
	where record.Where
	why   string
}

// whyVoid says why a block is void, or "".
func whyVoid(run *record.Run, tier int, b record.BlockRun) string {
	broker, known := brokerOf(run, tier)
	if !known {
		return ""
	}
	for _, e := range []*record.Evidence{b.Open, b.Close} {
		if e == nil || e.Broker == nil {
			continue
		}
		got := traitsOf(e.Broker.Release, e.Broker.Commit, e.Broker.ClusterID, e.Broker.StartTimeMs)
		if change := wanted(broker, *e.Broker).contradiction(got); change != "" {
			return change
		}
	}
	if brokerBracketed(b) {
		if from, to := b.Open.Broker.Leader, b.Close.Broker.Leader; from != nil && to != nil && *from != *to {
			return fmt.Sprintf("the lead of topic %s moved from broker %d to broker %d", b.Topic, *from, *to)
		}
	}
	return ""
}

// voidsOf lists a tier's void blocks, and counts all.
func voidsOf(run *record.Run, tier int) (voids []void, blocks int) {
	for _, f := range run.Families {
		if f.Tier != tier {
			continue
		}
		blocks += len(f.BlockRuns)
		for _, b := range f.BlockRuns {
			if why := whyVoid(run, tier, b); why != "" {
				voids = append(voids, void{b.Where, why})
			}
		}
	}
	return voids, blocks
}

// Valid is a family without its void blocks, and how many those are.
func Valid(run *record.Run, f record.FamilyRun) (valid record.FamilyRun, voids int) {
	valid = f
	valid.BlockRuns = nil
	for _, b := range f.BlockRuns {
		if whyVoid(run, f.Tier, b) == "" {
			valid.BlockRuns = append(valid.BlockRuns, b)
		}
	}
	voids = len(f.BlockRuns) - len(valid.BlockRuns)
	if voids == 0 {
		return f, 0
	}
	return valid, voids
}
