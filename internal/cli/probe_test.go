package cli

import (
	"fmt"
	"strings"
	"testing"

	"protocolbench/internal/record"
)

func TestPrintPlans(t *testing.T) {
	plan := record.Plan{Tier: 1, API: "Produce", Implemented: [2]int{0, 13}, Advertised: [2]int{0, 13}, Negotiated: 13}
	for v := range 14 {
		answer := record.PlanAnswer{Version: v, Advertised: true, Accepted: v >= 3, Pinned: v >= 3 && v != 7}
		switch {
		case v < 3:
			answer.Why = fmt.Sprintf("the broker closed the connection on Produce v%d", v)
		case v == 7:
			answer.Why = "not asked for"
		}
		if answer.Pinned {
			plan.Pinned = append(plan.Pinned, v)
		}
		plan.Answers = append(plan.Answers, answer)
	}
	var out strings.Builder
	row := record.Broker{Tier: 1, Provider: "jvm", Release: "4.4.0", ClusterID: "abc"}
	if err := printPlans(&out, []record.Plan{plan}, []record.Broker{row}); err != nil {
		t.Fatal(err)
	}
	want := `tier 1: Kafka 4.4.0 (jvm), cluster abc
API      client has  broker says  broker takes  pinned          left alone
Produce  v0-v13      v0-v13       v3-v13        v3-v6, v8-v13   v13
not pinned: Produce v0-v2: the broker closed the connection on Produce
not pinned: Produce v7: not asked for
`
	if strings.Join(strings.Fields(out.String()), " ") != strings.Join(strings.Fields(want), " ") {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
