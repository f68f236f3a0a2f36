package tiers

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"protocolbench/internal/driver"
	"protocolbench/internal/messages"
	"protocolbench/internal/schedule"
	"protocolbench/internal/shape"
	"protocolbench/pin"
)

// The messages of the other APIs are nearly seven hundred families. With the design of the core families they would take a day, so theirs is a cheap one: one draw of four forks, and short
// batches. It finds what is worth a look with --only and decides nothing.
const (
	apiMargin      = 0.10
	apiBatchTarget = 2 * time.Millisecond
	// apiMostRequests bounds a batch of the smallest messages, of some ten nanoseconds each.
	apiMostRequests = 20000
	// apiRounds is the least number of rounds of a fork: half a square of a message with two versions would be three.
	apiRounds = 5
	// apiWarmLimit: a worker that codes one small message is warm after some hundred batches, or its noise is larger than what windows may differ by.
	apiWarmLimit = 300 * time.Millisecond
)

// apiFamilies are all messages but the records of Produce and Fetch, at all their sizes.
var apiFamilies = sync.OnceValue(func() []family {
	var families []family
	for _, m := range messages.All() {
		for _, s := range m.Shapes() {
			families = append(families, family{tier: 0, api: pin.API{Name: m.Name(), Key: m.Key, Message: true}, shape: s, mode: driver.ModeBare, margin: apiMargin,
				profile: schedule.Release, batchTarget: apiBatchTarget, maxRequests: apiMostRequests, message: &m})
		}
	}
	return families
})

func messageOf(api pin.API) (messages.Message, bool) {
	list := messages.All()
	i := slices.IndexFunc(list, func(m messages.Message) bool { return api.Message && m.Name() == api.Name })
	if i < 0 {
		return messages.Message{}, false
	}
	return list[i], true
}

// repeatsOf gives a family's draws and forks. Of two builds even the cheap design has as many layouts as tell one from the other.
func (s *session) repeatsOf(f family) (draws, forks int) {
	draws, forks = s.repeats(f.tier)
	switch {
	case f.message == nil:
		return draws, forks
	case s.Baseline != nil:
		return min(draws, (schedule.LeastLayouts+forks-1)/forks), forks
	}
	return 1, forks
}

// apiSquares is how much of a square of so many cells a fork of a message takes.
func apiSquares(cells int) float64 {
	return max(0.5, float64(apiRounds)/float64(max(1, cells)))
}

// apiCosts are a block's, measured on a 2-core machine: nothing is connected and little is allocated, so opening costs little, and warming up as good as always its limit.
func apiCosts(cells int) schedule.Costs {
	c := schedule.CostsOf(0)
	c.PerCell, c.WarmRounds, c.WarmFraction = 3*time.Millisecond, 0, 0
	c.PerBlock = 50*time.Millisecond + apiWarmLimit/2
	return c
}

// apisOf are the APIs whose versions a tier plans: the two under test, and those of its messages.
func (s *session) apisOf(tier int) []pin.API {
	list := slices.Clone(apis)
	for _, f := range s.able() {
		if f.tier == tier && f.message != nil && !slices.Contains(list, f.api) {
			list = append(list, f.api)
		}
	}
	return list
}

// makeMessages writes the message of a block at each of its versions.
func (b *block) makeMessages() error {
	if b.f.message == nil {
		return nil
	}
	b.bodies = map[int][]byte{}
	for _, c := range b.f.row.Cells {
		body, err := b.f.message.Bytes(c.Version, b.f.shape, b.row.ContentSeed)
		if err != nil {
			return fmt.Errorf("there is nothing that %s could be measured on: %w", b.f.name(), err)
		}
		b.bodies[c.Version] = body
	}
	return nil
}

func (b *block) expectMessages() map[int]shape.Expectation {
	expected := map[int]shape.Expectation{}
	for version, body := range b.bodies {
		expected[version] = b.f.message.Expect(body, version, b.f.shape)
	}
	return expected
}
