package record

import (
	"fmt"
	"maps"
	"slices"

	"protocolbench/internal/measure"
)

// checkCounters refuses counters of an unknown state: guards decide by the state, and would take a new word for something else.
func (e *BrokerEvidence) checkCounters() error {
	if e == nil {
		return nil
	}
	named := map[string]measure.Counter{
		"requests": e.Requests, "produceConversions": e.ProduceConversions, "fetchConversions": e.FetchConversions,
		"topicProduceConversions": e.TopicProduceConversions, "topicFetchConversions": e.TopicFetchConversions,
	}
	for version, counter := range e.RequestsByVersion {
		named[fmt.Sprintf("requestsByVersion.%d", version)] = counter
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		counter := named[name]
		switch counter.State {
		case measure.Number, measure.Absent, measure.Unreadable:
		default:
			return fmt.Errorf("field broker.%s.state: %q is none of %q, %q and %q",
				name, counter.State, measure.Number, measure.Absent, measure.Unreadable)
		}
	}
	return nil
}
