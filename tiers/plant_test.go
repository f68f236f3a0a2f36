package tiers

import (
	"strings"
	"testing"

	"protocolbench/internal/driver"
	"protocolbench/internal/schedule"
	"protocolbench/pin"
)

// What would plant nothing is refused: the report's first line would say PLANTED all the same.
func TestPlantsThatPlantNothing(t *testing.T) {
	base := Config{Profile: schedule.Quick, Tiers: []int{0}, Only: []string{"tier0/fetch/records=100"}}
	for plant, why := range map[Plant]string{
		{"tier0/fetch", 9, 0.2}:            "",
		{"tier0/fetch/records=100", 9, .2}: "",
		{"tier1/fetch", 9, 0.2}:            "leave none",
		{"tier0/produce", 9, 0.2}:          "leave none",
		{"tier0/fetch/records=1/", 9, 0.2}: "leave none",
		{"tier9", 9, 0.2}:                  "unknown family",
		{"tier0/fetch", 3, 0.2}:            "pinned in none",
	} {
		c := base
		c.Plants = []Plant{plant}
		err := c.Validate()
		if why == "" && err != nil || why != "" && (err == nil || !strings.Contains(err.Error(), why)) {
			t.Errorf("%s: %v, want %q", plant, err, why)
		}
	}
	c := Config{Profile: schedule.Quick, Tiers: []int{2}, Plants: []Plant{{"tier2/", 9, 0.2}}}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "tier 2 compares no versions") {
		t.Error(err)
	}
	c = base
	c.Plants, c.Versions = []Plant{{"tier0/fetch", 9, 0.2}}, map[string][2]int{"fetch": {10, 12}}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "pinned in none") {
		t.Error(err)
	}
}

// Which versions a client has only the client can say.
func TestPlantInAVersionThatTheClientLacks(t *testing.T) {
	s := &session{Config: Config{Profile: schedule.Quick, Tiers: []int{0}}}
	s.sides = []*side{{hello: driver.Hello{Implemented: []driver.Range{{API: "Fetch", Key: pin.Fetch.Key, Max: 18}, {API: "Produce", Key: pin.Produce.Key, Max: 13}}}}}
	for version, ok := range map[int]bool{18: true, 19: false, 99: false} {
		s.Plants = []Plant{{"tier0/fetch", version, 0.2}}
		if err := s.askedVersionsExist(); (err == nil) != ok {
			t.Errorf("v%d: %v", version, err)
		}
	}
}
