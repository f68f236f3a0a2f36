package worker

import (
	"bytes"
	"context"
	"slices"

	"protocolbench/internal/driver"
)

// RuleProfile: a worker with the ability "profile" gives a CPU profile of as much as it was asked for.
const RuleProfile = "profile"

// conformProfileNs is little: what is in the profile nobody can say beforehand.
const conformProfileNs = 20_000_000

// checkProfile asks once: every cell goes the same way.
func (c *conformance) checkProfile(ctx context.Context, t cellTest) {
	if c.profiled || !slices.Contains(c.p.Hello().Abilities, driver.AbilityProfile) {
		return
	}
	c.profiled = true
	got, err := c.p.Profile(ctx, driver.Profile{Cell: t.open.Cell, Requests: conformMax, ForNs: conformProfileNs})
	if c.broke(RuleProfile, wrap(t, err)) {
		return
	}
	if got.CPUNs < conformProfileNs/2 || got.Requests < 1 || got.Requests%conformMax != 0 {
		c.fail(RuleProfile, "%s: %d ns of CPU and %d requests, asked for %d ns in batches of %d", t.name(), got.CPUNs, got.Requests, conformProfileNs, conformMax)
	}
	if !bytes.HasPrefix(got.Pprof, []byte{0x1f, 0x8b}) {
		c.fail(RuleProfile, "%s: the profile of %d bytes is not gzipped", t.name(), len(got.Pprof))
	}
}
