package verdict

import (
	"slices"

	"protocolbench/internal/record"
)

// sanityOf sums up a tier 2 family: the client left alone on the oldest broker.
func sanityOf(run *record.Run, family record.FamilyRun) Sanity {
	s := Sanity{Name: family.Name, API: family.API, Version: negotiatedBy(run, family)}
	var cpuNs int64
	for _, block := range family.BlockRuns {
		for _, b := range block.Batches {
			s.Records += int64(b.Records)
			cpuNs += b.CPUNs
		}
		if block.Open != nil && s.LiveHeapFirstBytes == 0 {
			s.LiveHeapFirstBytes = block.Open.Worker.HeapLiveBytes
		}
		if block.Close != nil {
			s.LiveHeapLastBytes = block.Close.Worker.HeapLiveBytes
		}
	}
	s.SanityCPUNsPerRecord = ratio(float64(cpuNs), float64(s.Records), 0)
	return s
}

// negotiatedBy prefers what the client's own answers in this family say to what the plan expected. -1: nobody knows.
func negotiatedBy(run *record.Run, family record.FamilyRun) int {
	for _, block := range family.BlockRuns {
		for _, c := range block.CellRows {
			if c.AnswerVersion >= 0 {
				return c.AnswerVersion
			}
		}
	}
	for _, p := range run.Plans {
		if p.Tier == family.Tier && p.API == family.API {
			return p.Negotiated
		}
	}
	return -1
}

// negotiatedOf lists what the client left alone uses, per tier and API: by the plans, and by the cells that were left alone. Two
// lines for one API are two answers that disagree.
func negotiatedOf(run *record.Run) []Negotiated {
	list := []Negotiated{}
	add := func(n Negotiated) {
		if n.Version >= 0 && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	for _, p := range run.Plans {
		add(Negotiated{Tier: p.Tier, API: p.API, Version: p.Negotiated})
	}
	for _, f := range run.Families {
		if f.Tier == 2 {
			add(Negotiated{Tier: f.Tier, API: f.API, Version: negotiatedBy(run, f)})
		}
	}
	return list
}
