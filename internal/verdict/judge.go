package verdict

import (
	"fmt"
	"slices"

	"protocolbench/guards"
	"protocolbench/internal/driver"
	"protocolbench/internal/record"
)

// Schema is verdict.json's number.
const Schema = 1

// Options are what a judge may choose afterwards.
type Options struct {
	// Margin narrows every family's declared margin; 0 leaves them. A wider one is not used: once the figures are known, it could only
	// excuse them.
	Margin float64
}

// Judge turns a record and the guards' findings about it into words. It is pure: the same record gives the same verdict anywhere.
func Judge(run *record.Run, findings []guards.Finding, options Options) Verdict {
	h := run.Header
	v := Verdict{Schema: Schema, Seed: h.Seed, Profile: h.Profile, Replay: h.Replay, Plants: h.Plants,
		Client:  clientOf(h.Client, h.ClientBuild),
		Brokers: []Broker{}, Families: []Family{}, Sanity: []Sanity{}, Guards: append([]guards.Finding{}, findings...),
		Negotiated: negotiatedOf(run), Warnings: []Warning{}, NotCovered: h.NotCovered}
	if h.Baseline != nil {
		baseline := clientOf(*h.Baseline, h.BaselineBuild)
		v.Baseline = &baseline
	}
	if run.Trailer != nil {
		for _, changed := range run.Trailer.Changed {
			v.warnOnce(Warning{Text: "the checkout is not what was measured: " + changed, Remedy: "what was measured is its state when the run began; run again for what it is now"})
		}
	}
	for _, b := range run.Brokers {
		v.Brokers = append(v.Brokers, Broker{Tier: b.Tier, Provider: b.Provider, Release: b.Release, ClusterID: b.ClusterID, Jolokia: b.JolokiaURL != ""})
		if h.AnyBroker {
			v.Brokers[len(v.Brokers)-1].Overridden = guards.WrongKind(b)
		}
		v.Warnings = append(v.Warnings, untold(b)...)
	}
	for _, w := range run.Warnings {
		v.Warnings = append(v.Warnings, Warning{Text: w, Remedy: "keep the record as it is; run again if the missing rows matter"})
	}
	measured := 0
	for _, f := range run.Families {
		if f.Tier < 2 && f.Message == "" { // alarms are rare by chance over those that decide, however many messages are measured beside them
			measured++
		}
	}
	var judged []*judgement
	for _, f := range run.Families {
		f, voids := guards.Valid(run, f)
		if f.Tier >= 2 {
			v.Sanity = append(v.Sanity, sanityOf(run, f))
			continue
		}
		margin := f.Margin
		switch {
		case options.Margin > f.Margin:
			v.warnOnce(Warning{Text: fmt.Sprintf("the margin of %s that was asked for is wider than a declared one, which is kept", percent(options.Margin)),
				Remedy: "a margin can be widened only before the run: protocolbench run --margin"})
		case options.Margin > 0:
			margin = options.Margin
		}
		if f.BuildMargin > 0 && margin < LeastBuildMargin {
			v.warnOnce(Warning{Text: fmt.Sprintf("builds are compared with a margin of %s: the margin of %s that was asked for holds for their curves", percent(LeastBuildMargin), percent(margin)),
				Remedy: "where the linker puts the code makes differences of some per cent by itself; there is nothing to do"})
		}
		j := judgeFamily(f, margin, runFacts{h.Seed, measured, h.Budget.Looks})
		judged = append(judged, j)
		family := j.out
		if family.Limits != nil {
			family.Limits.NotCovered = notCovered(run, f)
		}
		if voids > 0 {
			family.Warnings = append(family.Warnings, Warning{Text: fmt.Sprintf("%d of %d blocks of %s are void, since another broker answered in them: their numbers are not used", voids, voids+len(f.BlockRuns), f.Name),
				Remedy: "see the broker identity guard; keep the broker running, and run again"})
		}
		family.Embedded = slices.ContainsFunc(run.Brokers, func(b record.Broker) bool { return b.Tier == f.Tier && b.Provider == providerEmbedded })
		v.Families = append(v.Families, family)
	}
	addGrowth(v.Families, judged)
	v.warnOfShown()
	v.warnOfSharedGrowth()
	v.LeftOut = leftOutOf(run)
	v.Accounting = account(run, &v, judged)
	v.Verdict, v.ExitCode, v.Reason = outcome(run, &v)
	return v
}

func clientOf(hello driver.Hello, build *record.Build) Client {
	c := Client{Name: hello.Client, Version: hello.Version, Build: hello.Build}
	if build != nil {
		c.Spec, c.Revision, c.ContentHash = build.Spec, build.Revision, build.ContentHash
	}
	return c
}

func (v *Verdict) warnOnce(w Warning) {
	if !slices.Contains(v.Warnings, w) {
		v.Warnings = append(v.Warnings, w)
	}
}

// untold warns of what an attached broker did not say of itself; a broker of the run's own has no quotas, and settings that are known.
func untold(b record.Broker) []Warning {
	var list []Warning
	for _, what := range b.Untold {
		if b.Provider == providerAttached {
			list = append(list, Warning{Text: fmt.Sprintf("tier %d: %s: only what this program's own rehearsal met would have been seen", b.Tier, what),
				Remedy: "make sure that no client quota is set, and that topics keep the settings they are made with, or let this program's user describe both"})
		}
	}
	return list
}
