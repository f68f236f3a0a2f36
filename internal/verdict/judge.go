package verdict

import (
	"protocolbench/guards"
	"protocolbench/internal/record"
)

// Schema is verdict.json's number.
const Schema = 1

// Options are what a judge may choose afterwards.
type Options struct {
	// Margin overrides every family's declared margin; 0 leaves them.
	Margin float64
}

// Judge turns a record and the guards' findings about it into words. It is pure: the same record gives the same verdict anywhere.
func Judge(run *record.Run, findings []guards.Finding, options Options) Verdict {
	h := run.Header
	v := Verdict{Schema: Schema, Seed: h.Seed, Profile: h.Profile, Replay: h.Replay,
		Client:  Client{Name: h.Client.Client, Version: h.Client.Version, Build: h.Client.Build},
		Brokers: []Broker{}, Families: []Family{}, Sanity: []Sanity{}, Guards: append([]guards.Finding{}, findings...),
		Negotiated: negotiatedOf(run), Warnings: []Warning{}}
	for _, b := range run.Brokers {
		v.Brokers = append(v.Brokers, Broker{Tier: b.Tier, Provider: b.Provider, Release: b.Release, ClusterID: b.ClusterID, Jolokia: b.JolokiaURL != ""})
	}
	for _, w := range run.Warnings {
		v.Warnings = append(v.Warnings, Warning{Text: w, Remedy: "keep the record as it is; run again if the missing rows matter"})
	}
	measured := 0
	for _, f := range run.Families {
		if f.Tier < 2 {
			measured++
		}
	}
	for _, f := range run.Families {
		if f.Tier >= 2 {
			v.Sanity = append(v.Sanity, sanityOf(run, f))
			continue
		}
		margin := f.Margin
		if options.Margin > 0 {
			margin = options.Margin
		}
		v.Families = append(v.Families, judgeFamily(f, margin, measured))
	}
	v.Verdict, v.ExitCode, v.Reason = outcome(run, &v)
	return v
}
