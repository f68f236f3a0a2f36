package pin

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// Kafka 4.x as KAFKA.md found it: it advertises Produce v0-v13 and closes the connection on v0-v2.
func modernProduce(asked [2]int) Question {
	accepted := map[int]error{}
	for v := 0; v <= 13; v++ {
		accepted[v] = nil
		if v < 3 {
			accepted[v] = errors.New("connection closed")
		}
	}
	return Question{Tier: 1, API: Produce, Implemented: [2]int{0, 14}, Advertised: [2]int{0, 13}, Accepted: accepted, Negotiated: 13, Asked: asked}
}

func TestPlanGivesEveryGapItsReason(t *testing.T) {
	plan := Build(modernProduce(None))
	if want := []int{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}; !slices.Equal(plan.Pinned, want) {
		t.Errorf("pinned %v, want %v", plan.Pinned, want)
	}
	reasons := map[int]string{0: "connection closed", 2: "refused", 14: "advertises Produce v0-v13 only"}
	for _, a := range plan.Answers {
		if a.Pinned == (a.Why != "") {
			t.Errorf("v%d: pinned %v with reason %q", a.Version, a.Pinned, a.Why)
		}
		if want := reasons[a.Version]; !strings.Contains(a.Why, want) {
			t.Errorf("v%d: reason %q, want it to contain %q", a.Version, a.Why, want)
		}
	}
}

func TestPlanWithoutBrokerPinsFromTheFloor(t *testing.T) {
	plan := Build(Question{API: Fetch, Implemented: [2]int{0, 18}, Advertised: None, Negotiated: -1, Asked: None})
	if len(plan.Pinned) != 15 || plan.Pinned[0] != 4 || plan.Pinned[14] != 18 {
		t.Errorf("pinned %v, want v4-v18", plan.Pinned)
	}
	for _, a := range plan.Answers {
		if a.Accepted || a.Advertised {
			t.Errorf("v%d is said to be advertised or accepted without a broker", a.Version)
		}
	}
}

func TestUntriedVersionIsNotPinned(t *testing.T) {
	q := modernProduce(None)
	delete(q.Accepted, 7)
	if slices.Contains(Build(q).Pinned, 7) {
		t.Error("v7 was advertised only, never accepted, and is pinned")
	}
}

func TestRefusedNamesWhatTheUserAskedForAndCannotHave(t *testing.T) {
	asked := [2]int{2, 99}
	faults := Refused(Build(modernProduce(asked)), asked)
	if len(faults) != 1+1+85 { // v2 refused, v14 not advertised, v15-v99 not implemented
		t.Errorf("%d faults: %v", len(faults), faults)
	}
	if got := Refused(Build(modernProduce([2]int{5, 6})), [2]int{5, 6}); got != nil {
		t.Errorf("v5-v6 can be pinned, yet: %v", got)
	}
}
