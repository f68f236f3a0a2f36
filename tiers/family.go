package tiers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"protocolbench/internal/driver"
	"protocolbench/internal/messages"
	"protocolbench/internal/schedule"
	"protocolbench/internal/shape"
	"protocolbench/pin"
)

// family is client x API x shape x mode, with what was declared of it before any run.
type family struct {
	tier     int
	api      pin.API
	shape    shape.Shape
	mode     string
	margin   float64 // of standard and release; the quick profile has one margin for all
	deciding bool
	// wholeSquares also in the quick profile, which takes half of one elsewhere: where half of one hardly resolves the margin.
	wholeSquares bool
	// onlyShown in the quick profile: its budget can't resolve the family, so it is printed and decides nothing there.
	onlyShown bool
	// core families have all versions in every profile, and wholeSquares; of tier 0's others standard and release take the versions at which the
	// schema changed, changesOnly.
	core, changesOnly bool
	// brief families take half a square a block in standard, where a batch takes longer than it should and the floor is far below the margin all the same.
	brief bool
	// least is the oldest version that may carry the shape, whyLeast says why; 0: all may.
	least    int
	whyLeast string
	// long batches are of one or two requests that take longer than a batch should.
	long bool
	// profile is the smallest profile that has this family: quick is part of standard, standard of release.
	profile string
	// batchTarget is the CPU time that a batch of the reference should take.
	batchTarget time.Duration
	// maxRequests bounds a batch: what a worker allocates for, and what a fetch topic holds. It is not far above what a batch
	// needs: the collector, which runs before each one, walks all of it.
	maxRequests int
	// fetchWhole is how many records one response of a live fetch is expected to carry, for the estimate of topic sizes only.
	fetchWhole int
	// message is what is coded where a message alone is, without records; nil elsewhere.
	message *messages.Message
}

// quickMargin is the quick profile's margin everywhere: it has a third of the forks and a sixth of the rounds.
const quickMargin = 0.10

func (f family) name() string {
	if f.message != nil {
		return fmt.Sprintf("tier%d/apis/%s/%s.%s/%s/%s", f.tier, f.message.Group, strings.ToLower(f.message.API), f.message.Direction, f.shape.Name, f.mode)
	}
	mode := f.mode
	if f.tier == 2 {
		mode = "alone"
	}
	api := map[string]string{"Produce": "produce", "Fetch": "fetch"}[f.api.Name]
	return fmt.Sprintf("tier%d/%s/%s/%s", f.tier, api, f.shape.Name, mode)
}

func (f family) in(profile string) bool {
	order := []string{schedule.Quick, schedule.Standard, schedule.Release}
	return slices.Index(order, f.profile) <= slices.Index(order, profile)
}

// The sizes of METHOD.md: a record of 105 bytes, so that responses of 10-record batches carry 30, 580 and 9,430 records at
// 4 KiB, 64 KiB and 1 MiB.
const (
	keyBytes   = 16
	valueBytes = 80
)

func flat(name string, records, batches, partitions, topics int) shape.Shape {
	return shape.Shape{Name: name, RecordsPerBatch: records, BatchesPerPartition: batches, Partitions: partitions, Topics: topics,
		KeyBytes: keyBytes, ValueBytes: valueBytes, RequiredAcks: -1}
}

// everything lists all families of all tiers and profiles, in the order in which they are run and shown.
func everything() []family {
	return slices.Concat(codecs(), apiFamilies(), pinned(), sanity())
}

// pinned is tier 1, with METHOD.md's margins: what each shape can resolve on two cores.
func pinned() []family {
	fetch := func(profile, name string, size, whole, maxRequests int, margin float64) family {
		s := flat(name, 10, 1, 1, 1)
		s.FetchBytes = size
		return family{tier: 1, api: pin.Fetch, shape: s, mode: driver.ModeBare, margin: margin, deciding: true, profile: profile,
			batchTarget: schedule.BatchTarget, maxRequests: maxRequests, fetchWhole: whole}
	}
	produce := func(profile string, records, acks, maxRequests int) family {
		name, margin, target := fmt.Sprintf("records=%d,acks=all", records), 0.05, schedule.BatchTarget
		if acks == 0 {
			// Nobody waits for an answer: batches are short, since a long one runs into the broker's back pressure.
			name, margin, target = fmt.Sprintf("records=%d,acks=0", records), 0.15, 4*time.Millisecond
		}
		s := flat(name, records, 1, 1, 1)
		s.RequiredAcks = acks
		return family{tier: 1, api: pin.Produce, shape: s, mode: driver.ModeBare, margin: margin, deciding: acks != 0, profile: profile,
			batchTarget: target, maxRequests: maxRequests}
	}
	// At 1 MiB the quick profile's floor was 12-20 % in ten of ten runs: a family that can't be resolved by design would make every quick run
	// inconclusive. A wider margin for it alone was the other way: then a verdict would hide that it is a weak one.
	large := fetch(schedule.Quick, "size=1MiB", 1<<20, 9430, 4, 0.07)
	large.onlyShown = true
	// At 64 KiB its floor lay between 6 and 18 % with half a square per fork.
	middle := fetch(schedule.Quick, "size=64KiB", 64<<10, 580, 60, 0.05)
	middle.wholeSquares = true
	families := []family{
		fetch(schedule.Standard, "size=4KiB", 4<<10, 30, 256, 0.10),
		middle,
		large,
		produce(schedule.Standard, 1, -1, 400),
		produce(schedule.Quick, 100, -1, 160),
		produce(schedule.Quick, 1000, -1, 48),
		produce(schedule.Standard, 1, 0, 600),
		produce(schedule.Standard, 100, 0, 250),
		produce(schedule.Standard, 1000, 0, 60),
	}
	return slices.Concat(families, shapesOfProduce(), shapesOfFetch())
}

// sanity is tier 2: the shapes of tier 1, the client left alone. Gates only.
func sanity() []family {
	var families []family
	for _, f := range pinned() {
		if f.shape.RequiredAcks == 0 || f.shape.Partitions > 1 || f.shape.Compression != "" {
			continue // a client left alone chooses its own batches and codec, and one partition says whether it works
		}
		f.tier, f.mode, f.margin, f.deciding = 2, driver.ModeShipped, 0, false
		families = append(families, f)
	}
	return families
}

// wants tells whether a family is in the profile and, with --only, fits a pattern. A pattern that names an axis, or that fits no family of the profile,
// reaches beyond it: who names a family wants it, and of an axis all sizes are needed to see it grow.
func (c Config) wants(f family, reaching []bool) bool {
	if len(c.Only) == 0 {
		return f.in(c.Profile)
	}
	for i, pattern := range c.Only {
		if (f.in(c.Profile) || reaching[i]) && matches(pattern, f.name()) {
			return true
		}
	}
	return false
}

// reaching says of each pattern whether it reaches beyond the profile.
func (c Config) reaching() []bool {
	list := make([]bool, len(c.Only))
	for i, pattern := range c.Only {
		list[i] = isAxis(pattern) || !slices.ContainsFunc(everything(), func(f family) bool { return c.has(f.tier) && f.in(c.Profile) && matches(pattern, f.name()) })
	}
	return list
}

// isAxis tells whether a pattern is that of an axis: tier0/fetch/topics, or tier0/fetch/topics=*/bare. One with a size, tier0/fetch/topics=100, is that of a family.
func isAxis(pattern string) bool {
	parts := strings.Split(pattern, "/")
	if len(parts) < 3 || parts[0] != "tier0" || parts[2] == "" {
		return false
	}
	axis, size, sized := strings.Cut(parts[2], "=")
	return !strings.ContainsAny(axis, "*?[") && (!sized || size == "*")
}
