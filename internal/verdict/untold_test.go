package verdict

import (
	"slices"
	"strings"
	"testing"
)

// What a broker of somebody else's keeps to itself is no fault, and not to be silent about; of a broker of the run's own it is known.
func TestUntoldSettingsAreAWarning(t *testing.T) {
	for provider, want := range map[string]bool{providerAttached: true, "jvm": false} {
		run := world{}.run()
		if len(run.Brokers) == 0 {
			t.Fatal("the record has no broker")
		}
		run.Brokers[0].Provider, run.Brokers[0].Untold = provider, []string{"the client quotas can't be listed"}
		v := Judge(run, nil, Options{})
		if got := slices.ContainsFunc(v.Warnings, func(w Warning) bool {
			return strings.Contains(w.Text, "quotas can't be listed") && w.Remedy != ""
		}); got != want {
			t.Errorf("%s: warned %v, want %v: %+v", provider, got, want, v.Warnings)
		}
	}
}
