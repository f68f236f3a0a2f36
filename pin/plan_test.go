package pin

import (
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"

	"protocolbench/internal/record"
)

// Kafka 4.x as it was found: it advertises Produce v0-v13 and closes the connection on v0-v2.
func modernProduce(asked [2]int) Scope {
	took := map[int]Took{}
	for v := 0; v <= 13; v++ {
		took[v] = Took{What: record.TookAnswered}
		if v < 3 {
			took[v] = Took{record.TookClosed, "tried twice"}
		}
	}
	return Scope{Tier: 1, API: Produce, Implemented: [2]int{0, 14}, Advertised: [2]int{0, 13}, Took: took, Asked: asked}
}

// held are preflights in which each version left and arrived as it was asked for.
func held(versions []int, build string) []record.Try {
	var tries []record.Try
	for _, v := range versions {
		tries = append(tries, record.Try{Version: v, Build: build, Outcome: record.TryOpened, AnswerVersion: v, Sent: map[int]int64{v: 1}, Arrived: map[int]int64{v: 1}})
	}
	return tries
}

func TestPlanGivesEveryGapItsReason(t *testing.T) {
	s := modernProduce(None)
	plan := Build(s, 13, held(s.Compared(), ""))
	if want := []int{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}; !slices.Equal(plan.Pinned, want) {
		t.Errorf("pinned %v, want %v", plan.Pinned, want)
	}
	words := map[int]string{0: "closed the connection", 2: "tried twice", 14: "advertises Produce v0-v13 only"}
	reasons := map[int]string{0: record.LeftRefused, 2: record.LeftRefused, 14: record.LeftNotAdvertised}
	for _, a := range plan.Answers {
		if a.Pinned == (a.Why != "") {
			t.Errorf("v%d: pinned %v with reason %q", a.Version, a.Pinned, a.Why)
		}
		if want := words[a.Version]; !strings.Contains(a.Why, want) || reasons[a.Version] != "" && a.Reason != reasons[a.Version] {
			t.Errorf("v%d: %s: %q, want it to contain %q", a.Version, a.Reason, a.Why, want)
		}
	}
}

func TestPlanWithoutBrokerPinsFromTheFloor(t *testing.T) {
	plan := Build(Scope{API: Fetch, Implemented: [2]int{0, 18}, Advertised: None, Asked: None}, -1, nil)
	if len(plan.Pinned) != 15 || plan.Pinned[0] != 4 || plan.Pinned[14] != 18 {
		t.Errorf("pinned %v, want v4-v18", plan.Pinned)
	}
	for _, a := range plan.Answers {
		if a.Accepted || a.Advertised {
			t.Errorf("v%d is said to be advertised or accepted without a broker", a.Version)
		}
	}
}

// A version that the client fails at is neither pinned nor left out: no reason covers it.
func TestWhatAClientFailsAtIsNotLeftOut(t *testing.T) {
	s := modernProduce(None)
	tries := held(s.Compared(), "")
	tries[4].Sent, tries[4].Outcome, tries[4].Error = map[int]int64{13: 1}, record.TryRefused, "the client says that it spoke v13"
	tries = slices.Delete(tries, 0, 1) // v3 was not tried at all
	plan := Build(s, 13, tries)
	for _, v := range []int{3, 7} {
		a := plan.Answers[v]
		if a.Pinned || a.Reason != "" || a.Why == "" || !a.Accepted {
			t.Errorf("%+v", a)
		}
	}
	if want := "asked for Produce v7, v13 was sent"; !strings.Contains(plan.Answers[7].Why, want) {
		t.Errorf("%q", plan.Answers[7].Why)
	}
}

func TestBothBuildsHaveToHold(t *testing.T) {
	s := modernProduce(None)
	s.Baseline = &[2]int{0, 12}
	tries := slices.Concat(held(s.Compared(), ""), held(s.Compared(), record.BuildBaseline))
	if plan := Build(s, 13, tries); plan.Pinned[len(plan.Pinned)-1] != 12 || plan.Answers[13].Reason != record.LeftOneBuild {
		t.Errorf("pinned %v, v13 %+v", plan.Pinned, plan.Answers[13])
	}
	tries[len(tries)-1].AnswerVersion = 11 // the baseline's v12
	if plan := Build(s, 13, tries); slices.Contains(plan.Pinned, 12) || plan.Answers[12].Reason != "" {
		t.Errorf("%+v", plan.Answers[12])
	}
}

func TestRefusedNamesWhatTheUserAskedForAndCannotHave(t *testing.T) {
	asked := [2]int{2, 99}
	s := modernProduce(asked)
	faults := Refused(Build(s, 13, held(s.Compared(), "")), asked)
	if len(faults) != 1+1+85 { // v2 refused, v14 not advertised, v15-v99 not implemented
		t.Errorf("%d faults: %v", len(faults), faults)
	}
	s = modernProduce([2]int{5, 6})
	if got := Refused(Build(s, 13, held(s.Compared(), "")), [2]int{5, 6}); got != nil {
		t.Errorf("v5-v6 can be pinned, yet: %v", got)
	}
	if got := Refused(Build(s, 13, nil), [2]int{5, 6}); got != nil {
		t.Errorf("that the client failed at v5 and v6 is the answer to what was asked, yet: %v", got)
	}
}

// The type: what leaves a version out can't have anything in it that a client did. Whatever comes of its preflights, the very same versions are left out, each for one of the
// known reasons that the evidence bears out, and what is pinned, failed and left out together is everything that is implemented.
func TestNoClientLeavesAVersionOut(t *testing.T) {
	for field := range reflect.TypeFor[Scope]().Fields() {
		if name := fmt.Sprint(field.Type); strings.Contains(name, "Try") || strings.Contains(name, "error") {
			t.Errorf("Scope.%s is a %s: what a client did must not enter it", field.Name, name)
		}
	}
	random := rand.New(rand.NewSource(16))
	reasons := []string{record.LeftNotAdvertised, record.LeftRefused, record.LeftOlderFormat, record.LeftOneBuild, record.LeftNotWritten, record.LeftNotAsked}
	for range 3000 {
		s := randomScope(random)
		compared := s.Compared()
		good := Build(s, 9, slices.Concat(held(compared, ""), held(compared, record.BuildBaseline)))
		bad := Build(s, 9, randomTries(random, s, compared))
		if !slices.Equal(good.Pinned, append([]int{}, compared...)) && len(compared) > 0 {
			t.Fatalf("%+v: pinned %v of %v", s, good.Pinned, compared)
		}
		for i, a := range bad.Answers {
			both := s.Advertised == None || within(a.Version, s.Advertised)
			switch {
			case a.Reason != good.Answers[i].Reason:
				t.Fatalf("v%d is left out for %q with one client and for %q with another", a.Version, good.Answers[i].Reason, a.Reason)
			case a.Reason == "" && !slices.Contains(compared, a.Version), a.Reason != "" && slices.Contains(compared, a.Version):
				t.Fatalf("v%d: reason %q, compared %v", a.Version, a.Reason, compared)
			case a.Reason != "" && (a.Pinned || !slices.Contains(reasons, a.Reason)):
				t.Fatalf("%+v", a)
			case both && a.Reason == record.LeftNotAdvertised, a.Reason == record.LeftRefused && s.Took[a.Version].What != record.TookClosed && s.Took[a.Version].What != record.TookError:
				t.Fatalf("%+v is left out against the evidence: %+v", a, s.Took[a.Version])
			}
		}
		if n := s.Implemented[1] - max(s.Implemented[0], 0) + 1; n > 0 && len(bad.Answers) != n {
			t.Fatalf("%d answers for %d implemented versions", len(bad.Answers), n)
		}
	}
}

func randomScope(random *rand.Rand) Scope {
	between := func(most int) [2]int {
		low := random.Intn(most)
		return [2]int{low, low + random.Intn(most-low)}
	}
	s := Scope{Tier: 1, API: Fetch, Implemented: between(19), Advertised: between(19), Took: map[int]Took{}, Asked: None}
	if random.Intn(3) == 0 {
		s.Asked = between(19)
	}
	if random.Intn(3) == 0 {
		has := between(19)
		s.Baseline = &has
	}
	whats := []string{record.TookAnswered, record.TookAnswered, record.TookClosed, record.TookError, record.TookSilent, record.TookUnasked}
	for _, v := range s.Ask() {
		s.Took[v] = Took{What: whats[random.Intn(len(whats))]}
	}
	return s
}

// randomTries are those of clients that do anything at all, or were never asked.
func randomTries(random *rand.Rand, s Scope, compared []int) []record.Try {
	var tries []record.Try
	outcomes := []string{record.TryOpened, record.TryRefused, record.TryDied, record.TryHung, record.TryJunk}
	for _, v := range compared {
		t := record.Try{Version: v, Outcome: outcomes[random.Intn(len(outcomes))], AnswerVersion: random.Intn(20) - 1, Sent: map[int]int64{random.Intn(19): 1}}
		if random.Intn(4) > 0 {
			tries = append(tries, t)
		}
	}
	return tries
}
